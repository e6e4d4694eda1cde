// out = x transposed, a tile of 32 x 32 numbers a block.

extern "C" __global__ void transpose(const float *x, float *out, u32 rows, u32 columns) {
    __shared__ float tile[32][33];
    u32 lane = threadIdx.x % 32, first = threadIdx.x / 32;
    u32 row = blockIdx.y * 32, column = blockIdx.x * 32;
    for (u32 at = first; at < 32; at += 8) {
        if (row + at < rows && column + lane < columns) {
            tile[at][lane] = x[(u64)(row + at) * columns + column + lane];
        }
    }
    __syncthreads();
    for (u32 at = first; at < 32; at += 8) {
        if (column + at < columns && row + lane < rows) {
            out[(u64)(column + at) * rows + row + lane] = tile[lane][at];
        }
    }
}
