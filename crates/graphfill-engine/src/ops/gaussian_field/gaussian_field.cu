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
#pragma unroll 16
    for (u32 portion = 0; portion < portions; portion++) sum += partial[(u64)portion * columns + column];
    double count = rows > 0 ? (double)rows : 1.0;
    float own = (float)(sum / count);
    centre[column] = own;
    rest[column] = sum - (double)rows * (double)own;
}

// C = Z - centre, and behind each row the ones that `finish_inverse` speaks of: EXTRA
// columns, defined by `card.rs`, and so is TILE.

extern "C" __global__ void centre_rows(const float *latent, const float *centre, float *centred, u64 rows,
                                       u32 columns) {
    u32 stride = columns + EXTRA;
    GRID_STRIDE(at, rows * stride) {
        u64 row = at / stride;
        u32 column = at % stride;
        bool inside = column < columns;
        centred[at] = inside ? latent[row * columns + column] - centre[column] : column < stride - 1;
    }
}

// The same, four columns at a time: `columns` counts fours.
extern "C" __global__ void centre_rows_of_vectors(const float4 *latent, const float4 *centre,
                                                  float4 *centred, u64 rows, u32 columns) {
    u32 stride = columns + EXTRA / 4;
    GRID_STRIDE(at, rows * stride) {
        u64 row = at / stride;
        u32 column = at % stride;
        float4 result = make_float4(1.0f, 1.0f, 1.0f, 0.0f);
        if (column < columns) {
            float4 own = latent[row * columns + column], about = centre[column];
            result = make_float4(own.x - about.x, own.y - about.y, own.z - about.z, own.w - about.w);
        }
        centred[at] = result;
    }
}

// ---- A = beta I + Z'Z in double precision, and its inverse ----

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

// 1 / x of a number that is neither 0 nor next to the ends: a guess of 20 bits, twice made better.
__device__ __forceinline__ double reciprocal(double x) {
    double guess;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(guess) : "d"(x));
    guess = fma(fma(-x, guess, 1.0), guess, guess);
    return fma(fma(-x, guess, 1.0), guess, guess);
}

// Rows of a tile in shared memory, which pairs of numbers are read from.
#define ROW (TILE + 2)

// Two rows and two columns of a product of tiles, out[2] of each row.
__device__ __forceinline__ void multiply_tiles(const double (*left)[ROW], const double (*right)[ROW], u32 row,
                                               u32 column, double2 out[2]) {
    out[0] = out[1] = make_double2(0.0, 0.0);
#pragma unroll 8
    for (u32 k = 0; k < TILE; k++) {
        double2 other = *reinterpret_cast<const double2 *>(&right[k][column]);
        double first = left[row][k], second = left[row + 1][k];
        out[0].x = fma(first, other.x, out[0].x);
        out[0].y = fma(first, other.y, out[0].y);
        out[1].x = fma(second, other.x, out[1].x);
        out[1].y = fma(second, other.y, out[1].y);
    }
}

// One sweep of a block-wise Gauss-Jordan elimination, with P the inverse of the pivot tile A_kk:
//   A_kk <- P     A_kj <- P A_kj     A_ik <- -A_ik P     A_ij <- A_ij - A_ik P A_kj
// After a sweep for every tile of the diagonal the matrix is its inverse. Every block finds P for
// itself, which takes no longer than waiting for somebody who does. No pivot of a matrix
// M + beta I with positive semidefinite M is below beta; where rounding says otherwise, it is `least`, the
// smaller of beta and 1 (the rest of a tile that the identity fills up has pivots of 1).
// The logarithms of the pivots add up to that of the determinant.
extern "C" __global__ void __launch_bounds__(256) sweep(const double *before, double *after, u32 padded,
                                                        u32 pivot, double least, double *logarithms) {
    __shared__ __align__(16) double inverse[TILE][ROW];
    __shared__ __align__(16) double upper[TILE][ROW];
    __shared__ __align__(16) double left[TILE][ROW];
    // The row and the column of the pivot, of this step and of the next.
    __shared__ double pivot_row[2][TILE], pivot_column[2][TILE], pivots[TILE];
    u32 column = threadIdx.x % TILE, first = threadIdx.x / TILE;
    u64 diagonal = (u64)pivot * TILE;
    u64 own_row = (u64)blockIdx.y * TILE, own_column = (u64)blockIdx.x * TILE;
    // A thread has the rows first, first + 8, ... of its column.
    double own[TILE / 8];
#pragma unroll
    for (u32 at = 0; at < TILE / 8; at++) {
        u32 row = first + 8 * at;
        own[at] = before[(diagonal + row) * padded + diagonal + column];
        upper[row][column] = before[(diagonal + row) * padded + own_column + column];
        left[row][column] = before[(own_row + row) * padded + diagonal + column];
        if (row == 0) pivot_row[0][column] = own[at];
        if (column == 0) pivot_column[0][row] = own[at];
    }
    __syncthreads();
#pragma unroll 2
    for (u32 k = 0; k < TILE; k++) {
        u32 now = k % 2, next = (k + 1) % 2;
        double value = pivot_row[now][k];
        value = value < least ? least : value;
        double scale = reciprocal(value), along = pivot_row[now][column] * scale;
        if (threadIdx.x == 0) pivots[k] = value;
#pragma unroll
        for (u32 at = 0; at < TILE / 8; at++) {
            u32 row = first + 8 * at;
            double across = pivot_column[now][row];
            double other = column == k ? -across * scale : fma(-across, along, own[at]);
            own[at] = row == k ? (column == k ? scale : along) : other;
            if (row == k + 1) pivot_row[next][column] = own[at];
            if (column == k + 1) pivot_column[next][row] = own[at];
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 at = 0; at < TILE / 8; at++) inverse[first + 8 * at][column] = own[at];
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x < WARP) {
        double sum = warp_sum(log(pivots[threadIdx.x]));
        if (threadIdx.x == 0) logarithms[pivot] = sum;
    }
    __syncthreads();
    // From here on a thread has two rows and two columns.
    u32 two_columns = threadIdx.x % 16 * 2, two_rows = threadIdx.x / 16 * 2;
    bool in_row = blockIdx.y == pivot, in_column = blockIdx.x == pivot;
    // P A_kj, or P itself.
    double2 product[2];
    if (in_column) {
        for (u32 at = 0; at < 2; at++) {
            product[at] = *reinterpret_cast<double2 *>(&inverse[two_rows + at][two_columns]);
        }
    } else {
        multiply_tiles(inverse, upper, two_rows, two_columns, product);
    }
    double2 result[2] = {product[0], product[1]};
    if (!in_row) {
        __syncthreads();
        for (u32 at = 0; at < 2; at++) {
            *reinterpret_cast<double2 *>(&upper[two_rows + at][two_columns]) = product[at];
        }
        __syncthreads();
        multiply_tiles(left, upper, two_rows, two_columns, result);
    }
    for (u32 at = 0; at < 2; at++) {
        u64 place = (own_row + two_rows + at) * padded + own_column + two_columns;
        double2 found = result[at];
        if (!in_row) {
            double2 old = make_double2(0.0, 0.0);
            if (!in_column) old = *reinterpret_cast<const double2 *>(&before[place]);
            found = make_double2(old.x - found.x, old.y - found.y);
        }
        *reinterpret_cast<double2 *>(&after[place]) = found;
    }
}

// The eight leading bits of a number, which products in any precision keep.
__device__ __forceinline__ float leading_bits(float x) {
    return __uint_as_float(__float_as_uint(x) & 0xffff0000u);
}

// D = scale * A^-1 in single precision, and what a row that is the centre gets, scale * centre A^-1, in
// which nothing is lost. Both are one matrix, whose rows are as long as those of C: behind column j of D
// come three numbers of eight bits whose sum is the share of column j in that row. C has ones there.
// A warp for each row; D is symmetric.
extern "C" __global__ void finish_inverse(const double *inverse, const float *centre, u32 width, u32 padded,
                                          double scale, float *single) {
    u32 row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (row >= width) return;
    float *out = single + (u64)row * (width + EXTRA);
    double sum = 0.0;
    for (u32 column = lane; column < width; column += WARP) {
        double own = scale * inverse[(u64)row * padded + column];
        out[column] = (float)own;
        sum += own * (double)centre[column];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        float first = leading_bits((float)sum);
        float second = leading_bits((float)(sum - first));
        out[width] = first;
        out[width + 1] = second;
        out[width + 2] = leading_bits((float)(sum - first - second));
        out[width + 3] = 0.0f;
    }
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

__device__ __forceinline__ float times(float factor, float x) { return factor * x; }

__device__ __forceinline__ float4 times(float factor, float4 x) {
    return make_float4(factor * x.x, factor * x.y, factor * x.z, factor * x.w);
}

// out = factor * (z - S z), and partial = the sum of <z, z - S z> over what a block has.
// `summed` has the sums of long rows already, where there are any.
template <typename V>
__device__ __forceinline__ void quadratic_rows(Sparse sparse, const V *latent, const V *summed,
                                               float factor, V *out, u32 rows, u64 width, u32 lanes,
                                               double *partial) {
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    float along = 0.0f;
    if (row < rows && at < width) {
        u32 begin = sparse.offsets[row], end = sparse.offsets[row + 1];
        V sum = end - begin > LONG_ROW
                    ? summed[row * width + at]
                    : sum_of_entries(sparse.columns, sparse.values, begin, end, latent, width, at);
        V difference_of = difference(latent[row * width + at], sum, along);
        if (out) out[row * width + at] = times(factor, difference_of);
    }
    double whole = block_sum((double)along);
    if (threadIdx.x == 0) partial[(u64)blockIdx.y * gridDim.x + blockIdx.x] = whole;
}

extern "C" __global__ void quadratic(const u32 *offsets, const u32 *columns, const float *values,
                                     const float *latent, const float *summed, float factor, float *out,
                                     u32 rows, u64 width, u32 lanes, double *partial) {
    quadratic_rows(Sparse{offsets, columns, values}, latent, summed, factor, out, rows, width, lanes,
                   partial);
}

extern "C" __global__ void quadratic_of_vectors(const u32 *offsets, const u32 *columns, const float *values,
                                                const float4 *latent, const float4 *summed,
                                                float factor, float4 *out, u32 rows, u64 width,
                                                u32 lanes, double *partial) {
    quadratic_rows(Sparse{offsets, columns, values}, latent, summed, factor, out, rows, width, lanes,
                   partial);
}

// The same with the rows of C halved, about which S z = S C + centre * (sum of the row of S): what rows
// share is not rounded. `width` counts eights of columns.
extern "C" __global__ void quadratic_of_halves(const u32 *offsets, const u32 *columns, const float *values,
                                               const uint4 *halves, const float *scales,
                                               const float *row_sums, const float4 *centre,
                                               const float4 *latent, const float4 *summed, float factor,
                                               float4 *out, u32 rows, u64 width, u32 lanes,
                                               double *partial) {
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    float along = 0.0f;
    if (row < rows && at < width) {
        u32 begin = offsets[row], end = offsets[row + 1];
        u64 place = 2 * (row * width + at);
        Eight sum;
        if (end - begin > LONG_ROW) {
            sum = Eight{summed[place], summed[place + 1]};
        } else {
            sum = sum_of_halves(columns, values, begin, end, halves, scales, width, at);
            float share = row_sums[row];
            sum = Eight{plus_scaled(sum.low, share, centre[2 * at]),
                        plus_scaled(sum.high, share, centre[2 * at + 1])};
        }
        float4 low = difference(latent[place], sum.low, along);
        float4 high = difference(latent[place + 1], sum.high, along);
        if (out) {
            out[place] = times(factor, low);
            out[place + 1] = times(factor, high);
        }
    }
    double whole = block_sum((double)along);
    if (threadIdx.x == 0) partial[(u64)blockIdx.y * gridDim.x + blockIdx.x] = whole;
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
