// Product of single numbers:  out = a * b, which may be written over either of them. Four numbers at
// a time: buffers are padded to whole lines.

extern "C" __global__ void multiply(const float4 *a, const float4 *b, float4 *out, u64 quads) {
    GRID_STRIDE(at, quads) {
        float4 own = a[at], other = b[at];
        out[at] = float4{own.x * other.x, own.y * other.y, own.z * other.z, own.w * other.w};
    }
}
