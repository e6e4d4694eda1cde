// Losses of scores against what was observed, and their derivatives by the scores:
//
//   score = scores + bias + sum over offsets of  scale * offset
//   loss  = sum over blocks of columns  scale * sum over cells or rows  weight * loss(score, target)
//
// Scores are rows x columns, from one row to the next `stride` numbers; offsets and weights are
// rows x columns without room between rows. The derivative may be written over the scores. A scale
// of an offset is one number, or one for each column where its bit in `by_column` is set.
//
// Every thread block leaves its sums in `partial`: sum k of its slot is partial[k * slots + slot].
// Sum 0 is the loss, sum 1 + k the derivative by the scale of offset k, where that is one number;
// only those whose bits in `summed` are set are computed.

// Defined by `kernels.rs`: OFFSETS, how many there may be; MISSING_CATEGORY; BERNOULLI and SQUARED_ERROR, the
// kinds of columns; TILE_THREADS; CELLS, how many of a tile a thread has.

#define SUMS (1 + OFFSETS)

struct Judged {
    const float *scores;
    float *derivative;
    u64 stride, rows, columns;
    const float *weights, *bias;
    const float *offset[OFFSETS], *scale[OFFSETS];
    u32 by_column, summed;
    double *partial;
    u64 slots;
};

// The same as parameters of a kernel, and put together again.
#define JUDGED_PARAMETERS                                                                          \
    const float *scores, float *derivative, u64 stride, u64 rows, u64 columns,                     \
        const float *weights, const float *bias, const float *offset_0, const float *offset_1,     \
        const float *offset_2, const float *offset_3, const float *scale_0, const float *scale_1,  \
        const float *scale_2, const float *scale_3, u32 by_column, u32 summed, double *partial,    \
        u64 slots
#define JUDGED                                                                                     \
    Judged {                                                                                       \
        scores, derivative, stride, rows, columns, weights, bias,                                  \
            {offset_0, offset_1, offset_2, offset_3}, {scale_0, scale_1, scale_2, scale_3},        \
            by_column, summed, partial, slots                                                      \
    }

__device__ __forceinline__ float score_at(const Judged &judged, u64 row, u64 column) {
    float score = judged.scores[row * judged.stride + column];
    if (judged.bias) score += judged.bias[column];
#pragma unroll
    for (u32 at = 0; at < OFFSETS; at++) {
        if (judged.offset[at]) {
            float scale = judged.scale[at][judged.by_column >> at & 1 ? column : 0];
            score += scale * judged.offset[at][row * judged.columns + column];
        }
    }
    return score;
}

// The sums of a thread.
struct Sums {
    double loss;
    float by_scale[OFFSETS];
};

// What the derivative of a cell adds to those by scales that are one number.
__device__ __forceinline__ void add_by_scales(const Judged &judged, u64 row, u64 column,
                                              float derivative, Sums &sums) {
#pragma unroll
    for (u32 at = 0; at < OFFSETS; at++) {
        if (judged.summed >> (1 + at) & 1) {
            sums.by_scale[at] += derivative * judged.offset[at][row * judged.columns + column];
        }
    }
}

// The sums of all threads of a block go to its slot.
__device__ __forceinline__ void put_sums(const Judged &judged, const Sums &sums) {
    u64 slot = (u64)blockIdx.y * gridDim.x + blockIdx.x;
#pragma unroll
    for (u32 at = 0; at < SUMS; at++) {
        if (judged.summed >> at & 1) {
            double sum = block_sum(at == 0 ? sums.loss : (double)sums.by_scale[at - 1]);
            if (threadIdx.x == 0) judged.partial[at * judged.slots + slot] = sum;
        }
    }
}

// ---- Cells that are judged one by one ----

// How the cells of a column are judged. On and off weigh ones and zeros of the first kind.
struct __align__(16) Column {
    u32 column, kind;
    float scale, on, off;
};

// The loss of a score x against a target t, and its slope:
//   Bernoulli       on * t * ln(1 + e^-x) + off * (1 - t) * ln(1 + e^x)
//   squared error   (x - t)^2
__device__ __forceinline__ float cell_loss(const Column &about, float score, float target,
                                           float *slope) {
    if (about.kind == SQUARED_ERROR) {
        float difference = score - target;
        *slope = 2.0f * difference;
        return difference * difference;
    }
    float share, positive = softplus(score, &share);
    float on = about.on * target, weight = on + about.off * (1.0f - target);
    *slope = weight * share - on;
    return weight * positive - on * score;
}

// The first place in `from..to` whose number is not below a bound; the numbers rise.
__device__ __forceinline__ u32 first_from(const u32 *numbers, u32 from, u32 to, u32 bound) {
    while (from < to) {
        u32 middle = from + (to - from) / 2;
        if (numbers[middle] < bound) from = middle + 1;
        else to = middle;
    }
    return from;
}

// A thread block takes tiles of so many cells: some columns of a row, or several narrow rows.
#define TILE (TILE_THREADS * CELLS)
// Rows with more entries than this are searched for those of a tile, rather than looked through.
#define MANY_ENTRIES 512

// Judges `width` columns: those from `first` on, all alike, or those of a table. Their targets are
// sparse rows, of which `lanes` threads read one and put its entries where they are in the tile, or
// `values` cell by cell, rows x width, where there are no offsets. Tile rows are blockIdx.x, tile
// columns blockIdx.y; only tiles of whole rows have several of them.
extern "C" __global__ void __launch_bounds__(TILE_THREADS, 8)
judge_cells(JUDGED_PARAMETERS, u32 kind, float cell_scale, float on, float off, u32 first,
            u32 width, const Column *table, u32 tile_rows, u32 tile_columns, u32 lanes,
            const u32 *offsets, const u32 *entries, const float *values) {
    __shared__ float told[TILE];
    Judged judged = JUDGED;
    Sums sums = {};
    u32 begin = blockIdx.y * tile_columns, tile_width = min(tile_columns, width - begin);
#pragma unroll
    for (u32 part = 0; part < CELLS; part++) told[threadIdx.x + part * TILE_THREADS] = 0.0f;

    for (u64 above = (u64)blockIdx.x * tile_rows; above < rows; above += (u64)gridDim.x * tile_rows) {
        u32 tile_height = (u32)min((u64)tile_rows, rows - above);
        u32 count = tile_height * tile_width;
        u64 row[CELLS];
        u32 along[CELLS];
        float score[CELLS], target[CELLS];
#pragma unroll
        for (u32 part = 0; part < CELLS; part++) {
            u32 cell = threadIdx.x + part * TILE_THREADS;
            if (cell >= count) continue;
            u32 down = tile_rows == 1 ? 0 : cell / tile_width;
            along[part] = begin + cell - down * tile_width;
            row[part] = above + down;
            u64 column = table ? table[along[part]].column : first + along[part];
            score[part] = score_at(judged, row[part], column);
            if (!offsets) target[part] = values[row[part] * width + along[part]];
        }
        if (offsets) {
            // All is zeros again.
            __syncthreads();
            for (u32 down = threadIdx.x / lanes; down < tile_height; down += TILE_THREADS / lanes) {
                u32 from = offsets[above + down], to = offsets[above + down + 1];
                if (tile_width < width && to - from > MANY_ENTRIES) {
                    from = first_from(entries, from, to, begin);
                    to = first_from(entries, from, to, begin + tile_width);
                }
                for (u64 entry = (u64)from + threadIdx.x % lanes; entry < to; entry += lanes) {
                    // Columns before the tile wrap around and are behind it, too.
                    u32 along = entries[entry] - begin;
                    if (along < tile_width) {
                        told[down * tile_width + along] = values ? values[entry] : 1.0f;
                    }
                }
            }
            __syncthreads();
        }
        float loss = 0.0f;
#pragma unroll
        for (u32 part = 0; part < CELLS; part++) {
            u32 cell = threadIdx.x + part * TILE_THREADS;
            if (cell >= count) continue;
            if (offsets) {
                target[part] = told[cell];
                told[cell] = 0.0f;
            }
            Column about = table ? table[along[part]]
                                 : Column{first + along[part], kind, cell_scale, on, off};
            u64 column = about.column;
            float weight = weights ? weights[row[part] * columns + column] : 1.0f;
            float slope, own = cell_loss(about, score[part], target[part], &slope);
            // Nothing where the cell was not observed or weighs nothing, whatever its score is.
            bool counts = !is_nan(target[part]) && weight != 0.0f;
            slope = counts ? weight * (about.scale * slope) : 0.0f;
            loss += counts ? weight * about.scale * own : 0.0f;
            add_by_scales(judged, row[part], column, slope, sums);
            if (derivative) derivative[row[part] * stride + column] = slope;
        }
        sums.loss += loss;
    }
    put_sums(judged, sums);
}

// ---- Rows that are judged as a whole ----

// Some columns whose scores s are one distribution, softmax(s), against which a row x is judged:
//   - sum over k of  (x_k / |x|) * ln softmax(s)_k,  slope  softmax(s) - x / |x|
// x is told by sparse rows; or by one category a row, where there are no offsets; or cell by cell,
// NaN where nothing was observed, where there are no entries either. Shares are 1 / |x|, 0 where
// the row has nothing; a category has none.
struct RowBlock {
    const u32 *offsets, *entries;
    const float *values, *shares;
    u64 first, width;
    float scale;
    u32 unused;
};

// Those who take a row together: neighbouring lanes of a warp, a power of two of them.
struct Lanes {
    u32 size;
    __device__ u32 rank() const { return threadIdx.x % size; }
    __device__ void wait() const { __syncwarp(); }
    template <typename T> __device__ T sum(T value) const {
        for (u32 offset = size / 2; offset > 0; offset /= 2) {
            value += __shfl_xor_sync(ALL_LANES, value, offset);
        }
        return value;
    }
    __device__ float most(float value) const {
        for (u32 offset = size / 2; offset > 0; offset /= 2) {
            value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, offset));
        }
        return value;
    }
};

// The same: all threads of a block.
struct Everybody {
    u32 size;
    __device__ u32 rank() const { return threadIdx.x; }
    __device__ void wait() const { __syncthreads(); }
    template <typename T> __device__ T sum(T value) const { return block_sum(value); }
    __device__ float most(float value) const { return block_most(value); }
};

// One row of a block, whose targets are those of `target_row`. All threads come here, even where
// there is no such row. `held` has room for the scores, unless it is null.
template <typename Team>
__device__ __forceinline__ void judge_row(const Judged &judged, const RowBlock &block, u64 row,
                                          u64 target_row, Team team, float *held, Sums &sums) {
    bool is_there = row < judged.rows;
    float share = 0.0f, weight = 0.0f;
    const u32 *entries = nullptr;
    const float *values = nullptr, *cells = nullptr;
    u32 count = 0;
    if (is_there) {
        if (block.offsets) {
            u32 begin = block.offsets[target_row];
            count = block.offsets[target_row + 1] - begin;
            entries = block.entries + begin;
            values = block.values ? block.values + begin : nullptr;
            share = block.shares[target_row];
        } else if (block.entries) {
            count = 1;
            entries = block.entries + target_row;
            share = *entries == MISSING_CATEGORY ? 0.0f : 1.0f;
        } else {
            cells = block.values + target_row * block.width;
            share = block.shares[target_row];
        }
        weight = judged.weights ? judged.weights[row * judged.columns + block.first] : 1.0f;
    }
    bool counts = share != 0.0f && weight != 0.0f;
    u64 begin = row * judged.stride + block.first;
    float *out = judged.derivative ? judged.derivative + begin : nullptr;
    // Without room for them, scores that are put together are kept where they are.
    bool is_sum = judged.bias || judged.offset[0] || judged.offset[1] || judged.offset[2] ||
                  judged.offset[3];
    if (!held && is_sum) held = out;
    const float *known = held ? held : judged.scores + begin;

    float highest = __int_as_float(0xff800000);
    if (counts) {
        for (u64 at = team.rank(); at < block.width; at += team.size) {
            float score = score_at(judged, row, block.first + at);
            if (held) held[at] = score;
            highest = fmaxf(highest, score);
        }
    }
    highest = team.most(highest);
    team.wait();

    // The sums of e^(s - highest), and of s_k * x_k / |x|.
    float total = 0.0f;
    double along = 0.0;
    if (counts) {
        for (u64 at = team.rank(); at < block.width; at += team.size) {
            total += expf(known[at] - highest);
            if (cells && !is_nan(cells[at])) along += cells[at] * share * known[at];
        }
        for (u32 at = team.rank(); at < count; at += team.size) {
            along += (values ? values[at] : 1.0f) * share * known[entries[at]];
        }
    }
    total = team.sum(total);
    along = team.sum(along);
    team.wait();
    if (counts && team.rank() == 0) {
        double loss = highest - along + logf(total);
        sums.loss += (double)weight * block.scale * loss;
    }
    if (!out) return;

    float scale = weight * block.scale, factor = scale / total;
    if (is_there) {
        for (u64 at = team.rank(); at < block.width; at += team.size) {
            float slope = 0.0f;
            if (counts) {
                slope = factor * expf(known[at] - highest);
                if (cells && !is_nan(cells[at])) slope -= scale * cells[at] * share;
                add_by_scales(judged, row, block.first + at, slope, sums);
            }
            out[at] = slope;
        }
    }
    team.wait();
    if (counts) {
        for (u32 at = team.rank(); at < count; at += team.size) {
            float slope = -scale * (values ? values[at] : 1.0f) * share;
            out[entries[at]] += slope;
            add_by_scales(judged, row, block.first + entries[at], slope, sums);
        }
    }
}

// Narrow rows: some lanes take one. The block of columns is blockIdx.y.
extern "C" __global__ void __launch_bounds__(256, 4)
judge_narrow_rows(JUDGED_PARAMETERS, const RowBlock *blocks, u64 first_row, u32 lanes) {
    Judged judged = JUDGED;
    RowBlock block = blocks[blockIdx.y];
    Sums sums = {};
    u32 teams = blockDim.x / lanes;
    for (u64 above = (u64)blockIdx.x * teams; above < rows; above += (u64)gridDim.x * teams) {
        u64 row = above + threadIdx.x / lanes;
        judge_row(judged, block, row, first_row + row, Lanes{lanes}, nullptr, sums);
    }
    put_sums(judged, sums);
}

// Wide rows: a thread block takes one, and keeps its scores where they are at hand if there is room
// for so many.
extern "C" __global__ void judge_wide_rows(JUDGED_PARAMETERS, const RowBlock *blocks, u64 first_row,
                                           u64 room) {
    extern __shared__ float scores_at_hand[];
    Judged judged = JUDGED;
    RowBlock block = blocks[blockIdx.y];
    Sums sums = {};
    float *held = block.width <= room ? scores_at_hand : nullptr;
    for (u64 row = blockIdx.x; row < rows; row += gridDim.x) {
        judge_row(judged, block, row, first_row + row, Everybody{blockDim.x}, held, sums);
    }
    put_sums(judged, sums);
}

// ---- What the derivative G of a decoder's scores leaves ----

// Sums over a part of the rows, blockIdx.y, of G (number 0) and of G * offset (number 1 + k), of
// those whose bits in `summed` are set:
//   partial[part, number, column] = sum over i of  G[i, column] * offset[i, column]
// `lanes` columns, a power of two, are side by side in a thread block.
extern "C" __global__ void sum_columns(const float *derivative, u64 stride, u64 rows, u64 columns,
                                       u64 part_rows, u32 lanes, u32 summed, const float *offset_0,
                                       const float *offset_1, const float *offset_2,
                                       const float *offset_3, float *partial) {
    __shared__ float parts[256];
    const float *offset[OFFSETS] = {offset_0, offset_1, offset_2, offset_3};
    u64 column = (u64)blockIdx.x * lanes + threadIdx.x % lanes;
    u64 begin = blockIdx.y * part_rows, end = min(rows, begin + part_rows);
    u32 step = blockDim.x / lanes;
#pragma unroll
    for (u32 number = 0; number < SUMS; number++) {
        if (!(summed >> number & 1)) continue;
        const float *other = number == 0 ? nullptr : offset[number - 1];
        float sum = 0.0f;
        if (column < columns) {
#pragma unroll 8
            for (u64 row = begin + threadIdx.x / lanes; row < end; row += step) {
                float own = derivative[row * stride + column];
                sum += other ? own * other[row * columns + column] : own;
            }
        }
        parts[threadIdx.x] = sum;
        __syncthreads();
        for (u32 half = blockDim.x / 2; half >= lanes; half /= 2) {
            if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x < lanes && column < columns) {
            partial[((u64)blockIdx.y * SUMS + number) * columns + column] = parts[threadIdx.x];
        }
        __syncthreads();
    }
}

// The ends of all sums. Blocks 0 to 4 add up the slots of the loss and of the derivatives by scales
// that are one number; the others add up the parts of the derivatives by bias and by scales that
// are one for each column, one column a thread.
extern "C" __global__ void finish(const double *partial, u64 slots, const float *column_partial,
                                  u64 parts, u64 columns, u32 by_column, float *loss,
                                  float *by_bias, float *by_scale_0, float *by_scale_1,
                                  float *by_scale_2, float *by_scale_3) {
    float *by_scale[OFFSETS] = {by_scale_0, by_scale_1, by_scale_2, by_scale_3};
    u64 column = ((u64)blockIdx.x - SUMS) * blockDim.x + threadIdx.x;
#pragma unroll
    for (u32 number = 0; number < SUMS; number++) {
        bool is_column = number > 0 && by_column >> (number - 1) & 1;
        float *one = number == 0 ? loss : is_column ? nullptr : by_scale[number - 1];
        float *each = number == 0 ? by_bias : is_column ? by_scale[number - 1] : nullptr;
        if (blockIdx.x == number && one) {
            double sum = 0.0;
#pragma unroll 4
            for (u64 slot = threadIdx.x; slot < slots; slot += blockDim.x) {
                sum += partial[number * slots + slot];
            }
            sum = block_sum(sum);
            if (threadIdx.x == 0) *one = (float)sum;
        }
        if (blockIdx.x >= SUMS && each && column < columns) {
            double sum = 0.0;
#pragma unroll 8
            for (u64 part = 0; part < parts; part++) {
                sum += column_partial[(part * SUMS + number) * columns + column];
            }
            each[column] = (float)sum;
        }
    }
}

// One row is blockIdx.x, so many columns blockIdx.y:  to = scale * from, zeros behind the columns of
// `from`. Without a scale it is one.
extern "C" __global__ void scale_rows(const float *from, u64 from_stride, u64 from_columns,
                                      const float *scale, u32 scale_by_column, float *to,
                                      u64 to_columns) {
    u64 row = blockIdx.x, column = (u64)blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= to_columns) return;
    float value = 0.0f;
    if (column < from_columns) {
        value = from[row * from_stride + column];
        if (scale) value *= scale[scale_by_column ? column : 0];
    }
    to[row * to_columns + column] = value;
}
