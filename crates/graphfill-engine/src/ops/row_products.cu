// Products of rows with rows:  out[i] = sum over k of a[i, k] * b[i, k]. Neighbouring lanes take a
// row together.

extern "C" __global__ void row_products(const float *a, const float *b, float *out, u64 rows,
                                        u32 columns, u32 lanes) {
    u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    bool there = row < rows;
    float product = row_dot(a + row * columns, b + row * columns, there ? columns : 0, lanes);
    if (there && threadIdx.x % lanes == 0) out[row] = product;
}
