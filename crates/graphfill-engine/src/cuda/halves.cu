// Rows in 16 bits:  half = x / scale, with a power of two for each row. A warp a row; rows are multiples
// of eight long, and so is the stride a multiple of four.

// Two numbers in 16 bits each, the first one in the lower half.
__device__ __forceinline__ u32 packed_halves(float first, float second) {
    u32 packed;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
#else
    asm("{.reg .b16 low, high; cvt.rn.f16.f32 low, %1; cvt.rn.f16.f32 high, %2; mov.b32 %0, {low, high};}"
        : "=r"(packed)
        : "f"(first), "f"(second));
#endif
    return packed;
}

extern "C" __global__ void halve_rows(const float *x, u64 rows, u32 columns, u32 stride, uint2 *half,
                                      float *scales) {
    u64 row = (u64)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows) return;
    u32 lane = threadIdx.x % WARP;
    const float4 *own = reinterpret_cast<const float4 *>(x + row * stride);
    float most = 0.0f;
    for (u32 at = lane; at < columns / 4; at += WARP) {
        float4 four = own[at];
        most = fmaxf(most, fmaxf(fmaxf(fabsf(four.x), fabsf(four.y)), fmaxf(fabsf(four.z), fabsf(four.w))));
    }
    most = warp_most(most);
    // The power of two that makes the largest less than 2^15; nothing to scale where all is zero.
    int exponent = most > 0.0f ? ilogbf(most) - 14 : 0;
    exponent = max(-126, min(exponent, 113));
    float scale = ldexpf(1.0f, exponent), inverse = ldexpf(1.0f, -exponent);
    if (lane == 0) scales[row] = scale;
    uint2 *out = half + row * (columns / 4);
    for (u32 at = lane; at < columns / 4; at += WARP) {
        float4 four = own[at];
        out[at] = make_uint2(packed_halves(four.x * inverse, four.y * inverse),
                             packed_halves(four.z * inverse, four.w * inverse));
    }
}
