// Dropout:  out = x * kept / (1 - rate), and what is done to it afterwards. A thread draws one counter,
// which has eight elements.

extern "C" __global__ void dropout(const Context *context, u32 stream, u32 threshold, float scale,
                                   const float *x, float *out, u64 count, u32 columns,
                                   FINISH_PARAMETERS) {
    Context run = *context;
    // A slope is a factor like being kept: it may come first, with the numbers that it belongs to.
    Finish finish = FINISH, rest = finish;
    bool first_slope = finish.slope && !finish.row;
    if (first_slope) rest.slope = nullptr, rest.kind = NO_FUNCTION;
    GRID_STRIDE(counter, (count + KEEP_GROUP - 1) / KEEP_GROUP * 16) {
        u64 first = counter / 16 * KEEP_GROUP + counter % 16;
        // All of them on their way before they are needed.
        float own[KEEP_DRAWS];
#pragma unroll
        for (u32 draw = 0; draw < KEEP_DRAWS; draw++) {
            u64 at = first + keep_element(0, draw);
            own[draw] = at < count ? x[at] : 0.0f;
            if (first_slope && at < count) own[draw] *= slope_of(finish.kind, finish.leak, finish.slope[at]);
        }
        Words words = philox(run, stream, (u32)counter);
#pragma unroll
        for (u32 draw = 0; draw < KEEP_DRAWS; draw++) {
            u64 at = first + keep_element(0, draw);
            float kept = keep_draw(words, draw) >= threshold ? own[draw] * scale : 0.0f;
            if (at < count) out[at] = rest(kept, at, rest.row ? at % columns : 0);
        }
    }
}
