// What belongs to no operation: counting runs, and looking for numbers that are none.

extern "C" __global__ void advance(Context *context) { context->step += 1; }

// found[0] becomes the number of the step, counted from 1, whose output holds NaN or infinity, unless
// an earlier one did; found[1] is that number.
extern "C" __global__ void find_not_finite(const float *numbers, u64 count, u32 step, u32 *found) {
    GRID_STRIDE(at, count) {
        float own = numbers[at];
        if (!(fabsf(own) <= 3.402823466e38f) && atomicCAS(&found[0], 0u, step + 1u) == 0u) {
            found[1] = __float_as_uint(own);
        }
    }
}
