// Functions of single numbers, and gradients times their slopes, told by the value:
//   value: out = f(x)        gradient: out = gradient * f'(x), given f(x)
// Four numbers at a time: buffers are padded to whole lines. The functions are in `finish.cuh`.

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
