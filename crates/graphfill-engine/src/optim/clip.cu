// Clipping by the global norm: the squares of a gradient summed, and the scale
//   min(1, limit / sqrt(sum))
// A single block writes the sum itself; several write one partial sum each, which a second launch
// of one block adds up in order.

// SUM_THREADS is defined by `clip.rs`.

extern "C" __global__ void __launch_bounds__(SUM_THREADS)
    squared_norm(const float *x, u64 count, double *partial, float *out) {
    const float4 *fours = (const float4 *)x;
    double sum = 0.0;
    GRID_STRIDE(at, count / 4) {
        float4 own = fours[at];
        sum += (double)own.x * own.x + (double)own.y * own.y;
        sum += (double)own.z * own.z + (double)own.w * own.w;
    }
    GRID_STRIDE(rest, count % 4) {
        float own = x[count / 4 * 4 + rest];
        sum += (double)own * own;
    }
    sum = block_sum(sum);
    if (threadIdx.x > 0) return;
    if (gridDim.x == 1) {
        *out = (float)sum;
    } else {
        partial[blockIdx.x] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(SUM_THREADS)
    add_partial_norms(const double *partial, u32 count, float *out) {
    double sum = 0.0;
    for (u32 at = threadIdx.x; at < count; at += blockDim.x) sum += partial[at];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = (float)sum;
}

// A norm of 0 gives infinity, and so 1. A norm that is NaN gives NaN, which fminf would turn into 1.
extern "C" __global__ void clip_scale(const float *squared_norm, float limit, float *out) {
    float scale = limit / sqrtf(*squared_norm);
    if (blockIdx.x + threadIdx.x == 0) *out = scale > 1.0f ? 1.0f : scale;
}
