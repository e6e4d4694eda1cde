// Functions of single numbers, and gradients times their slopes, told by the value:
//   value: out = f(x)        gradient: out = gradient * f'(x), given f(x)
// Four numbers at a time: buffers are padded to whole lines.

enum { RELU, LEAKY_RELU, ELU, EXP, SIGMOID, TANH };

__device__ __forceinline__ float value_of(u32 kind, float leak, float x) {
    switch (kind) {
    case RELU: return fmaxf(x, 0.0f);
    case LEAKY_RELU: return x > 0.0f ? x : leak * x;
    case ELU: return x > 0.0f ? x : expm1f(x);
    case EXP: return finite_exp(x);
    case SIGMOID: return sigmoid(x);
    default: return tanhf(x);
    }
}

__device__ __forceinline__ float slope_of(u32 kind, float leak, float value) {
    switch (kind) {
    case RELU: return value > 0.0f ? 1.0f : 0.0f;
    case LEAKY_RELU: return value > 0.0f ? 1.0f : leak;
    case ELU: return value > 0.0f ? 1.0f : value + 1.0f;
    case EXP: return value;
    case SIGMOID: return value * (1.0f - value);
    default: return 1.0f - value * value;
    }
}

extern "C" __global__ void activate(u32 kind, float leak, const float4 *x, float4 *out, u64 quads) {
    GRID_STRIDE(at, quads) {
        float4 own = x[at];
        own.x = value_of(kind, leak, own.x);
        own.y = value_of(kind, leak, own.y);
        own.z = value_of(kind, leak, own.z);
        own.w = value_of(kind, leak, own.w);
        out[at] = own;
    }
}

extern "C" __global__ void activate_gradient(u32 kind, float leak, const float4 *gradient,
                                             const float4 *value, float4 *out, u64 quads) {
    GRID_STRIDE(at, quads) {
        float4 own = gradient[at], told = value[at];
        own.x *= slope_of(kind, leak, told.x);
        own.y *= slope_of(kind, leak, told.y);
        own.z *= slope_of(kind, leak, told.z);
        own.w *= slope_of(kind, leak, told.w);
        out[at] = own;
    }
}
