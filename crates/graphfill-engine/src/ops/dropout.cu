// Dropout:  out = x * kept / (1 - rate). A thread draws one counter, which has eight elements.

extern "C" __global__ void dropout(const Context *context, u32 stream, u32 threshold, float scale,
                                   const float *x, float *out, u64 count) {
    Context run = *context;
    GRID_STRIDE(counter, (count + KEEP_GROUP - 1) / KEEP_GROUP * 16) {
        Words words = philox(run, stream, (u32)counter);
        u64 group = counter / 16;
        u32 lane = counter % 16;
#pragma unroll
        for (u32 draw = 0; draw < KEEP_DRAWS; draw++) {
            u64 at = group * KEEP_GROUP + keep_element(lane, draw);
            if (at < count) out[at] = keep_draw(words, draw) >= threshold ? x[at] * scale : 0.0f;
        }
    }
}
