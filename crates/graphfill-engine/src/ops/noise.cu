// Normal noise:  out ~ N(0, 1). A thread draws one counter, which has four elements.

extern "C" __global__ void normal_noise(const Context *context, u32 stream, float *out, u64 count) {
    Context run = *context;
    GRID_STRIDE(counter, (count + 63) / 64 * 16) {
        float drawn[4];
        normals(run, stream, (u32)counter, drawn);
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u64 at = counter / 16 * 64 + 16 * k + counter % 16;
            if (at < count) out[at] = drawn[k];
        }
    }
}
