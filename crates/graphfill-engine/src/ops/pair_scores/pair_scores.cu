// Scores of pairs of rows, and their gradient:
//   out[k] = <left[i_k, :], right[j_k, :]>
//   by_left[i, :] = sum over k with i_k = i of gradient_k * right[j_k, :]
// and the other way round for by_right. The gradient needs the pairs of each row: one list for each
// row of left, then one for each row of right. Pairs that are always the same bring these lists with
// them; for pairs that are drawn they are counted, placed and sorted here, so that a row always adds
// its pairs in their order.

// Pairs that are always the same, or drawn from all pairs of so many rows.
struct Pairs {
    const uint2 *fixed;
    const Context *context;
    u32 stream, left_rows, right_rows;

    // Pairs are drawn in groups of 32, made of 16 counters: the counter `group * 16 + lane` has
    // those of the elements  group * 32 + lane  and  group * 32 + 16 + lane.
    __device__ __forceinline__ uint2 at(u32 pair) const {
        if (fixed) return fixed[pair];
        Words words = philox(*context, stream, pair / 32 * 16 + pair % 16);
        bool second = pair % 32 >= 16;
        return uint2{below(second ? words.word[2] : words.word[0], left_rows),
                     below(second ? words.word[3] : words.word[1], right_rows)};
    }
};

#define PAIRS const uint2 *fixed, const Context *context, u32 stream, u32 left_rows, u32 right_rows
#define THESE_PAIRS Pairs{fixed, context, stream, left_rows, right_rows}

// Neighbouring lanes take a pair together.
extern "C" __global__ void pair_scores(PAIRS, const float *left, const float *right, float *out,
                                       u64 count, u32 columns, u32 lanes) {
    u64 at = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    bool there = at < count;
    uint2 pair = there ? THESE_PAIRS.at((u32)at) : uint2{0, 0};
    const float *own = left + (u64)pair.x * columns, *other = right + (u64)pair.y * columns;
    float score = row_dot(own, other, there ? columns : 0, lanes);
    if (there && threadIdx.x % lanes == 0) out[at] = score;
}

// ---- Lists of the pairs of each row ----

// counts[list] += 1 for both lists of every pair. They begin as zeros.
extern "C" __global__ void count_pairs(PAIRS, u32 *counts, u64 count) {
    Pairs pairs = THESE_PAIRS;
    GRID_STRIDE(at, count) {
        uint2 pair = pairs.at((u32)at);
        atomicAdd(&counts[pair.x], 1);
        atomicAdd(&counts[left_rows + pair.y], 1);
    }
}

// Blocks of LIST_WARPS warps take tiles of counts (TILE of them, COUNTS_PER_THREAD for each thread, defined by
// `lists.rs`): first the sum of each tile, then the beginning of
// each list, for which a block adds up the tiles before its own.

extern "C" __global__ void sum_tiles(const u32 *counts, u64 lists, u32 *sums) {
    u32 sum = 0;
    for (u32 at = threadIdx.x; at < TILE; at += blockDim.x) {
        u64 list = (u64)blockIdx.x * TILE + at;
        if (list < lists) sum += counts[list];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The sum over all threads of the block before this one.
__device__ __forceinline__ u32 sum_before(u32 value) {
    __shared__ u32 warps[LIST_WARPS];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, sum = value;
    for (u32 offset = 1; offset < WARP; offset *= 2) {
        u32 before = __shfl_up_sync(ALL_LANES, sum, offset);
        if (lane >= offset) sum += before;
    }
    if (lane == WARP - 1) warps[warp] = sum;
    __syncthreads();
    for (u32 before = 0; before < warp; before++) sum += warps[before];
    return sum - value;
}

// offsets[list] = sum of the counts of all lists before; there is one more, the sum of all.
extern "C" __global__ void begin_lists(const u32 *counts, u64 lists, const u32 *sums, u32 *offsets) {
    u32 before = 0;
    for (u32 tile = threadIdx.x; tile < blockIdx.x; tile += blockDim.x) before += sums[tile];
    before = block_sum(before);
    u64 first = (u64)blockIdx.x * TILE + threadIdx.x * COUNTS_PER_THREAD;
    u32 own[COUNTS_PER_THREAD], sum = 0;
#pragma unroll
    for (u32 k = 0; k < COUNTS_PER_THREAD; k++) {
        own[k] = first + k < lists ? counts[first + k] : 0;
        sum += own[k];
    }
    before += sum_before(sum);
#pragma unroll
    for (u32 k = 0; k < COUNTS_PER_THREAD; k++) {
        if (first + k < lists) offsets[first + k] = before;
        before += own[k];
    }
    bool is_last = blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1;
    if (is_last) offsets[lists] = before;
}

// Puts each pair into its two lists, in any order. Counts fall to zero.
extern "C" __global__ void place_pairs(PAIRS, u32 *counts, const u32 *offsets, u32 *listed,
                                       u64 count) {
    Pairs pairs = THESE_PAIRS;
    GRID_STRIDE(at, count) {
        uint2 pair = pairs.at((u32)at);
        u32 lists[2] = {pair.x, left_rows + pair.y};
        for (u32 list : lists) listed[offsets[list] + atomicSub(&counts[list], 1) - 1] = (u32)at;
    }
}

// Lists that are longer stay as they are: who needs them in order draws all pairs again.
#define MOST_SORTED 4096

// Of a list that a warp takes: each number has its rank, which is how many are smaller.
__device__ __forceinline__ void sort_by_rank(u32 *list, u32 count) {
    constexpr u32 OWN = LONG_LIST / WARP;
    u32 lane = threadIdx.x % WARP, own[OWN], ranks[OWN] = {};
#pragma unroll
    for (u32 k = 0; k < OWN; k++) own[k] = k * WARP + lane < count ? list[k * WARP + lane] : 0;
    for (u32 other = 0; other < count; other++) {
        u32 number = list[other];
#pragma unroll
        for (u32 k = 0; k < OWN; k++) ranks[k] += number < own[k];
    }
    __syncwarp();
#pragma unroll
    for (u32 k = 0; k < OWN; k++) {
        if (k * WARP + lane < count) list[ranks[k]] = own[k];
    }
}

// Of a longer one, by the whole block: bitonic sorting of the next power of two, filled up with the
// largest number.
__device__ __forceinline__ void sort_by_exchange(u32 *list, u32 count) {
    __shared__ u32 numbers[MOST_SORTED];
    u32 all = 1;
    while (all < count) all *= 2;
    __syncthreads();
    for (u32 at = threadIdx.x; at < all; at += blockDim.x) {
        numbers[at] = at < count ? list[at] : 0xffffffffu;
    }
    for (u32 run = 2; run <= all; run *= 2) {
        for (u32 distance = run / 2; distance > 0; distance /= 2) {
            __syncthreads();
            for (u32 at = threadIdx.x; at < all; at += blockDim.x) {
                u32 other = at ^ distance;
                if (other < at) continue;
                u32 low = numbers[at], high = numbers[other];
                bool rises = (at & run) == 0;
                if ((low > high) == rises) {
                    numbers[at] = high;
                    numbers[other] = low;
                }
            }
        }
    }
    __syncthreads();
    for (u32 at = threadIdx.x; at < count; at += blockDim.x) list[at] = numbers[at];
}

extern "C" __global__ void LIST_BOUNDS sort_lists(const u32 *offsets, u64 lists, u32 *listed) {
    for_each_list(offsets, lists, 1, [&](u64 list, auto team) {
        u32 begin = offsets[list], count = offsets[list + 1] - begin;
        if constexpr (decltype(team)::WHOLE) {
            if (count <= MOST_SORTED) sort_by_exchange(listed + begin, count);
        } else {
            if (count > 1) sort_by_rank(listed + begin, count);
        }
    });
}

// ---- The gradient ----

// Four numbers at a time where there are whole fours; then columns are counted in them.
template <typename T>
__device__ __forceinline__ void add_pairs(Pairs pairs, const u32 *offsets, const u32 *listed,
                                          const float *gradient, const T *left, const T *right,
                                          T *by_left, T *by_right, u32 columns, u32 lanes,
                                          u32 count) {
    u64 lists = (u64)pairs.left_rows + pairs.right_rows;
    for_each_list(offsets, lists, 1, [&](u64 list, auto team) {
        bool of_left = list < pairs.left_rows;
        T *out = of_left ? by_left : by_right;
        if (!out) return;
        const T *others = of_left ? right : left;
        u32 row = (u32)(of_left ? list : list - pairs.left_rows);
        u32 begin = offsets[list], end = offsets[list + 1];
        bool is_sorted = pairs.fixed || end - begin <= MOST_SORTED;
        auto of_list = [&](u32 at) {
            u32 number = listed[at];
            uint2 pair = pairs.at(number);
            return Entry<1>{of_left ? pair.y : pair.x, {gradient[number]}};
        };
        auto of_all = [&](u32 number) {
            uint2 pair = pairs.at(number);
            u32 own = of_left ? pair.x : pair.y, other = of_left ? pair.y : pair.x;
            return own == row ? Entry<1>{other, {gradient[number]}} : Entry<1>{NO_ROW, {0.0f}};
        };
        for (u32 first = 0; first < columns; first += lanes) {
            u32 column = first + threadIdx.x % lanes;
            bool is_column = column < columns;
            T sums[1];
            if (is_sorted) {
                gather(team, begin, end, others, columns, is_column, column, lanes, of_list, sums);
            } else {
                gather(team, 0, count, others, columns, is_column, column, lanes, of_all, sums);
            }
            if (is_column && team.thread() < lanes) out[(u64)row * columns + column] = sums[0];
        }
    });
}

#define ADD_PAIRS(name, T)                                                                     \
    extern "C" __global__ void LIST_BOUNDS name(                                               \
        PAIRS, const u32 *offsets, const u32 *listed, const float *gradient, const T *left,    \
        const T *right, T *by_left, T *by_right, u32 columns, u32 lanes, u32 count) {          \
        add_pairs(THESE_PAIRS, offsets, listed, gradient, left, right, by_left, by_right,      \
                  columns, lanes, count);                                                      \
    }

ADD_PAIRS(add_pairs_by_one, float)
ADD_PAIRS(add_pairs_by_four, float4)
