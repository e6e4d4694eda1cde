// Sums over all numbers of a matrix, in double precision: every thread block sums its share, then
// one adds up their sums in order. And one number everywhere.

// partial[block] = sum of x over the block's share. Buffers are padded to whole lines.
extern "C" __global__ void sum_shares(const float4 *x, u64 count, double *partial) {
    double sum = 0.0;
    GRID_STRIDE(quad, (count + 3) / 4) {
        float4 own = x[quad];
        u64 rest = count - 4 * quad;
        sum += own.x;
        if (rest > 1) sum += own.y;
        if (rest > 2) sum += own.z;
        if (rest > 3) sum += own.w;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// out = factor * sum of partial, by one block.
extern "C" __global__ void add_shares(const double *partial, u64 count, double factor, float *out) {
    double sum = 0.0;
#pragma unroll 4
    for (u64 at = threadIdx.x; at < count; at += blockDim.x) sum += partial[at];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = (float)(factor * sum);
}

// out = x everywhere.
extern "C" __global__ void spread(const float *x, float4 *out, u64 quads) {
    float own = *x;
    GRID_STRIDE(quad, quads) out[quad] = make_float4(own, own, own, own);
}
