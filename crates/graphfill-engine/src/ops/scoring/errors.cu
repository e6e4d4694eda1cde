// How far scores are from values, by groups of columns. Some blocks share the rows of a group; a row
// has a warp if the group is wide, a thread if not.

// Groups of WIDE columns are wide. It is defined by `errors.rs`, and so are LINEAR to SHARES.

struct Group {
    u32 first;
    u32 columns;
    // How scores become values.
    u32 kind;
    // Whether roots are taken row by row.
    u32 by_row;
};

struct Scale {
    double first;
    double second;
    double third;
};

// The value of a score; of shares, given the largest score of the row and the sum of e^(score - largest).
__device__ __forceinline__ float value_of(u32 kind, Scale scale, float score, float largest, float total) {
    switch (kind) {
    case LINEAR: return (float)((double)score * scale.first);
    case EXPONENTIAL: {
        double exponent = scale.first + scale.second * (double)score;
        // A score that is no number stays none.
        if (exponent != exponent) return (float)exponent;
        return (float)expm1(fmin(fmax(exponent, 0.0), scale.third));
    }
    case PROBABILITY: return 1.0f / (1.0f + expf(-score));
    default: return expf(score - largest) / total;
    }
}

// Block `group * portions + portion`:  partial = sum over its rows of
//   sum (value - truth)^2, or sqrt(mean (value - truth)^2), over the cells of the group that have a truth
// scores and truth: rows x columns.
extern "C" __global__ void add_errors(const float *scores, const float *truth, u64 rows, u64 columns,
                                      const Group *groups, const Scale *scales, u32 group_count,
                                      u32 portions, double *partial) {
    u32 number = blockIdx.x / portions, portion = blockIdx.x % portions;
    // The same for all threads of the block.
    if (number >= group_count) return;
    Group group = groups[number];
    Scale scale = scales[number];
    u32 lanes = group.columns >= WIDE ? WARP : 1, lane = threadIdx.x % lanes;
    u64 together = blockDim.x / lanes;
    double sum = 0.0;
    // With a warp a row, all of its lanes have the same rows.
    for (u64 row = portion * together + threadIdx.x / lanes; row < rows; row += portions * together) {
        const float *own = scores + row * columns + group.first;
        const float *told = truth + row * columns + group.first;
        float largest = -3.402823466e38f, total = 0.0f;
        if (group.kind == SHARES) {
            for (u32 column = lane; column < group.columns; column += lanes) {
                largest = fmaxf(largest, own[column]);
            }
            if (lanes == WARP) largest = warp_most(largest);
            for (u32 column = lane; column < group.columns; column += lanes) {
                total += expf(own[column] - largest);
            }
            if (lanes == WARP) total = warp_sum(total);
        }
        double squares = 0.0;
        u32 count = 0;
        for (u32 column = lane; column < group.columns; column += lanes) {
            if (is_nan(told[column])) continue;
            float value = value_of(group.kind, scale, own[column], largest, total);
            double difference = (double)value - (double)told[column];
            squares += difference * difference;
            count += 1;
        }
        if (lanes == WARP) {
            __syncwarp();
            squares = warp_sum(squares);
            count = warp_sum(count);
        }
        if (lane == 0) {
            if (group.by_row) squares = count ? sqrt(squares / count) : 0.0;
            sum += squares;
        }
    }
    __syncwarp();
    sum = block_sum(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}

// One block a group:  out = sum over portions, or its root
extern "C" __global__ void sum_errors(const double *partial, const Group *groups, u32 group_count,
                                      u32 portions, float *out) {
    u32 number = blockIdx.x;
    if (number >= group_count) return;
    double sum = 0.0;
    for (u32 portion = threadIdx.x; portion < portions; portion += blockDim.x) {
        sum += partial[(u64)number * portions + portion];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[number] = (float)(groups[number].by_row ? sum : sqrt(sum));
}
