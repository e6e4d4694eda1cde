// Adam:  m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,
//        p <- p - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon)
// in one pass over p, m, v and g, four numbers at a time. t is the number of the run, counted from 1.

struct Adam {
    // The learning rate: from `from` to `to` along half a wave of the cosine, in so many steps; the
    // same in every step where there are none.
    float from;
    float to;
    u64 steps;
    float first_decay;
    float second_decay;
    float epsilon;
    // What of the parameter its gradient gets, and what of it goes by itself.
    float coupled;
    float decoupled;
};

struct Factors {
    float gradient_scale;
    float coupled;
    float keep;
    float first_old;
    float first_new;
    float second_old;
    float second_new;
    // rate / (1 - b1^t)
    float length;
    // 1 / sqrt(1 - b2^t)
    float root;
    float epsilon;
};

__device__ __forceinline__ Factors factors_of(Adam adam, u64 step, float gradient_scale) {
    float rate = adam.to;
    if (step < adam.steps) {
        double share = (1.0 + cospi((double)step / (double)adam.steps)) / 2.0;
        rate = (float)((double)adam.to + ((double)adam.from - (double)adam.to) * share);
    }
    double first = adam.first_decay, second = adam.second_decay, count = (double)(step + 1);
    return Factors{gradient_scale,
                   adam.coupled,
                   1.0f - rate * adam.decoupled,
                   adam.first_decay,
                   (float)(1.0 - first),
                   adam.second_decay,
                   (float)(1.0 - second),
                   (float)((double)rate / (1.0 - pow(first, count))),
                   (float)(1.0 / sqrt(1.0 - pow(second, count))),
                   adam.epsilon};
}

// Moments that shrink to the smallest numbers there are mean 0.
__device__ __forceinline__ float without_subnormals(float x) {
    return fabsf(x) < 1.17549435e-38f ? 0.0f : x;
}

__device__ __forceinline__ void update(Factors with, float &parameter, float &first, float &second,
                                       float gradient) {
    gradient = gradient * with.gradient_scale + parameter * with.coupled;
    float mean = first * with.first_old + gradient * with.first_new;
    float square = second * with.second_old + gradient * gradient * with.second_new;
    first = without_subnormals(mean);
    second = without_subnormals(square);
    parameter = parameter * with.keep - with.length * mean / (sqrtf(square) * with.root + with.epsilon);
}

extern "C" __global__ void adam(const Context *context, float from, float to, u64 steps,
                                float first_decay, float second_decay, float epsilon, float coupled,
                                float decoupled, const float *gradient_scale, float4 *parameter,
                                float4 *first, float4 *second, const float4 *gradient, u64 quads) {
    __shared__ Factors shared;
    if (threadIdx.x == 0) {
        Adam settings = {from, to, steps, first_decay, second_decay, epsilon, coupled, decoupled};
        shared = factors_of(settings, context->step, gradient_scale ? *gradient_scale : 1.0f);
    }
    __syncthreads();
    Factors with = shared;
    GRID_STRIDE(at, quads) {
        float4 p = parameter[at], m = first[at], v = second[at], g = gradient[at];
        update(with, p.x, m.x, v.x, g.x);
        update(with, p.y, m.y, v.y, g.y);
        update(with, p.z, m.z, v.z, g.z);
        update(with, p.w, m.w, v.w, g.w);
        parameter[at] = p;
        first[at] = m;
        second[at] = v;
    }
}
