// Attention over neighbours, and its gradient. With j through the neighbours of i, in head h, and m
// what dropout multiplies weights with:
//   e_ijh = leaky(source_jh + target_ih)
//   weight_ijh = exp(e_ijh - l_ih),  l_ih = ln of the sum over j of exp(e_ijh)
//   out[i, head h] = sum over j of m_ijh * weight_ijh * features[j, head h]
// A team takes one row and head. Row i of a matrix with heads * width columns is read as `heads`
// rows of `width` columns, so that those of row i and head h begin at (i * heads + h) * width. T is
// one number or four neighbouring ones; the width is counted in it.

// LEAK is defined by `mod.rs`.

#define MINUS_INFINITY __int_as_float(0xff800000)

__device__ __forceinline__ float leaky(float raw) { return fmaxf(raw, LEAK * raw); }

__device__ __forceinline__ float leaky_slope(float raw) { return raw > 0.0f ? 1.0f : LEAK; }

// The entries of a graph: of its rows, or of its columns.
struct Graph {
    const u32 *offsets, *neighbours;
    u64 rows;
    u32 heads;
};

#define GRAPH const u32 *offsets, const u32 *neighbours, u64 rows, u32 heads
#define THIS_GRAPH Graph{offsets, neighbours, rows, heads}

// What dropout multiplies a weight with: `scale` or 0, by one bit for each entry and head; 1 where
// there are no bits.
struct Mask {
    const u32 *bits;
    float scale;

    __device__ __forceinline__ float at(u64 draw) const {
        if (!bits) return 1.0f;
        return bits[draw / 32] >> (draw % 32) & 1 ? scale : 0.0f;
    }
};

// Draws the bits of all entries and heads. A group of 128 draws has 16 counters and four words; word
// k has the lower halves of word k of the counters, then the upper halves. A warp has two groups.
extern "C" __global__ void draw_mask(const Context *context, u32 stream, u32 threshold, u32 *bits,
                                     u64 groups) {
    u64 counter = (u64)blockIdx.x * blockDim.x + threadIdx.x, group = counter / 16;
    u32 lane = counter % 16;
    bool is_second = threadIdx.x % WARP >= 16;
    Words words = philox(*context, stream, (u32)counter);
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
        u32 lower = __ballot_sync(ALL_LANES, (words.word[k] & 0xffffu) >= threshold);
        u32 upper = __ballot_sync(ALL_LANES, (words.word[k] >> 16) >= threshold);
        u32 own = is_second ? lower >> 16 | (upper & 0xffff0000u) : (lower & 0xffffu) | upper << 16;
        if (lane == k && group < groups) bits[group * 4 + k] = own;
    }
}

// Exponentials are taken of scores less the largest one, so that nothing overflows; the sum of
// features that they weigh is divided by their own sum in the end. The score grows with the source,
// so that the largest is that of the largest source.
template <typename T>
__device__ __forceinline__ void attend_to_neighbours(Graph graph, Mask mask, const T *features,
                                                     const float *source, const float *target,
                                                     T *out, float *logarithms, u32 width,
                                                     u32 lanes) {
    u32 heads = graph.heads;
    for_each_list(graph.offsets, graph.rows * heads, heads, [&](u64 at, auto team) {
        u64 row = at / heads;
        u32 head = at % heads, begin = graph.offsets[row], end = graph.offsets[row + 1];
        auto source_of = [&](u32 entry) {
            return source[(u64)graph.neighbours[entry] * heads + head];
        };
        float own = target[at], most = MINUS_INFINITY, sum = 0.0f;
        for (u64 entry = begin + team.thread(); entry < end; entry += team.threads()) {
            most = fmaxf(most, source_of((u32)entry));
        }
        most = leaky(team.most(most) + own);
        for (u32 first = 0; first < width; first += lanes) {
            u32 column = first + threadIdx.x % lanes;
            bool is_column = column < width;
            auto stage = [&](u32 entry) {
                float weight = expf(leaky(source_of(entry) + own) - most);
                // The sum is the same for all columns.
                if (first == 0) sum += weight;
                float kept = mask.at((u64)entry * heads + head);
                return Entry<1>{graph.neighbours[entry], {weight * kept}};
            };
            T means[1];
            gather(team, begin, end, features + (u64)head * width, (u64)heads * width, is_column,
                   column, lanes, stage, means);
            if (first == 0) sum = team.sum(sum);
            // A row without neighbours is zeros.
            float share = sum == 0.0f ? 0.0f : 1.0f / sum;
            if (out && is_column && team.thread() < lanes) {
                out[at * width + column] = plus_scaled(T{}, share, means[0]);
            }
        }
        if (logarithms && team.thread() == 0) {
            // Of no neighbours, anything finite.
            logarithms[at] = sum > 0.0f ? most + logf(sum) : sum;
        }
    });
}

// The gradient, with g that of out:
//   da_ijh = m_ijh * <g[i, head h], features[j, head h]>
//   d_ih = sum over j of weight_ijh * da_ijh
//   ds_ijh = weight_ijh * (da_ijh - d_ih) * slope_ijh
//   by_target_ih = sum over j of ds_ijh        by_source_jh = sum over i of ds_ijh
//   by_features[j, head h] = sum over i of m_ijh * weight_ijh * g[i, head h]
// No product is taken for an edge: sums of rows are gathered, one more of them weighed with the
// slopes too, and the products taken of these.

// d and by_target, through the rows of the graph.
template <typename T>
__device__ __forceinline__ void sum_over_neighbours(Graph graph, Mask mask, const T *gradient,
                                                    const T *features, const float *source,
                                                    const float *target, const float *logarithms,
                                                    float *centre, float *by_target, u32 width,
                                                    u32 lanes) {
    u32 heads = graph.heads;
    for_each_list(graph.offsets, graph.rows * heads, heads, [&](u64 at, auto team) {
        u64 row = at / heads;
        u32 head = at % heads, begin = graph.offsets[row], end = graph.offsets[row + 1];
        float own = target[at], shift = logarithms[at];
        // Sums over j of weight * da, weight * slope * da and weight * slope.
        float whole = 0.0f, sloped = 0.0f, slopes = 0.0f;
        for (u32 first = 0; first < width; first += lanes) {
            u32 column = first + threadIdx.x % lanes;
            bool is_column = column < width;
            auto stage = [&](u32 entry) {
                u32 from = graph.neighbours[entry];
                float raw = source[(u64)from * heads + head] + own;
                float weight = expf(leaky(raw) - shift), slope = leaky_slope(raw);
                if (first == 0) slopes += weight * slope;
                weight *= mask.at((u64)entry * heads + head);
                return Entry<2>{from, {weight, weight * slope}};
            };
            T sums[2];
            gather(team, begin, end, features + (u64)head * width, (u64)heads * width, is_column,
                   column, lanes, stage, sums);
            if (is_column) {
                T by_out = gradient[at * width + column];
                whole += dot(by_out, sums[0]);
                sloped += dot(by_out, sums[1]);
            }
        }
        whole = lanes_sum(whole, lanes);
        sloped = lanes_sum(sloped, lanes);
        slopes = team.sum(slopes);
        if (team.thread() == 0) {
            centre[at] = whole;
            if (by_target) by_target[at] = sloped - whole * slopes;
        }
    });
}

// by_features and by_source, through the columns of the graph. `entries` are the numbers of its
// entries among those of the rows, where there is a mask; `centre` is d where by_source is wanted.
template <typename T>
__device__ __forceinline__ void sum_over_rows(Graph graph, Mask mask, const u32 *entries,
                                              const T *gradient, const T *features,
                                              const float *source, const float *target,
                                              const float *logarithms, const float *centre,
                                              T *by_features, float *by_source, u32 width,
                                              u32 lanes) {
    u32 heads = graph.heads;
    for_each_list(graph.offsets, graph.rows * heads, heads, [&](u64 at, auto team) {
        u64 node = at / heads;
        u32 head = at % heads, begin = graph.offsets[node], end = graph.offsets[node + 1];
        float own = source[at];
        // Sums over i of weight * slope * da and weight * slope * d.
        float sloped = 0.0f, centred = 0.0f;
        for (u32 first = 0; first < width; first += lanes) {
            u32 column = first + threadIdx.x % lanes;
            bool is_column = column < width;
            auto stage = [&](u32 entry) {
                u32 to = graph.neighbours[entry];
                u64 there = (u64)to * heads + head;
                float raw = own + target[there];
                float weight = expf(leaky(raw) - logarithms[there]), slope = leaky_slope(raw);
                if (first == 0 && by_source) centred += weight * slope * centre[there];
                if (mask.bits) weight *= mask.at((u64)entries[entry] * heads + head);
                return Entry<2>{to, {weight, weight * slope}};
            };
            T sums[2];
            gather(team, begin, end, gradient + (u64)head * width, (u64)heads * width, is_column,
                   column, lanes, stage, sums);
            if (is_column) {
                sloped += dot(features[at * width + column], sums[1]);
                if (by_features && team.thread() < lanes) {
                    by_features[at * width + column] = sums[0];
                }
            }
        }
        sloped = lanes_sum(sloped, lanes);
        centred = team.sum(centred);
        if (by_source && team.thread() == 0) by_source[at] = sloped - centred;
    });
}

#define KERNELS(T, suffix)                                                                        \
    extern "C" __global__ void LIST_BOUNDS attend_##suffix(                                       \
        GRAPH, const u32 *bits, float scale, const T *features, const float *source,              \
        const float *target, T *out, float *logarithms, u32 width, u32 lanes) {                   \
        attend_to_neighbours(THIS_GRAPH, Mask{bits, scale}, features, source, target, out,        \
                             logarithms, width, lanes);                                           \
    }                                                                                             \
    extern "C" __global__ void LIST_BOUNDS attend_gradient_of_rows_##suffix(                      \
        GRAPH, const u32 *bits, float scale, const T *gradient, const T *features,                \
        const float *source, const float *target, const float *logarithms, float *centre,         \
        float *by_target, u32 width, u32 lanes) {                                                 \
        sum_over_neighbours(THIS_GRAPH, Mask{bits, scale}, gradient, features, source, target,    \
                            logarithms, centre, by_target, width, lanes);                         \
    }                                                                                             \
    extern "C" __global__ void LIST_BOUNDS attend_gradient_of_columns_##suffix(                   \
        GRAPH, const u32 *bits, float scale, const T *gradient, const T *features,                \
        const float *source, const float *target, const float *logarithms, const float *centre,   \
        const u32 *entries, T *by_features, float *by_source, u32 width, u32 lanes) {             \
        sum_over_rows(THIS_GRAPH, Mask{bits, scale}, entries, gradient, features, source, target, \
                      logarithms, centre, by_features, by_source, width, lanes);                  \
    }

KERNELS(float, by_one)
KERNELS(float4, by_four)
