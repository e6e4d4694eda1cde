// Sparse times dense:  out[row, :] = sum over entries of value * dense[column, :], and what is done to
// it afterwards.

// Rows that are short; the others come from their pieces.
template <typename V>
__device__ __forceinline__ void product_rows(Sparse sparse, const V *dense, V *out, u32 rows, u64 width,
                                             u32 lanes, Finish finish) {
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (row >= rows || at >= width) return;
    u32 begin = sparse.offsets[row], end = sparse.offsets[row + 1];
    if (end - begin > LONG_ROW) return;
    V sum = sum_of_entries(sparse.columns, sparse.values, begin, end, dense, width, at);
    out[row * width + at] = finish(sum, row * width + at, at);
}

extern "C" __global__ void sparse_product(const u32 *offsets, const u32 *columns, const float *values,
                                          const float *dense, float *out, u32 rows, u64 width,
                                          u32 lanes, FINISH_PARAMETERS) {
    product_rows(Sparse{offsets, columns, values}, dense, out, rows, width, lanes, FINISH);
}

extern "C" __global__ void sparse_product_of_vectors(const u32 *offsets, const u32 *columns,
                                                     const float *values, const float4 *dense,
                                                     float4 *out, u32 rows, u64 width, u32 lanes,
                                                     FINISH_PARAMETERS) {
    product_rows(Sparse{offsets, columns, values}, dense, out, rows, width, lanes, FINISH);
}

// The same with the dense rows halved: `width` counts eights of their columns.
extern "C" __global__ void sparse_product_of_halves(const u32 *offsets, const u32 *columns,
                                                    const float *values, const uint4 *halves,
                                                    const float *scales, float4 *out, u32 rows,
                                                    u64 width, u32 lanes, FINISH_PARAMETERS) {
    Finish finish = FINISH;
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (row >= rows || at >= width) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    if (end - begin > LONG_ROW) return;
    Eight sum = sum_of_halves(columns, values, begin, end, halves, scales, width, at);
    u64 place = 2 * (row * width + at);
    out[place] = finish(sum.low, place, 2 * at);
    out[place + 1] = finish(sum.high, place + 1, 2 * at + 1);
}

extern "C" __global__ void sum_long_rows(const u32 *columns, const float *values, const Piece *pieces,
                                         u32 count, const float *dense, u64 width, float *partial,
                                         u32 lanes) {
    sum_pieces(columns, values, pieces, count, dense, width, partial, lanes);
}

extern "C" __global__ void sum_long_rows_of_vectors(const u32 *columns, const float *values,
                                                    const Piece *pieces, u32 count,
                                                    const float4 *dense, u64 width, float4 *partial,
                                                    u32 lanes) {
    sum_pieces(columns, values, pieces, count, dense, width, partial, lanes);
}

// out[row, :] of a long row: the sum over its pieces. One block for each piece; those of all but the
// first of a row have nothing to do.
extern "C" __global__ void add_pieces(const Piece *pieces, const float *partial, float *out,
                                      u64 columns, FINISH_PARAMETERS) {
    Finish finish = FINISH;
    Piece own = pieces[blockIdx.x];
    for (u64 column = threadIdx.x; own.pieces > 0 && column < columns; column += blockDim.x) {
        float sum = 0.0f;
        for (u32 piece = 0; piece < own.pieces; piece++) {
            sum += partial[(blockIdx.x + piece) * columns + column];
        }
        u64 at = own.row * columns + column;
        out[at] = finish(sum, at, column);
    }
}
