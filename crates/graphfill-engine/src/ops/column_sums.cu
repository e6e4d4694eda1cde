// Sums of columns, each row being weighed or not:
//   out[p, k] = sum over the rows i of portion p of  x[i, k]   or   factors[i, head of k] * x[i, k]
// A block has `lanes` neighbouring columns of one portion; its threads take the rows in strides and
// add their sums by halves. The sums of all portions are summed by a second launch, in order. T is
// one number or four neighbouring ones; columns are counted in it. `lanes` and the number of threads
// are powers of two.

// MAX_THREADS is defined by `column_sums.rs`.

// Rows that a thread reads before it adds the first of them.
#define BATCH 8

template <bool WEIGHED, typename T>
__device__ __forceinline__ void sum_columns(const T *x, const float *factors, u32 heads, u64 rows,
                                            u32 columns, u32 lanes, u64 portion, T *out) {
    __shared__ T parts[MAX_THREADS];
    u32 column = blockIdx.x * lanes + threadIdx.x % lanes;
    u64 first = blockIdx.y * portion, end = first + portion < rows ? first + portion : rows;
    T sum{};
    if (column < columns) {
        u32 head = WEIGHED ? column / (columns / heads) : 0, stride = blockDim.x / lanes;
        for (u64 row = first + threadIdx.x / lanes; row < end; row += BATCH * stride) {
            T own[BATCH];
            float factor[BATCH];
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                u64 other = row + k * stride;
                own[k] = other < end ? x[other * columns + column] : T{};
                if (WEIGHED) factor[k] = other < end ? factors[other * heads + head] : 0.0f;
            }
#pragma unroll
            for (u32 k = 0; k < BATCH; k++) {
                sum = WEIGHED ? plus_scaled(sum, factor[k], own[k]) : plus(sum, own[k]);
            }
        }
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (u32 half = blockDim.x / 2; half >= lanes; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] = plus(parts[threadIdx.x], parts[threadIdx.x + half]);
        }
        __syncthreads();
    }
    if (threadIdx.x < lanes && column < columns) {
        out[(u64)blockIdx.y * columns + column] = parts[threadIdx.x];
    }
}

#define KERNEL(name, T, WEIGHED)                                                                 \
    extern "C" __global__ void __launch_bounds__(MAX_THREADS, 1)                                 \
        name(const T *x, const float *factors, u32 heads, u64 rows, u32 columns, u32 lanes,      \
             u64 portion, T *out) {                                                              \
        sum_columns<WEIGHED>(x, factors, heads, rows, columns, lanes, portion, out);             \
    }

KERNEL(column_sums, float, false)
KERNEL(column_sums_fours, float4, false)
KERNEL(weighed_column_sums, float, true)
KERNEL(weighed_column_sums_fours, float4, true)
