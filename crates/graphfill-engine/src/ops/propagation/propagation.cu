// One round of propagation over a panel, rows x columns:
//   guess = a * (A x / divisors) + pull        pull = (1 - a) * mean over rows of x
//   out   = guess where nothing is given (NaN), else b * guess + (1 - b) * given
//
// a and b are read from memory, so that a captured round serves every pair of them. A lane has four
// columns of a row; of cells that are given and stay (b = 0) no sum is taken.

// The shares of the neighbours and of what may move.
struct Shares {
    float neighbours;
    float moving;
};

__device__ __forceinline__ Shares shares_at(const float *shares) {
    return shares ? Shares{shares[0], shares[1]} : Shares{1.0f, 0.0f};
}

// Four numbers, or others where there are none.
__device__ __forceinline__ float4 four_at(const float4 *matrix, u64 at, float otherwise) {
    return matrix ? matrix[at] : float4{otherwise, otherwise, otherwise, otherwise};
}

__device__ __forceinline__ float4 given_at(const float4 *given, u64 at) {
    return four_at(given, at, __int_as_float(0x7fc00000));
}

// Whether all four are given and stay.
__device__ __forceinline__ bool stay(float4 given, Shares shares) {
    bool missing = is_nan(given.x) || is_nan(given.y) || is_nan(given.z) || is_nan(given.w);
    return shares.moving == 0.0f && !missing;
}

__device__ __forceinline__ float finished(float sum, float divisor, float pull, float given,
                                          Shares shares) {
    float guess = divisor > 0.0f ? sum / divisor : 0.0f;
    guess = shares.neighbours * guess + pull;
    if (is_nan(given)) return guess;
    if (shares.moving == 0.0f) return given;
    return shares.moving * guess + (1.0f - shares.moving) * given;
}

// What becomes of the sums of four columns, the first at `at` of the panel.
__device__ __forceinline__ float4 finished(float4 sum, const float4 *divisors, const float4 *pull,
                                           float4 given, Shares shares, u64 at, u64 column) {
    float4 divisor = four_at(divisors, at, 1.0f), own_pull = four_at(pull, column, 0.0f);
    return float4{finished(sum.x, divisor.x, own_pull.x, given.x, shares),
                  finished(sum.y, divisor.y, own_pull.y, given.y, shares),
                  finished(sum.z, divisor.z, own_pull.z, given.z, shares),
                  finished(sum.w, divisor.w, own_pull.w, given.w, shares)};
}

// Rows that are short; the others come from their pieces. Four blocks of 256 threads at a time keep
// enough rows on their way.
extern "C" __global__ void __launch_bounds__(256, 4)
    propagate_rows(const u32 *offsets, const u32 *columns, const float *values, const float4 *x,
                   const float4 *given, const float4 *divisors, const float *shares,
                   const float4 *pull, float4 *out, u32 rows, u64 width, u32 lanes) {
    u32 row = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 column = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (row >= rows || column >= width) return;
    u32 begin = offsets[row], end = offsets[row + 1];
    if (end - begin > LONG_ROW) return;
    u64 at = row * width + column;
    Shares own_shares = shares_at(shares);
    float4 own_given = given_at(given, at), result = own_given;
    if (!stay(own_given, own_shares)) {
        float4 sum = sum_of_entries(columns, values, begin, end, x, width, column);
        result = finished(sum, divisors, pull, own_given, own_shares, at, column);
    }
    out[at] = result;
}

// partial[piece, :] = the sum over its entries, if it is going to be asked for.
extern "C" __global__ void propagate_pieces(const u32 *columns, const float *values,
                                            const Piece *pieces, u32 count, const float4 *x,
                                            const float4 *given, const float *shares,
                                            float4 *partial, u64 width, u32 lanes) {
    u32 piece = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 column = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (piece >= count || column >= width) return;
    Piece own = pieces[piece];
    if (stay(given_at(given, own.row * width + column), shares_at(shares))) return;
    partial[piece * width + column] =
        sum_of_entries(columns, values, own.begin, own.end, x, width, column);
}

// Long rows: the sums over their pieces, in order. The first piece of a row does it for all.
extern "C" __global__ void propagate_long_rows(const Piece *pieces, u32 count, const float4 *partial,
                                               const float4 *given, const float4 *divisors,
                                               const float *shares, const float4 *pull, float4 *out,
                                               u64 width, u32 lanes) {
    u32 piece = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 column = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (piece >= count || column >= width) return;
    Piece own = pieces[piece];
    if (own.pieces == 0) return;
    u64 at = own.row * width + column;
    Shares own_shares = shares_at(shares);
    float4 own_given = given_at(given, at), result = own_given;
    if (!stay(own_given, own_shares)) {
        const float4 *parts = partial + piece * width + column;
        float4 sum = nothing<float4>();
        u32 part = 0;
        // Eight sums on their way at a time.
        for (; part + 8 <= own.pieces; part += 8) {
            float4 some[8];
#pragma unroll
            for (u32 k = 0; k < 8; k++) some[k] = __ldg(&parts[(part + k) * width]);
#pragma unroll
            for (u32 k = 0; k < 8; k++) sum = plus(sum, some[k]);
        }
        for (; part < own.pieces; part++) sum = plus(sum, __ldg(&parts[part * width]));
        result = finished(sum, divisors, pull, own_given, own_shares, at, column);
    }
    out[at] = result;
}

// ROWS_PER_SUM is defined by `round.rs`.

// sums[portion, column] = sum over the portion's rows of x. Nothing is pulled to the mean where all
// comes from the neighbours: then nobody reads it.
extern "C" __global__ void panel_sums(const float *x, const float *shares, double *sums, u64 rows,
                                      u32 columns) {
    if (shares[0] == 1.0f) return;
    u64 portions = (rows + ROWS_PER_SUM - 1) / ROWS_PER_SUM;
    GRID_STRIDE(at, portions * columns) {
        Cell cell = cell_of(at, columns);
        u64 first = cell.row * ROWS_PER_SUM;
        u32 count = rows - first < ROWS_PER_SUM ? rows - first : ROWS_PER_SUM;
        const float *own = x + first * columns + cell.column;
        double sum = 0.0;
#pragma unroll 16
        for (u32 row = 0; row < count; row++) sum += own[row * columns];
        sums[at] = sum;
    }
}

// pull[column] = (1 - a) * mean over rows of x. One block for each column.
extern "C" __global__ void panel_pull(const double *sums, const float *shares, float *pull, u64 rows,
                                      u32 columns) {
    float neighbours = shares[0];
    u64 portions = neighbours == 1.0f ? 0 : (rows + ROWS_PER_SUM - 1) / ROWS_PER_SUM;
    double sum = 0.0;
    for (u64 portion = threadIdx.x; portion < portions; portion += blockDim.x) {
        sum += sums[portion * columns + blockIdx.x];
    }
    sum = block_sum(sum);
    float mean = (float)(sum / (double)(rows > 0 ? rows : 1));
    if (threadIdx.x == 0) pull[blockIdx.x] = (1.0f - neighbours) * mean;
}
