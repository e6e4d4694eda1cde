// Columns side by side, and some of them:
//   concatenate: out = [x_0 | x_1 | ...]        slice: out = x[:, begin .. begin + columns]
// Four numbers at a time where all widths are multiples of four; then columns are counted in fours.

// MAX_INPUTS is defined by `columns.rs`.

#define PARAMETERS(T)                                                                     \
    const T *x0, const T *x1, const T *x2, const T *x3, const T *x4, const T *x5,         \
        const T *x6, const T *x7, const T *x8, const T *x9, const T *x10, const T *x11,   \
        u32 begin0, u32 begin1, u32 begin2, u32 begin3, u32 begin4, u32 begin5,           \
        u32 begin6, u32 begin7, u32 begin8, u32 begin9, u32 begin10, u32 begin11, T *out, \
        u32 columns, u64 count

#define ARRAYS(T)                                                                            \
    const T *const x[MAX_INPUTS] = {x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11};      \
    const u32 begins[MAX_INPUTS + 1] = {begin0, begin1, begin2,  begin3,  begin4, begin5, begin6, \
                                         begin7, begin8, begin9, begin10, begin11, columns};

// Inputs that there are not begin behind the last column.
template <typename T>
__device__ __forceinline__ void put_side_by_side(const T *const (&x)[MAX_INPUTS],
                                                 const u32 (&begins)[MAX_INPUTS + 1], T *out,
                                                 u32 columns, u64 count) {
    GRID_STRIDE(at, count) {
        Cell cell = cell_of(at, columns);
        const T *from = x[0];
        u32 begin = 0, end = begins[1];
#pragma unroll
        for (u32 input = 1; input < MAX_INPUTS; input++) {
            if (cell.column >= begins[input]) {
                from = x[input];
                begin = begins[input];
                end = begins[input + 1];
            }
        }
        out[at] = from[cell.row * (end - begin) + (cell.column - begin)];
    }
}

extern "C" __global__ void concatenate(PARAMETERS(float)) {
    ARRAYS(float)
    put_side_by_side(x, begins, out, columns, count);
}

extern "C" __global__ void concatenate_fours(PARAMETERS(float4)) {
    ARRAYS(float4)
    put_side_by_side(x, begins, out, columns, count);
}

template <typename T>
__device__ __forceinline__ void take_columns(const T *x, u32 width, u32 begin, T *out, u32 columns,
                                             u64 count) {
    GRID_STRIDE(at, count) {
        Cell cell = cell_of(at, columns);
        out[at] = x[cell.row * width + begin + cell.column];
    }
}

extern "C" __global__ void slice_columns(const float *x, u32 width, u32 begin, float *out,
                                         u32 columns, u64 count) {
    take_columns(x, width, begin, out, columns, count);
}

extern "C" __global__ void slice_columns_fours(const float4 *x, u32 width, u32 begin, float4 *out,
                                               u32 columns, u64 count) {
    take_columns(x, width, begin, out, columns, count);
}
