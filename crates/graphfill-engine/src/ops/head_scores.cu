// One score a head for each row:
//   out[i, h] = sum over k of x[i, h * width + k] * a[h, k]
// x is read as rows * heads rows of `width` columns, each of which neighbouring lanes take together.

extern "C" __global__ void head_scores(const float *x, const float *vectors, float *out, u64 count,
                                       u32 heads, u32 width, u32 lanes) {
    u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    bool there = at < count;
    u32 head = there ? cell_of(at, heads).column : 0;
    const float *vector = vectors + (u64)head * width;
    float score = row_dot(x + at * width, vector, there ? width : 0, lanes);
    if (there && threadIdx.x % lanes == 0) out[at] = score;
}

// The gradient of x:  out[i, h * width + k] = gradient[i, h] * a[h, k]
// Four numbers at a time where the width is a multiple of four; then columns are counted in fours.
template <typename T>
__device__ __forceinline__ void spread_scores(const float *gradient, const T *vectors, T *out,
                                              u32 columns, u32 width, u64 count) {
    GRID_STRIDE(at, count) {
        T vector = vectors[cell_of(at, columns).column];
        out[at] = plus_scaled(T{}, gradient[cell_of(at, width).row], vector);
    }
}

extern "C" __global__ void head_scores_by_features(const float *gradient, const float *vectors,
                                                   float *out, u32 columns, u32 width, u64 count) {
    spread_scores(gradient, vectors, out, columns, width, count);
}

extern "C" __global__ void head_scores_by_features_fours(const float *gradient,
                                                         const float4 *vectors, float4 *out,
                                                         u32 columns, u32 width, u64 count) {
    spread_scores(gradient, vectors, out, columns, width, count);
}
