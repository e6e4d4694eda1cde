// Scaling by learnt numbers:  out[i, k] = s * x[i, k],  s[i] * x[i, k]  or  s[k] * x[i, k]. Four
// numbers at a time, which may be of two rows or more: buffers are padded to whole lines.

__device__ __forceinline__ float4 times(float4 a, float4 b) {
    return float4{a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

extern "C" __global__ void scale_by(const float4 *x, const float *factor, float4 *out, u64 quads) {
    float own = *factor;
    GRID_STRIDE(at, quads) out[at] = times(x[at], float4{own, own, own, own});
}

extern "C" __global__ void scale_columns(const float4 *x, const float *factors, float4 *out,
                                         u32 columns, u64 quads) {
    GRID_STRIDE(at, quads) {
        out[at] = times(x[at], four_of_row(factors, cell_of(4 * at, columns).column, columns));
    }
}

extern "C" __global__ void scale_rows(const float4 *x, const float *factors, float4 *out, u64 rows,
                                      u32 columns, u64 quads) {
    GRID_STRIDE(at, quads) {
        Cell cell = cell_of(4 * at, columns);
        float own[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            // Behind the last row is padding.
            own[k] = factors[cell.row < rows ? cell.row : rows - 1];
            if (++cell.column == columns) cell = Cell{cell.row + 1, 0};
        }
        out[at] = times(x[at], float4{own[0], own[1], own[2], own[3]});
    }
}
