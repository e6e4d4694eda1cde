// How high the relevant columns of a row stand. A warp takes some of them at a time and compares each
// with all columns of the row, which it reads once for all of them; nothing is sorted.

// Relevant columns that a warp takes at a time.
#define TOGETHER 8

// The place of a score in the total order of floats, in which both zeros are one.
__device__ __forceinline__ u32 ordered(float score) {
    u32 bits = __float_as_uint(score);
    if (bits == 0x80000000u) bits = 0;
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}

// The order of columns whose scores are the same.
__device__ __forceinline__ u32 shuffled(u32 column) {
    u32 product = column * 0x9E3779B1u;
    return (product << 16 | product >> 16) * 0x85EBCA6Bu;
}

// One block a row:  out[row] = mean over depths of  sum over relevant columns of rank < depth
//   of 1 / relevant, or, given the ideal gains, of (1 / relevant + 1 / log2(rank + 2) / ideal) / 2
// scores: rows x columns; candidates: a bit a column, rows x words, or null if all compete.
extern "C" __global__ void rank_rows(const float *scores, u64 rows, u32 columns, const u32 *offsets,
                                     const u32 *relevant, const u32 *candidates, const u32 *depths,
                                     u32 depth_count, const double *ideal, double *out) {
    u64 row = blockIdx.x;
    // The same for all threads of the block.
    if (row >= rows) return;
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
    const float *own = scores + row * columns;
    const u32 *among = candidates ? candidates + row * ((columns + 31) / 32) : 0;
    u32 begin = offsets[row], end = offsets[row + 1];
    double sum = 0.0;
    for (u32 first = begin + warp * TOGETHER; first < end; first += warps * TOGETHER) {
        u32 column_of[TOGETHER], score_of[TOGETHER], ahead[TOGETHER];
#pragma unroll
        for (u32 k = 0; k < TOGETHER; k++) {
            // The last one again, where there are no more.
            column_of[k] = relevant[first + k < end ? first + k : end - 1];
            score_of[k] = ordered(own[column_of[k]]);
            ahead[k] = 0;
        }
        for (u32 column = lane; column < columns; column += WARP) {
            if (among && !(among[column / 32] >> (column % 32) & 1)) continue;
            u32 other = ordered(own[column]);
#pragma unroll
            for (u32 k = 0; k < TOGETHER; k++) {
                bool is_ahead = other > score_of[k];
                if (other == score_of[k]) is_ahead = shuffled(column) < shuffled(column_of[k]);
                ahead[k] += is_ahead;
            }
        }
        __syncwarp();
        // Lane k goes on with column k.
        u32 rank = 0;
#pragma unroll
        for (u32 k = 0; k < TOGETHER; k++) {
            u32 all = warp_sum(ahead[k]);
            if (lane == k) rank = all;
        }
        if (lane < TOGETHER && first + lane < end) {
            u32 deep_enough = 0;
            for (u32 at = 0; at < depth_count; at++) deep_enough += rank < depths[at];
            double worth = 1.0 / (double)(end - begin);
            if (ideal) worth = (worth + 1.0 / log2((double)rank + 2.0) / ideal[row]) / 2.0;
            sum += deep_enough * worth;
        }
    }
    __syncwarp();
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[row] = sum / depth_count;
}

// One block:  out = sum over rows
extern "C" __global__ void sum_rows(const double *of_rows, u64 rows, float *out) {
    double sum = 0.0;
    for (u64 row = threadIdx.x; row < rows; row += blockDim.x) sum += of_rows[row];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *out = (float)sum;
}
