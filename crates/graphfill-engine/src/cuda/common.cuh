// What kernels share: the random draws of `random`, sums over warps and blocks, functions of single
// numbers that stay finite. It is put before every file of kernels.

typedef unsigned int u32;
typedef unsigned long long u64;

#define WARP 32
#define ALL_LANES 0xffffffffu

// The run that a kernel belongs to; randomness and the optimiser depend on it.
struct Context {
    u64 seed;
    u64 step;
};

// For loops over elements in strides of the grid.
#define GRID_STRIDE(at, count)                                                       \
    for (u64 at = (u64)blockIdx.x * blockDim.x + threadIdx.x; at < (u64)(count);     \
         at += (u64)gridDim.x * blockDim.x)

// ---- Sums ----

template <typename T> __device__ __forceinline__ T warp_sum(T value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, offset);
    }
    return value;
}

template <typename T> __device__ __forceinline__ T warp_most(T value) {
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        T other = __shfl_xor_sync(ALL_LANES, value, offset);
        value = other > value ? other : value;
    }
    return value;
}

// The sum over all threads of a block of at most 1024, known to all of them.
template <typename T> __device__ __forceinline__ T block_sum(T value) {
    __shared__ T parts[WARP];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = (blockDim.x + WARP - 1) / WARP;
    value = warp_sum(value);
    __syncthreads();
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    value = lane < warps ? parts[lane] : (T)0;
    return warp_sum(value);
}

template <typename T> __device__ __forceinline__ T block_most(T value) {
    __shared__ T parts[WARP];
    u32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = (blockDim.x + WARP - 1) / WARP;
    value = warp_most(value);
    __syncthreads();
    if (lane == 0) parts[warp] = value;
    __syncthreads();
    value = parts[lane < warps ? lane : 0];
    return warp_most(value);
}

// ---- Functions of single numbers ----

__device__ __forceinline__ bool is_nan(float x) { return x != x; }

// e^x, never infinite: e^88.3 above that. NaN stays NaN, which fminf would turn into 88.3.
__device__ __forceinline__ float finite_exp(float x) { return expf(x > 88.3f ? 88.3f : x); }

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + finite_exp(-x)); }

// ln(1 + e^s), which does not overflow, and its slope; both to about one part in a million, by the
// functions that a card has in hardware: this is computed for every cell of a table in every step.
__device__ __forceinline__ float softplus(float s, float *slope) {
    float small = __expf(-fabsf(s));
    float share = __fdividef(1.0f, 1.0f + small);
    *slope = s >= 0.0f ? share : small * share;
    return fmaxf(s, 0.0f) + __logf(1.0f + small);
}

// ---- Random draws: the same as on the processor, by seed, stream, step and index ----

struct Words {
    u32 word[4];
};

// Philox 4x32 with ten rounds: the four words of a counter.
__device__ __forceinline__ Words philox(Context context, u32 stream, u32 counter) {
    u32 first = counter, second = stream, third = (u32)context.step, fourth = (u32)(context.step >> 32);
    u32 low_key = (u32)context.seed, high_key = (u32)(context.seed >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u32 low = 0xD2511F53u * first, high = __umulhi(0xD2511F53u, first);
        u32 other_low = 0xCD9E8D57u * third, other_high = __umulhi(0xCD9E8D57u, third);
        first = other_high ^ second ^ low_key;
        second = other_low;
        third = high ^ fourth ^ high_key;
        fourth = low;
        low_key += 0x9E3779B9u;
        high_key += 0xBB67AE85u;
    }
    return Words{{first, second, third, fourth}};
}

// Dropout draws come in groups of 128 elements, made of 16 counters. The counter `group * 16 + lane`
// has those of the elements  group * 128 + keep_element(lane, draw)  for eight draws.
// KEEP_GROUP is defined by `command.rs`.
#define KEEP_DRAWS 8

__device__ __forceinline__ u32 keep_element(u32 lane, u32 draw) {
    return (draw / 2) * 32 + (draw % 2) * 16 + lane;
}

__device__ __forceinline__ u32 keep_draw(Words words, u32 draw) {
    u32 word = words.word[draw / 2];
    return draw % 2 ? word >> 16 : word & 0xffffu;
}

// Whether one element survives dropout at this threshold. Where a thread needs neighbours of it,
// drawing a whole counter at a time is eight times cheaper.
__device__ __forceinline__ bool is_kept(Context context, u32 stream, u64 element, u32 threshold) {
    u32 group = (u32)(element / KEEP_GROUP), rest = element % KEEP_GROUP;
    Words words = philox(context, stream, group * 16 + rest % 16);
    return keep_draw(words, (rest / 32) * 2 + (rest / 16) % 2) >= threshold;
}

// The upper 24 bits, which a float holds exactly.
__device__ __forceinline__ float uniform(u32 word) { return (word >> 8) * (1.0f / 16777216.0f); }

// Normal numbers come in groups of 64 elements, made of 16 counters. The counter
// `group * 16 + lane` has those of the elements  group * 64 + 16 * k + lane  for k from 0 to 3.
__device__ __forceinline__ void normals(Context context, u32 stream, u32 counter, float out[4]) {
    Words words = philox(context, stream, counter);
#pragma unroll
    for (int pair = 0; pair < 2; pair++) {
        float radius = sqrtf(-2.0f * logf(1.0f - uniform(words.word[pair])));
        float sine, cosine;
        sincospif(2.0f * uniform(words.word[2 + pair]), &sine, &cosine);
        out[pair] = radius * cosine;
        out[2 + pair] = radius * sine;
    }
}

// A whole number below a bound.
__device__ __forceinline__ u32 below(u32 word, u32 bound) { return __umulhi(word, bound); }

// ---- One number of a row, or four neighbouring ones ----

__device__ __forceinline__ float plus(float a, float b) { return a + b; }

__device__ __forceinline__ float4 plus(float4 a, float4 b) {
    return float4{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

// sum + scale * x
__device__ __forceinline__ float plus_scaled(float sum, float scale, float x) {
    return sum + scale * x;
}

__device__ __forceinline__ float4 plus_scaled(float4 sum, float scale, float4 x) {
    return float4{sum.x + scale * x.x, sum.y + scale * x.y, sum.z + scale * x.z,
                  sum.w + scale * x.w};
}

__device__ __forceinline__ float dot(float a, float b) { return a * b; }

__device__ __forceinline__ float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

__device__ __forceinline__ float from_lane_beside(float x, u32 offset) {
    return __shfl_xor_sync(ALL_LANES, x, offset);
}

__device__ __forceinline__ float4 from_lane_beside(float4 x, u32 offset) {
    return float4{from_lane_beside(x.x, offset), from_lane_beside(x.y, offset),
                  from_lane_beside(x.z, offset), from_lane_beside(x.w, offset)};
}

// ---- Rows of matrices ----

// Where an element of a matrix is.
struct Cell {
    u64 row;
    u32 column;
};

// Divisions of 64 bits take long, and few matrices need them.
__device__ __forceinline__ Cell cell_of(u64 at, u32 columns) {
    if (at >> 32) return Cell{at / columns, (u32)(at % columns)};
    return Cell{(u32)at / columns, (u32)at % columns};
}

// Four neighbouring numbers of a row that begins again behind its end.
__device__ __forceinline__ float4 four_of_row(const float *row, u32 column, u32 columns) {
    if (columns % 4 == 0) return *(const float4 *)(row + column);
    float four[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        four[k] = row[column];
        column = column + 1 == columns ? 0 : column + 1;
    }
    return float4{four[0], four[1], four[2], four[3]};
}

// The sum over neighbouring lanes, `lanes` of them being a power of two up to 32, known to each of
// them. All lanes of the warp take part.
__device__ __forceinline__ float lanes_sum(float value, u32 lanes) {
    for (u32 offset = lanes / 2; offset > 0; offset /= 2) value += from_lane_beside(value, offset);
    return value;
}

// The product of two rows, by neighbouring lanes together, known to each of them. All lanes of the
// warp take part, those without a row with no columns.
__device__ __forceinline__ float row_dot(const float *a, const float *b, u32 columns, u32 lanes) {
    float sum = 0.0f;
    if (columns % 4 == 0) {
        const float4 *fours = (const float4 *)a, *others = (const float4 *)b;
        for (u32 at = threadIdx.x % lanes; at < columns / 4; at += lanes) {
            sum += dot(fours[at], others[at]);
        }
    } else {
        for (u32 at = threadIdx.x % lanes; at < columns; at += lanes) sum += a[at] * b[at];
    }
    return lanes_sum(sum, lanes);
}

// ---- Lists: the neighbours of a node, the pairs of a row ----
//
// Blocks of 512 threads take sixteen lists. Each warp takes one of them; those that are long are
// then taken by the whole block, one after the other. LIST_WARPS is defined by `command.rs`.

#define LONG_LIST 256

// For the kernels that take them: two blocks run side by side.
#define LIST_BOUNDS __launch_bounds__(LIST_WARPS * WARP, 2)

// Those who take a list together.
template <bool WHOLE_BLOCK> struct Team {
    static constexpr bool WHOLE = WHOLE_BLOCK;

    __device__ __forceinline__ u32 thread() const {
        return WHOLE_BLOCK ? threadIdx.x : threadIdx.x % WARP;
    }

    __device__ __forceinline__ u32 threads() const { return WHOLE_BLOCK ? blockDim.x : WARP; }

    // The sum over all of them, known to all.
    __device__ __forceinline__ float sum(float value) const {
        if constexpr (WHOLE_BLOCK) return block_sum(value);
        return warp_sum(value);
    }

    __device__ __forceinline__ float most(float value) const {
        if constexpr (WHOLE_BLOCK) return block_most(value);
        return warp_most(value);
    }

    // The sum over those whose number leaves the same rest when divided by `lanes`, a power of two
    // up to 32, known to each of them.
    template <typename T> __device__ __forceinline__ T sum_by_rest(T value, u32 lanes) const {
        for (u32 offset = WARP / 2; offset >= lanes; offset /= 2) {
            value = plus(value, from_lane_beside(value, offset));
        }
        if constexpr (WHOLE_BLOCK) {
            __shared__ T parts[LIST_WARPS][WARP];
            u32 lane = threadIdx.x % WARP;
            __syncthreads();
            parts[threadIdx.x / WARP][lane] = value;
            __syncthreads();
            value = parts[0][lane];
            for (u32 warp = 1; warp < blockDim.x / WARP; warp++) {
                value = plus(value, parts[warp][lane]);
            }
        }
        return value;
    }
};

// Calls `work(list, team)` for every list, of which each row of the offsets has `heads`.
template <typename Work>
__device__ __forceinline__ void for_each_list(const u32 *offsets, u64 lists, u32 heads, Work work) {
    u64 first = (u64)blockIdx.x * (blockDim.x / WARP), own = first + threadIdx.x / WARP;
    auto is_long = [&](u64 list) {
        u64 row = list / heads;
        return list < lists && offsets[row + 1] - offsets[row] > LONG_LIST;
    };
    bool own_is_long = is_long(own);
    if (own < lists && !own_is_long) work(own, Team<false>{});
    if (!__syncthreads_or(own_is_long)) return;
    for (u32 warp = 0; warp < blockDim.x / WARP; warp++) {
        if (is_long(first + warp)) work(first + warp, Team<true>{});
    }
}

#define NO_ROW 0xffffffffu

// What an entry of a list stands for: a row of a matrix, weighed for each of several sums; or no
// row.
template <u32 SUMS> struct Entry {
    u32 row;
    float weight[SUMS];
};

// sums[s] = sum over the entries begin..end of  weight_s * matrix[row, column],  known to all
// threads with that column. The team's neighbouring `lanes` have neighbouring columns; the others
// of a warp take other entries at the same time. `stage(entry)` is called once for each entry, by
// the thread that then hands it to the others.
template <bool WHOLE_BLOCK, u32 SUMS, typename T, typename Stage>
__device__ __forceinline__ void gather(Team<WHOLE_BLOCK> team, u32 begin, u32 end, const T *matrix,
                                       u64 stride, bool is_column, u32 column, u32 lanes,
                                       Stage stage, T (&sums)[SUMS]) {
    // Rows that are read before the first of them is added.
    constexpr u32 BATCH = 4;
    u32 lane = threadIdx.x % WARP, slots = WARP / lanes, slot = lane / lanes;
    for (u32 sum = 0; sum < SUMS; sum++) sums[sum] = T{};
    u64 base = (u64)begin + team.thread() / WARP * WARP;
    for (; base < end; base += team.threads()) {
        u32 count = end - base < WARP ? end - base : WARP;
        Entry<SUMS> own{NO_ROW};
        if (lane < count) own = stage((u32)base + lane);
        for (u32 first = 0; first < count; first += BATCH * slots) {
            T rows[BATCH];
            float weights[BATCH][SUMS];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u32 from = first + k * slots + slot;
                u32 row = __shfl_sync(ALL_LANES, own.row, from % WARP);
#pragma unroll
                for (u32 sum = 0; sum < SUMS; sum++) {
                    weights[k][sum] = __shfl_sync(ALL_LANES, own.weight[sum], from % WARP);
                }
                bool there = from < count && row != NO_ROW && is_column;
                rows[k] = there ? matrix[row * stride + column] : T{};
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
#pragma unroll
                for (u32 sum = 0; sum < SUMS; sum++) {
                    sums[sum] = plus_scaled(sums[sum], weights[k][sum], rows[k]);
                }
            }
        }
    }
    for (u32 sum = 0; sum < SUMS; sum++) sums[sum] = team.sum_by_rest(sums[sum], lanes);
}
