// A row added to every row:  out[i, :] = x[i, :] + bias. Four numbers at a time, which may be of two
// rows or more: buffers are padded to whole lines.

extern "C" __global__ void add_bias(const float4 *x, const float *bias, float4 *out, u32 columns,
                                    u64 quads) {
    GRID_STRIDE(at, quads) {
        out[at] = plus(x[at], four_of_row(bias, cell_of(4 * at, columns).column, columns));
    }
}
