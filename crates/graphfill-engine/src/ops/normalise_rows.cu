// Rows of unit length, and the gradient:
//   out[i, :] = x[i, :] / |x[i, :]|        out = (gradient - unit * <unit, gradient>) / length
// Neighbouring lanes take a row together. The rows may be written over those they are made from:
// all of a row has been read before any of it is written, and is then read again by who writes it.

// Rows that are shorter than MIN_LENGTH (defined by `normalise_rows.rs`) count as zero.

__device__ __forceinline__ float4 times(float4 x, float scale) {
    return float4{x.x * scale, x.y * scale, x.z * scale, x.w * scale};
}

// Writes the normal numbers of a row, which has its own part of the sequence, and returns the sum of
// the squares of those that this lane wrote.
__device__ __noinline__ float draw_row(Context run, u32 stream, u64 row, u32 columns, u32 lanes,
                                       float *out) {
    u32 groups = (columns + 63) / 64;
    float squares = 0.0f;
    for (u32 counter = threadIdx.x % lanes; counter < 16 * groups; counter += lanes) {
        float drawn[4];
        normals(run, stream, (u32)(row * groups) * 16 + counter, drawn);
#pragma unroll
        for (u32 k = 0; k < 4; k++) {
            u32 at = counter / 16 * 64 + 16 * k + counter % 16;
            if (at < columns) {
                out[at] = drawn[k];
                squares += drawn[k] * drawn[k];
            }
        }
    }
    return squares;
}

// A row of zeros gets a random direction, and 0 as its length.
extern "C" __global__ void normalise_rows(const Context *context, u32 stream, const float *x,
                                          float *out, float *lengths, u64 rows, u32 columns,
                                          u32 lanes) {
    u32 lane = threadIdx.x % lanes;
    u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    bool there = row < rows;
    const float *own = x + row * columns;
    float *unit = out + row * columns;
    float length = sqrtf(row_dot(own, own, there ? columns : 0, lanes));
    bool is_zero = there && length < MIN_LENGTH;
    float squares = is_zero ? draw_row(*context, stream, row, columns, lanes, unit) : 0.0f;
    // What the lanes have drawn, they now read of each other.
    __syncwarp();
    squares = lanes_sum(squares, lanes);
    if (!there) return;
    if (is_zero) {
        length = 0.0f;
        own = unit;
        // All zeros is next to impossible, but has no direction either.
        if (squares == 0.0f) {
            for (u32 at = lane; at < columns; at += lanes) unit[at] = at == 0 ? 1.0f : 0.0f;
            squares = 1.0f;
        }
    }
    float scale = 1.0f / (is_zero ? sqrtf(squares) : length);
    if (columns % 4 == 0 && !is_zero) {
        const float4 *from = (const float4 *)own;
        float4 *to = (float4 *)unit;
        for (u32 at = lane; at < columns / 4; at += lanes) to[at] = times(from[at], scale);
    } else {
        for (u32 at = lane; at < columns; at += lanes) unit[at] = own[at] * scale;
    }
    if (lengths && lane == 0) lengths[row] = length;
}

// A row that was zeros has no gradient.
extern "C" __global__ void normalise_rows_gradient(const float *gradient, const float *unit,
                                                   const float *lengths, float *out, u64 rows,
                                                   u32 columns, u32 lanes) {
    u32 lane = threadIdx.x % lanes;
    u64 row = ((u64)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    bool there = row < rows;
    const float *own = gradient + row * columns, *direction = unit + row * columns;
    float *to = out + row * columns;
    float along = row_dot(own, direction, there ? columns : 0, lanes);
    if (!there) return;
    float length = lengths[row], scale = length == 0.0f ? 0.0f : 1.0f / length;
    if (columns % 4 == 0) {
        const float4 *fours = (const float4 *)own, *directions = (const float4 *)direction;
        for (u32 at = lane; at < columns / 4; at += lanes) {
            ((float4 *)to)[at] = times(plus_scaled(fours[at], -along, directions[at]), scale);
        }
    } else {
        for (u32 at = lane; at < columns; at += lanes) {
            to[at] = (own[at] - direction[at] * along) * scale;
        }
    }
}
