// Logistic loss of logits that all have one label, and its derivative by them:
//   partial[block] = sum of ln(1 + e^(sign * x))        derivative = sign * sigmoid(sign * x) * share
// The sign is 1 where the label is zero, -1 where it is one. Either may be unwanted.

extern "C" __global__ void binary_loss(const float4 *logits, u64 count, float sign, float share,
                                       double *partial, float4 *derivative) {
    double sum = 0.0;
    GRID_STRIDE(quad, (count + 3) / 4) {
        float4 own = logits[quad], slope;
        u64 rest = count - 4 * quad;
        sum += softplus(sign * own.x, &slope.x);
        // Behind the last logit there may be anything.
        float second = softplus(sign * own.y, &slope.y);
        float third = softplus(sign * own.z, &slope.z);
        float fourth = softplus(sign * own.w, &slope.w);
        if (rest > 1) sum += second;
        if (rest > 2) sum += third;
        if (rest > 3) sum += fourth;
        float factor = sign * share;
        if (derivative) {
            derivative[quad] = make_float4(factor * slope.x, factor * slope.y, factor * slope.z,
                                           factor * slope.w);
        }
    }
    if (partial) {
        sum = block_sum(sum);
        if (threadIdx.x == 0) partial[blockIdx.x] = sum;
    }
}
