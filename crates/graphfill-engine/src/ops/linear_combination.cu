// Sums with weights:  out = sum over k of weight_k * x_k,  always in the order of the inputs.
// Any of them may be what the output is written over. Four numbers at a time: buffers are padded to
// whole lines.

// MAX_INPUTS is defined by `linear_combination.rs`.

#define PARAMETERS                                                                        \
    const float4 *x0, const float4 *x1, const float4 *x2, const float4 *x3,               \
        const float4 *x4, const float4 *x5, const float4 *x6, const float4 *x7,           \
        const float4 *x8, const float4 *x9, const float4 *x10, const float4 *x11,         \
        float weight0, float weight1, float weight2, float weight3, float weight4,        \
        float weight5, float weight6, float weight7, float weight8, float weight9,        \
        float weight10, float weight11, u32 terms, float4 *out, u64 quads

#define ARRAYS                                                                            \
    const float4 *const x[MAX_INPUTS] = {x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11}; \
    const float weight[MAX_INPUTS] = {weight0, weight1, weight2, weight3,                \
                                       weight4, weight5, weight6, weight7,                \
                                       weight8, weight9, weight10, weight11};

// All inputs are read before the first is added.
template <u32 MOST>
__device__ __forceinline__ void combine(const float4 *const (&x)[MAX_INPUTS],
                                        const float (&weight)[MAX_INPUTS], u32 terms, float4 *out,
                                        u64 quads) {
    GRID_STRIDE(at, quads) {
        float4 own[MOST];
#pragma unroll
        for (u32 term = 0; term < MOST; term++) {
            if (term < terms) own[term] = x[term][at];
        }
        float4 sum{};
#pragma unroll
        for (u32 term = 0; term < MOST; term++) {
            if (term < terms) sum = plus_scaled(sum, weight[term], own[term]);
        }
        out[at] = sum;
    }
}

extern "C" __global__ void combine_two(PARAMETERS) {
    ARRAYS
    combine<2>(x, weight, terms, out, quads);
}

extern "C" __global__ void combine_four(PARAMETERS) {
    ARRAYS
    combine<4>(x, weight, terms, out, quads);
}

extern "C" __global__ void combine_twelve(PARAMETERS) {
    ARRAYS
    combine<12>(x, weight, terms, out, quads);
}
