// How far normal distributions with means m and variances e^v are from the standard one:
//   partial[block] = sum of 1 + v - m^2 - e^v
//   by_mean = m * share        by_log_variance = (e^v - 1) / 2 * share
// Any of them may be unwanted.

// In double precision, as 1 + v and e^v nearly cancel where v is small.
__device__ __forceinline__ double divergence(float mean, float log_variance, float variance) {
    return 1.0 + log_variance - variance - (double)mean * mean;
}

extern "C" __global__ void gaussian_kl(const float4 *means, const float4 *log_variances, u64 count,
                                       float share, double *partial, float4 *by_mean,
                                       float4 *by_log_variance) {
    double sum = 0.0;
    GRID_STRIDE(quad, (count + 3) / 4) {
        float4 mean = means[quad], log_variance = log_variances[quad];
        float4 variance = make_float4(finite_exp(log_variance.x), finite_exp(log_variance.y),
                                      finite_exp(log_variance.z), finite_exp(log_variance.w));
        // Behind the last number there may be anything.
        u64 rest = count - 4 * quad;
        sum += divergence(mean.x, log_variance.x, variance.x);
        if (rest > 1) sum += divergence(mean.y, log_variance.y, variance.y);
        if (rest > 2) sum += divergence(mean.z, log_variance.z, variance.z);
        if (rest > 3) sum += divergence(mean.w, log_variance.w, variance.w);
        if (by_mean) {
            by_mean[quad] = make_float4(mean.x * share, mean.y * share, mean.z * share,
                                        mean.w * share);
        }
        if (by_log_variance) {
            float half = 0.5f * share;
            by_log_variance[quad] =
                make_float4((variance.x - 1.0f) * half, (variance.y - 1.0f) * half,
                            (variance.z - 1.0f) * half, (variance.w - 1.0f) * half);
        }
    }
    if (partial) {
        sum = block_sum(sum);
        if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    }
}
