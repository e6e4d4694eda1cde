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

// e^x, never infinite: e^88.3 above that.
__device__ __forceinline__ float finite_exp(float x) { return expf(fminf(x, 88.3f)); }

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + finite_exp(-x)); }

// ln(1 + e^s), which neither overflows nor loses digits, and its slope.
__device__ __forceinline__ float softplus(float s, float *slope) {
    float small = expf(-fabsf(s));
    float share = 1.0f / (1.0f + small);
    *slope = s >= 0.0f ? share : small * share;
    return fmaxf(s, 0.0f) + log1pf(small);
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
#define KEEP_DRAWS 8
#define KEEP_GROUP 128

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
