// Cells that are hidden in a step:  out[i, c] = 1 if row i is hidden, or its cell of column c is; 0
// if not. A thread draws one counter, which has eight cells; the columns of cell k are
// first_columns[k] .. first_columns[k + 1].

__device__ __noinline__ bool is_hidden(Context run, u32 stream, u64 row, u32 threshold) {
    return threshold > 0 && !is_kept(run, stream, row, threshold);
}

extern "C" __global__ void hidden_cells(const Context *context, u32 cell_stream, u32 row_stream,
                                        u32 cell_threshold, u32 row_threshold,
                                        const u32 *first_columns, u32 cells, u32 columns,
                                        float *out, u64 count) {
    Context run = *context;
    u64 last_row = ~0ull;
    bool row_is_hidden = false;
    GRID_STRIDE(counter, (count + KEEP_GROUP - 1) / KEEP_GROUP * 16) {
        Words words = philox(run, cell_stream, (u32)counter);
        u64 group = counter / 16;
        u32 lane = counter % 16;
#pragma unroll
        for (u32 draw = 0; draw < KEEP_DRAWS; draw++) {
            u64 at = group * KEEP_GROUP + keep_element(lane, draw);
            if (at < count) {
                Cell cell = cell_of(at, cells);
                if (cell.row != last_row) {
                    last_row = cell.row;
                    row_is_hidden = is_hidden(run, row_stream, cell.row, row_threshold);
                }
                bool hidden = row_is_hidden || keep_draw(words, draw) < cell_threshold;
                u32 end = first_columns[cell.column + 1];
                for (u32 column = first_columns[cell.column]; column < end; column++) {
                    out[cell.row * columns + column] = hidden ? 1.0f : 0.0f;
                }
            }
        }
    }
}
