// What nodes send:  out = factors * values, and 0 where a value is NaN
// Four numbers at a time: buffers are padded to whole lines.

__device__ __forceinline__ float sent(float value, float factor) {
    return is_nan(value) ? 0.0f : value * factor;
}

extern "C" __global__ void send(const float4 *values, const float4 *factors, float4 *out, u64 quads) {
    GRID_STRIDE(at, quads) {
        float4 own = values[at];
        float4 factor = factors ? factors[at] : float4{1.0f, 1.0f, 1.0f, 1.0f};
        out[at] = float4{sent(own.x, factor.x), sent(own.y, factor.y), sent(own.z, factor.z),
                         sent(own.w, factor.w)};
    }
}
