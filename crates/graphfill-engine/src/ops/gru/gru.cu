// Gated recurrent units at one time, the products with the states being known: one thread for each
// row of the batch and unit. Gates are side by side, r | z | n, 3 * hidden columns.

// Where the gates of an element of a batch * hidden matrix are.
__device__ __forceinline__ u64 gate_of(u64 at, u32 hidden, u32 *unit) {
    Cell cell = cell_of(at, hidden);
    *unit = cell.column;
    return cell.row * 3 * hidden + cell.column;
}

//   r = sigmoid(x_r + h W_r + b_r)        z = sigmoid(x_z + h W_z + b_z)
//   q = h W_n + b_n                       n = tanh(x_n + r * q)
//   h' = (1 - z) * n + z * h
// `products` is h W and `previous` is h; null where h is zeros. `gates` gets r | z | n and may be
// where the products are; it and `inner`, which gets q, are null where nobody wants them.
extern "C" __global__ void gru_forward(const float *input, const float *bias, const float *products,
                                       const float *previous, float *gates, float *inner,
                                       float *states, u32 hidden, u64 count) {
    GRID_STRIDE(at, count) {
        u32 unit;
        u64 gate = gate_of(at, hidden, &unit);
        float product[3];
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            float known = products ? products[gate + k * hidden] : 0.0f;
            product[k] = known + bias[unit + k * hidden];
        }
        float reset = sigmoid(input[gate] + product[0]);
        float update = sigmoid(input[gate + hidden] + product[1]);
        float fresh = tanhf(input[gate + 2 * hidden] + reset * product[2]);
        float state = (1.0f - update) * fresh;
        if (previous) state += update * previous[at];
        states[at] = state;
        if (gates) {
            gates[gate] = reset;
            gates[gate + hidden] = update;
            gates[gate + 2 * hidden] = fresh;
        }
        if (inner) inner[at] = product[2];
    }
}

// The gradient, with g that of h':
//   dn = g * (1 - z) * (1 - n^2)        dz = g * (h - n) * z * (1 - z)
//   dr = dn * q * r * (1 - r)           dq = dn * r
//   by_input = dr | dz | dn             products = dr | dz | dq
// `carry` comes as what later times ask of h', `has_carry` telling whether there are any, and
// becomes g * z; the products with the weight are added to it later. `previous` is h, null where it
// is zeros.
extern "C" __global__ void gru_backward(const float *upstream, const float *previous,
                                        const float *gates, const float *inner, u32 has_carry,
                                        float *carry, float *products, float *by_input, u32 hidden,
                                        u64 count) {
    GRID_STRIDE(at, count) {
        u32 unit;
        u64 gate = gate_of(at, hidden, &unit);
        float r = gates[gate], z = gates[gate + hidden], n = gates[gate + 2 * hidden];
        float gradient = upstream[at] + (has_carry ? carry[at] : 0.0f);
        float before = previous ? previous[at] : 0.0f;
        float by_new = gradient * (1.0f - z) * (1.0f - n * n);
        float by_reset = by_new * inner[at] * (r * (1.0f - r));
        float by_update = gradient * (z * (1.0f - z)) * (before - n);
        carry[at] = gradient * z;
        products[gate] = by_reset;
        products[gate + hidden] = by_update;
        products[gate + 2 * hidden] = by_new * r;
        if (by_input) {
            by_input[gate] = by_reset;
            by_input[gate + hidden] = by_update;
            by_input[gate + 2 * hidden] = by_new;
        }
    }
}
