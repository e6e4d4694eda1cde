// What is done to a number right after it was computed; see `finish.rs`:
//   x <- x + row[column]      x <- f(x), or x * slope of f      x <- own * x + weight * other

// RELU to TANH and NO_FUNCTION are defined by `finish.rs`.

__device__ __forceinline__ float value_of(u32 kind, float leak, float x) {
    switch (kind) {
    // NaN stays NaN, which fmaxf would turn into 0.
    case RELU: return x <= 0.0f ? 0.0f : x;
    case LEAKY_RELU: return x > 0.0f ? x : leak * x;
    case ELU: return x > 0.0f ? x : expm1f(x);
    case EXP: return finite_exp(x);
    case SIGMOID: return sigmoid(x);
    default: return tanhf(x);
    }
}

// The slope, told by the value.
__device__ __forceinline__ float slope_of(u32 kind, float leak, float value) {
    switch (kind) {
    case RELU: return value <= 0.0f ? 0.0f : 1.0f;
    case LEAKY_RELU: return value > 0.0f ? 1.0f : leak;
    case ELU: return value > 0.0f ? 1.0f : value + 1.0f;
    case EXP: return value;
    case SIGMOID: return value * (1.0f - value);
    default: return 1.0f - value * value;
    }
}

// The parameters of a kernel that finishes, and what it makes of them.
#define FINISH_PARAMETERS                                                                             \
    const float *finish_row, u32 finish_kind, float finish_leak, const float *finish_slope,           \
        float finish_own, const float *finish_other, float finish_weight
#define FINISH                                                                                        \
    Finish { finish_row, finish_kind, finish_leak, finish_slope, finish_own, finish_other, finish_weight }

struct Finish {
    const float *row;
    u32 kind;
    float leak;
    const float *slope;
    float own;
    const float *other;
    float weight;

    __device__ __forceinline__ float function(float x, u64 at) const {
        if (slope) return x * slope_of(kind, leak, slope[at]);
        return kind == NO_FUNCTION ? x : value_of(kind, leak, x);
    }

    // The number at that place and in that column.
    __device__ __forceinline__ float operator()(float x, u64 at, u64 column) const {
        if (row) x += row[column];
        x = function(x, at);
        return other ? own * x + weight * other[at] : own * x;
    }

    // Four neighbours from a place that is a multiple of four on: `at` and `column` count fours.
    __device__ __forceinline__ float4 operator()(float4 x, u64 at, u64 column) const {
        if (row) {
            float4 added = reinterpret_cast<const float4 *>(row)[column];
            x = make_float4(x.x + added.x, x.y + added.y, x.z + added.z, x.w + added.w);
        }
        if (slope) {
            float4 told = reinterpret_cast<const float4 *>(slope)[at];
            x.x *= slope_of(kind, leak, told.x);
            x.y *= slope_of(kind, leak, told.y);
            x.z *= slope_of(kind, leak, told.z);
            x.w *= slope_of(kind, leak, told.w);
        } else if (kind != NO_FUNCTION) {
            x.x = value_of(kind, leak, x.x);
            x.y = value_of(kind, leak, x.y);
            x.z = value_of(kind, leak, x.z);
            x.w = value_of(kind, leak, x.w);
        }
        if (other) {
            float4 second = reinterpret_cast<const float4 *>(other)[at];
            return make_float4(own * x.x + weight * second.x, own * x.y + weight * second.y,
                               own * x.z + weight * second.z, own * x.w + weight * second.w);
        }
        return make_float4(own * x.x, own * x.y, own * x.z, own * x.w);
    }
};
