// The sums of sparse rows:  sum(row) = sum over entries of value * dense[column, :]
//
// A group of lanes takes one row and a strip of the dense matrix's columns, four of them a lane where
// rows are aligned (`float4`), one elsewhere. Strips come in the second direction of the grid: the
// rows of one strip may stay in the cache while all rows of the result gather from them. Rows with
// more than LONG_ROW entries (defined by `sparse.rs`) are left to pieces, each of which is summed like a
// row of its own.

template <typename V> __device__ __forceinline__ void add_scaled(V &sum, float value, const V &other);

template <> __device__ __forceinline__ void add_scaled(float &sum, float value, const float &other) {
    sum = fmaf(value, other, sum);
}

template <> __device__ __forceinline__ void add_scaled(float4 &sum, float value, const float4 &other) {
    sum.x = fmaf(value, other.x, sum.x);
    sum.y = fmaf(value, other.y, sum.y);
    sum.z = fmaf(value, other.z, sum.z);
    sum.w = fmaf(value, other.w, sum.w);
}

template <typename V> __device__ __forceinline__ V nothing();
template <> __device__ __forceinline__ float nothing<float>() { return 0.0f; }
template <> __device__ __forceinline__ float4 nothing<float4>() { return make_float4(0, 0, 0, 0); }

struct Sparse {
    const u32 *offsets;
    const u32 *columns;
    // Null where every entry is one.
    const float *values;
};

// The sum over some entries, of the columns at `at` of rows that are `width` vectors long.
template <typename V>
__device__ __forceinline__ V sum_of_entries(const u32 *columns, const float *values, u32 begin, u32 end,
                                            const V *dense, u64 width, u64 at) {
    V sum = nothing<V>();
    u32 entry = begin;
    // Eight rows on their way at a time.
    for (; entry + 8 <= end; entry += 8) {
        V other[8];
        float value[8];
#pragma unroll
        for (int k = 0; k < 8; k++) other[k] = __ldg(&dense[columns[entry + k] * width + at]);
#pragma unroll
        for (int k = 0; k < 8; k++) value[k] = values ? values[entry + k] : 1.0f;
#pragma unroll
        for (int k = 0; k < 8; k++) add_scaled(sum, value[k], other[k]);
    }
    for (; entry + 2 <= end; entry += 2) {
        V first = __ldg(&dense[columns[entry] * width + at]);
        V second = __ldg(&dense[columns[entry + 1] * width + at]);
        add_scaled(sum, values ? values[entry] : 1.0f, first);
        add_scaled(sum, values ? values[entry + 1] : 1.0f, second);
    }
    if (entry < end) {
        add_scaled(sum, values ? values[entry] : 1.0f, __ldg(&dense[columns[entry] * width + at]));
    }
    return sum;
}

// Eight numbers of 16 bits, and eight sums.
struct Eight {
    float4 low;
    float4 high;
};

__device__ __forceinline__ float2 both_halves(u32 packed) {
    float2 both;
    asm("{.reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high;}"
        : "=f"(both.x), "=f"(both.y)
        : "r"(packed));
    return both;
}

__device__ __forceinline__ void add_halves(Eight &sum, float value, uint4 packed) {
    float2 first = both_halves(packed.x), second = both_halves(packed.y);
    float2 third = both_halves(packed.z), fourth = both_halves(packed.w);
    add_scaled(sum.low, value, make_float4(first.x, first.y, second.x, second.y));
    add_scaled(sum.high, value, make_float4(third.x, third.y, fourth.x, fourth.y));
}

// The sum over some entries, of the columns at `at` of halved rows that are `width` times eight long.
__device__ __forceinline__ Eight sum_of_halves(const u32 *columns, const float *values, u32 begin, u32 end,
                                               const uint4 *halves, const float *scales, u64 width,
                                               u64 at) {
    Eight sum = {nothing<float4>(), nothing<float4>()};
    u32 entry = begin;
    for (; entry + 4 <= end; entry += 4) {
        uint4 other[4];
        float value[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 column = columns[entry + k];
            other[k] = __ldg(&halves[column * width + at]);
            value[k] = (values ? values[entry + k] : 1.0f) * scales[column];
        }
#pragma unroll
        for (int k = 0; k < 4; k++) add_halves(sum, value[k], other[k]);
    }
    for (; entry < end; entry++) {
        u32 column = columns[entry];
        float value = (values ? values[entry] : 1.0f) * scales[column];
        add_halves(sum, value, __ldg(&halves[column * width + at]));
    }
    return sum;
}

// A piece of a long row.
struct Piece {
    u32 row;
    u32 begin;
    u32 end;
    // Of the first piece of a row: how many there are. 0 elsewhere.
    u32 pieces;
};

// partial[piece, :] = the sum over its entries.
template <typename V>
__device__ __forceinline__ void sum_pieces(const u32 *columns, const float *values, const Piece *pieces,
                                           u32 count, const V *dense, u64 width, V *partial, u32 lanes) {
    u32 piece = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    u64 at = (u64)blockIdx.y * lanes + threadIdx.x % lanes;
    if (piece >= count || at >= width) return;
    Piece own = pieces[piece];
    partial[piece * width + at] =
        sum_of_entries(columns, values, own.begin, own.end, dense, width, at);
}
