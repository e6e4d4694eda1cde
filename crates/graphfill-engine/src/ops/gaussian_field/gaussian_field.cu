// The energy of a Gaussian Markov random field and its derivative; see the module for the equations.
// nodes x width latents Z; everything else is width x width, one row, or a number.

// ---- The mean row, and Z about it ----

// partial[portion, column] = the sum of a portion of rows. 32 columns and 8 rows at a time a block.
extern "C" __global__ void sum_columns(const float *latent, u64 rows, u32 columns, u64 rows_a_portion,
                                       double *partial) {
    __shared__ double sums[8][33];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, column = blockIdx.x * WARP + lane;
    u64 begin = blockIdx.y * rows_a_portion, end = min(begin + rows_a_portion, rows);
    double sum = 0.0;
    if (column < columns) {
        for (u64 row = begin + warp; row < end; row += 8) sum += latent[row * columns + column];
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < columns) {
        for (u32 other = 1; other < 8; other++) sum += sums[other][lane];
        partial[(u64)blockIdx.y * columns + column] = sum;
    }
}

// centre = the mean row, as single precision has it, and rest = sum of (Z - centre), exactly.
extern "C" __global__ void mean_row(const double *partial, u32 portions, u64 rows, u32 columns,
                                    float *centre, double *rest) {
    u32 column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    double sum = 0.0;
    for (u32 portion = 0; portion < portions; portion++) sum += partial[(u64)portion * columns + column];
    double count = rows > 0 ? (double)rows : 1.0;
    float own = (float)(sum / count);
    centre[column] = own;
    rest[column] = sum - (double)rows * (double)own;
}

// C = Z - centre
extern "C" __global__ void centre_rows(const float *latent, const float *centre, float *centred, u64 count,
                                       u32 columns) {
    GRID_STRIDE(at, count) centred[at] = latent[at] - centre[at % columns];
}

extern "C" __global__ void centre_rows_of_vectors(const float4 *latent, const float4 *centre,
                                                  float4 *centred, u64 count, u32 columns) {
    GRID_STRIDE(at, count) {
        float4 own = latent[at], about = centre[at % columns];
        centred[at] = make_float4(own.x - about.x, own.y - about.y, own.z - about.z, own.w - about.w);
    }
}

// ---- A = beta I + Z'Z in double precision, and its inverse ----

#define TILE 32

// A = beta I + C'C + rest centre' + centre rest' + nodes * centre centre', padded with the identity to
// whole tiles.
extern "C" __global__ void assemble(const float *gram, const float *centre, const double *rest, u64 rows,
                                    u32 width, u32 padded, double beta, double *out) {
    GRID_STRIDE(at, (u64)padded * padded) {
        u32 row = at / padded, column = at % padded;
        double value = row == column ? 1.0 : 0.0;
        if (row < width && column < width) {
            double own = centre[row], other = centre[column];
            value = (double)gram[(u64)row * width + column] + (rest[row] + (double)rows * own) * other +
                    own * rest[column] + (row == column ? beta : 0.0);
        }
        out[at] = value;
    }
}

// One sweep of a block-wise Gauss-Jordan elimination, with P the inverse of the pivot tile A_kk:
//   A_kk <- P     A_kj <- P A_kj     A_ik <- -A_ik P     A_ij <- A_ij - A_ik P A_kj
// After a sweep for every tile of the diagonal the matrix is its inverse. Every block finds P for
// itself, which takes no longer than waiting for somebody who does. No pivot of a matrix
// M + beta I with positive semidefinite M is below beta; where rounding says otherwise, it is beta.
// The logarithms of the pivots add up to that of the determinant.
extern "C" __global__ void sweep(const double *before, double *after, u32 padded, u32 pivot, double least,
                                 double *logarithms) {
    __shared__ double inverse[2][TILE][TILE + 1];
    __shared__ double upper[TILE][TILE + 1];
    __shared__ double left[TILE][TILE + 1];
    __shared__ double pivots[TILE];
    u32 column = threadIdx.x % TILE, first = threadIdx.x / TILE;
    u64 diagonal = (u64)pivot * TILE;
    u64 own_row = (u64)blockIdx.y * TILE, own_column = (u64)blockIdx.x * TILE;
    // A thread has the rows first, first + 8, ... of its column.
    for (u32 row = first; row < TILE; row += 8) {
        inverse[0][row][column] = before[(diagonal + row) * padded + diagonal + column];
        upper[row][column] = before[(diagonal + row) * padded + own_column + column];
        left[row][column] = before[(own_row + row) * padded + diagonal + column];
    }
    __syncthreads();
    for (u32 k = 0; k < TILE; k++) {
        double(*from)[TILE + 1] = inverse[k % 2], (*to)[TILE + 1] = inverse[(k + 1) % 2];
        double value = from[k][k];
        value = value < least ? least : value;
        double scale = 1.0 / value, along = from[k][column] * scale;
        if (threadIdx.x == 0) pivots[k] = value;
        for (u32 row = first; row < TILE; row += 8) {
            double own = from[row][column], across = from[row][k], result;
            if (row == k) {
                result = column == k ? scale : along;
            } else {
                result = column == k ? -across * scale : own - across * along;
            }
            to[row][column] = result;
        }
        __syncthreads();
    }
    // TILE is even: what is left is in the first of the two.
    double(*found)[TILE + 1] = inverse[0];
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < WARP) {
        double sum = warp_sum(log(pivots[threadIdx.x]));
        if (threadIdx.x == 0) logarithms[pivot] = sum;
    }
    bool in_row = blockIdx.y == pivot, in_column = blockIdx.x == pivot;
    // P A_kj, or P itself.
    double product[TILE / 8];
    for (u32 at = 0; at < TILE / 8; at++) {
        u32 row = first + 8 * at;
        double sum = found[row][column];
        if (!in_column) {
            sum = 0.0;
            for (u32 k = 0; k < TILE; k++) sum += found[row][k] * upper[k][column];
        }
        product[at] = sum;
    }
    __syncthreads();
    for (u32 at = 0; at < TILE / 8; at++) upper[first + 8 * at][column] = product[at];
    __syncthreads();
    for (u32 at = 0; at < TILE / 8; at++) {
        u32 row = first + 8 * at;
        u64 place = (own_row + row) * padded + own_column + column;
        double result = product[at];
        if (!in_row) {
            double sum = 0.0;
            for (u32 k = 0; k < TILE; k++) sum += left[row][k] * upper[k][column];
            result = (in_column ? 0.0 : before[place]) - sum;
        }
        after[place] = result;
    }
}

// D = scale * A^-1 in single precision, and what a row that is the centre gets: scale * centre A^-1,
// in which nothing is lost. A warp for each row of D, which is symmetric.
extern "C" __global__ void finish_inverse(const double *inverse, const float *centre, u32 width, u32 padded,
                                          double scale, float *single, float *shared_row) {
    u32 row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= width) return;
    double sum = 0.0;
    for (u32 column = lane; column < width; column += WARP) {
        double own = scale * inverse[(u64)row * padded + column];
        single[(u64)row * width + column] = (float)own;
        sum += own * (double)centre[column];
    }
    sum = warp_sum(sum);
    if (lane == 0) shared_row[row] = (float)sum;
}

// ---- The trace, and KZ ----

__device__ __forceinline__ float difference(float own, float sum, float &along) {
    along += own * (own - sum);
    return own - sum;
}

__device__ __forceinline__ float4 difference(float4 own, float4 sum, float &along) {
    return make_float4(difference(own.x, sum.x, along), difference(own.y, sum.y, along),
                       difference(own.z, sum.z, along), difference(own.w, sum.w, along));
}

__device__ __forceinline__ float derivative(float factor, float difference, float row) {
    return fmaf(factor, difference, row);
}

__device__ __forceinline__ float4 derivative(float factor, float4 difference, float4 row) {
    return make_float4(fmaf(factor, difference.x, row.x), fmaf(factor, difference.y, row.y),
                       fmaf(factor, difference.z, row.z), fmaf(factor, difference.w, row.w));
}

// out = factor * (z - S z) + shared_row, and partial = the sum of <z, z - S z> over what a block has.
// `summed` has the sums of long rows already, where there are any.
template <typename V>
__device__ __forceinline__ void quadratic_rows(Sparse sparse, const V *latent, const V *summed,
                                               const V *shared_row, float factor, V *out, u32 rows,
                                               u64 width, u32 lanes, double *partial) {
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    float along = 0.0f;
    if (row < rows && at < width) {
        u32 begin = sparse.offsets[row], end = sparse.offsets[row + 1];
        V sum = end - begin > LONG_ROW
                    ? summed[row * width + at]
                    : sum_of_entries(sparse.columns, sparse.values, begin, end, latent, width, at);
        V difference_of = difference(latent[row * width + at], sum, along);
        if (out) out[row * width + at] = derivative(factor, difference_of, shared_row ? shared_row[at] : nothing<V>());
    }
    double whole = block_sum((double)along);
    if (threadIdx.x == 0) partial[(u64)blockIdx.y * gridDim.x + blockIdx.x] = whole;
}

extern "C" __global__ void quadratic(const u32 *offsets, const u32 *columns, const float *values,
                                     const float *latent, const float *summed, const float *shared_row,
                                     float factor, float *out, u32 rows, u64 width, u32 lanes,
                                     double *partial) {
    quadratic_rows(Sparse{offsets, columns, values}, latent, summed, shared_row, factor, out, rows, width,
                   lanes, partial);
}

extern "C" __global__ void quadratic_of_vectors(const u32 *offsets, const u32 *columns, const float *values,
                                                const float4 *latent, const float4 *summed,
                                                const float4 *shared_row, float factor, float4 *out,
                                                u32 rows, u64 width, u32 lanes, double *partial) {
    quadratic_rows(Sparse{offsets, columns, values}, latent, summed, shared_row, factor, out, rows, width,
                   lanes, partial);
}

extern "C" __global__ void sum_long_rows(const u32 *columns, const float *values, const Piece *pieces,
                                         u32 count, const float *dense, u64 width, float *partial,
                                         u32 lanes) {
    sum_pieces(columns, values, pieces, count, dense, width, partial, lanes);
}

extern "C" __global__ void sum_long_rows_of_vectors(const u32 *columns, const float *values,
                                                    const Piece *pieces, u32 count, const float4 *dense,
                                                    u64 width, float4 *partial, u32 lanes) {
    sum_pieces(columns, values, pieces, count, dense, width, partial, lanes);
}

// The sums of long rows, put where the rows are.
extern "C" __global__ void place_pieces(const Piece *pieces, const float *partial, float *summed,
                                        u64 columns) {
    Piece own = pieces[blockIdx.x];
    for (u64 column = threadIdx.x; own.pieces > 0 && column < columns; column += blockDim.x) {
        float sum = 0.0f;
        for (u32 piece = 0; piece < own.pieces; piece++) {
            sum += partial[(blockIdx.x + piece) * columns + column];
        }
        summed[own.row * columns + column] = sum;
    }
}

// ---- The energy:  quadratic * trace - weight * (sum of logarithms - width * ln beta) ----

extern "C" __global__ void energy(const double *partial, u64 count, double quadratic,
                                  const double *logarithms, u32 tiles, double weight, double shift,
                                  float *out) {
    double sum = 0.0;
    for (u64 at = threadIdx.x; at < count; at += blockDim.x) sum += partial[at];
    sum = block_sum(sum);
    double determinant = 0.0;
    for (u32 tile = threadIdx.x; tile < tiles; tile += blockDim.x) determinant += logarithms[tile];
    determinant = block_sum(determinant);
    if (threadIdx.x == 0) *out = (float)(quadratic * sum - weight * (determinant - shift));
}
