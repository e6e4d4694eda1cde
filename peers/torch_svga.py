"""One training update of SVGA: graphfill against PyTorch on the CPU, taking turns.

    python3 peers/torch_svga.py [--shape cora] [--turns 5] [--no-build]
    python3 peers/torch_svga.py --torch-only [--shape cora]
    python3 peers/torch_svga.py --check

The graph and the features are random, of a published data set's size. PyTorch's update is timed as
one writes it (autograd, CSR products, observed rows only, fused Adam), and as one could write it
with weeks to spare: gradients by hand, no copies, buffers made once, dropout from single bits.

Prints, for each turn, the milliseconds of an update and the rate of a large matrix product; then
the medians, the ratios, and the share of the machine's rate (the higher of the two) that each
reaches. A turn in which other programs took the processor is marked and left out. `--check`
compares both forms with a dense one in double precision on a small graph.
"""

import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

import environment

environment.run_inside(["numpy", "torch"])

import warnings  # noqa: E402

warnings.filterwarnings("ignore")

import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

OBSERVED = 0.4  # the share of the nodes whose features are known
HIDDEN_DROPOUT = 0.5
FEW = 0.1  # below this share of ones, the loss treats them one by one


class Shape(NamedTuple):
    nodes: int
    edges: int  # undirected
    features: int
    hidden: int
    ones: int  # in each row of features; 0 where they are continuous
    unit: bool  # whether the rows of Z have length 1
    bias: bool  # whether the decoder has one
    dropout: float  # before the decoder
    strength: float  # lambda
    beta: float
    rate: float


SHAPES = {
    "cora": Shape(2708, 5429, 1433, 256, 18, True, False, 0.5, 1, 0.1, 1e-3),
    "citeseer": Shape(3327, 4732, 3703, 256, 32, True, False, 0.5, 0.1, 0.1, 1e-3),
    "photo": Shape(7650, 119081, 745, 256, 259, True, False, 0.5, 0.1, 0.1, 1e-3),
    "computers": Shape(13752, 245861, 767, 256, 267, True, False, 0.5, 0.1, 0.1, 1e-3),
    "steam": Shape(9944, 266981, 352, 256, 11, False, True, 0, 1, 0.1, 5e-3),
    "pubmed": Shape(19717, 44324, 500, 512, 0, True, False, 0.5, 0.01, 1, 1e-3),
    "coauthor": Shape(18333, 81894, 6805, 512, 0, False, True, 0, 0.01, 0.1, 1e-3),
    "arxiv": Shape(169343, 1157799, 128, 512, 0, True, False, 0, 0.1, 1, 1e-3),
}


class Data:
    """A random graph and features. The observed nodes come first, so that their rows are a slice."""

    def __init__(self, shape, dtype=torch.float32):
        nodes = shape.nodes
        generator = torch.Generator().manual_seed(0)
        pairs = torch.randint(nodes, (2, shape.edges * 5 // 4 + 10), generator=generator).sort(0).values
        pairs = pairs[:, pairs[0] != pairs[1]]
        keys = torch.unique(pairs[0] * nodes + pairs[1])
        keys = keys[torch.randperm(len(keys), generator=generator)[: shape.edges]]
        first, second = keys // nodes, keys % nodes
        degrees = torch.bincount(torch.cat([first, second]), minlength=nodes).to(dtype)
        row, column = torch.cat([first, second]), torch.cat([second, first])
        root = torch.where(degrees > 0, degrees.rsqrt(), 0)
        self.smooth = compressed(row, column, root[row] * root[column], nodes)
        loops = torch.arange(nodes)
        row, column = torch.cat([row, loops]), torch.cat([column, loops])
        root = (degrees + 1).rsqrt()
        self.average = compressed(row, column, root[row] * root[column], nodes)

        rows = int(nodes * OBSERVED)
        values = torch.rand(rows, shape.features, generator=generator)
        if shape.ones:
            places = values.topk(shape.ones, dim=1).indices
            values = torch.zeros_like(values).scatter_(1, places, 1)
        self.features = values.to(dtype)
        share = shape.ones / shape.features
        self.weight_of_ones = 1 / (2 * share) if shape.ones else None
        self.weight_of_zeros = 1 / (2 * (1 - share)) if shape.ones else None

    def weights(self):
        return torch.where(self.features > 0, self.weight_of_ones, self.weight_of_zeros).to(self.features.dtype)

    def to(self, device):
        """Moves everything to a device."""
        self.smooth, self.average = self.smooth.to(device), self.average.to(device)
        self.features = self.features.to(device)
        return self


def compressed(row, column, values, nodes):
    pairs = torch.sparse_coo_tensor(torch.stack([row, column]), values, (nodes, nodes))
    return pairs.coalesce().to_sparse_csr()


def initial_parameters(shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(1)

    def uniform(rows, columns, limit):
        return ((torch.rand(rows, columns, generator=generator) * 2 - 1) * limit).to(dtype)

    hidden = shape.hidden
    parameters = [
        uniform(shape.nodes, hidden, math.sqrt(6 / (shape.nodes + hidden))),
        torch.zeros(hidden, dtype=dtype),
        uniform(hidden, hidden, math.sqrt(6 / (hidden + hidden))),
        torch.zeros(hidden, dtype=dtype),
        uniform(shape.features, hidden, 1 / math.sqrt(hidden)),
    ]
    if shape.bias:
        parameters.append(torch.zeros(shape.features, dtype=dtype))
    return parameters


class Plain:
    """The update as one writes it. The matrices may be sparse or dense, of any type."""

    def __init__(self, shape, data, parameters, dropout=True):
        self.shape, self.data, self.dropout = shape, data, dropout
        self.parameters = [parameter.requires_grad_() for parameter in parameters]
        self.weights = data.weights() if shape.ones else None
        self.identity = torch.eye(shape.hidden, dtype=parameters[0].dtype, device=parameters[0].device)
        self.optimiser = torch.optim.Adam(self.parameters, lr=shape.rate, fused=True)

    def loss(self):
        shape, data = self.shape, self.data
        first, first_bias, second, second_bias, decoder, *decoder_bias = self.parameters
        hidden = F.dropout(torch.relu(data.average @ first + first_bias), HIDDEN_DROPOUT, self.dropout)
        z = data.average @ (hidden @ second.T) + second_bias
        if shape.unit:
            z = F.normalize(z)
        observed = F.dropout(z[: len(data.features)], shape.dropout, self.dropout)
        scores = F.linear(observed, decoder, *decoder_bias)
        if shape.ones:
            misfit = F.binary_cross_entropy_with_logits(scores, data.features, self.weights)
        else:
            misfit = F.mse_loss(scores, data.features)
        roughness = (z * (z - data.smooth @ z)).sum()
        volume = torch.logdet(self.identity + z.T @ z / shape.beta)
        return misfit + shape.strength / shape.nodes * (roughness - volume / 2)

    def gradients(self):
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.loss()
        loss.backward()
        return loss.detach()

    def update(self):
        loss = self.gradients()
        self.optimiser.step()
        return loss


class Coins:
    """Zeros and twos, equally likely: what a dropout of a half multiplies by.

    `F.dropout` draws one number for each value, in one thread; this takes sixteen bits of each draw
    and moves them to where a bit by itself makes the 32-bit number 2.
    """

    BITS = 16
    TWO = 0x40000000

    def __init__(self, count):
        draws = -(-count // (2 * self.BITS))
        self.draws = torch.empty(draws, dtype=torch.int64)
        self.halves = self.draws.view(torch.int32)[None]
        self.shifts = torch.arange(self.BITS, dtype=torch.int32)[:, None]
        self.bits = torch.empty(self.BITS, 2 * draws, dtype=torch.int32)
        self.values = self.bits.view(torch.float32).view(-1)[:count]

    def toss(self):
        self.draws.random_(-(2**63), None)
        torch.bitwise_left_shift(self.halves, self.shifts, out=self.bits)
        self.bits.bitwise_and_(self.TWO)


class Fast:
    """The same update, with its gradients written out and nothing done twice.

    Compiling the parts between the products (torch.compile) gained less than the machine's noise
    at Cora's size, and working through the decoder in blocks of rows gained nothing; neither is here.
    """

    def __init__(self, shape, data, parameters, dropout=True):
        self.shape, self.features, self.dropout = shape, data.features, dropout
        nodes, hidden, rows = shape.nodes, shape.hidden, len(data.features)
        self.parameters = parameters
        for parameter in parameters:
            parameter.grad = torch.empty_like(parameter)
        self.optimiser = torch.optim.Adam(parameters, lr=shape.rate, fused=True)
        self.average, self.smooth = indices(data.average), indices(data.smooth)
        self.linear = fastest_linear(rows, shape)
        decoded = nodes * hidden
        count = decoded + (rows * hidden if shape.dropout else 0)
        self.coins = Coins(count)
        if not dropout:
            self.coins.values.fill_(1)
        self.hidden_coins = self.coins.values[:decoded].view(nodes, hidden)
        self.decoder_coins = self.coins.values[decoded:].view(-1, hidden)
        self.gram = torch.empty(hidden, hidden)
        self.back = torch.empty(nodes, hidden)
        self.kept = torch.empty(rows, hidden)
        if shape.ones:
            self.one, self.zero = data.weight_of_ones, data.weight_of_zeros
            self.pointwise = torch.empty_like(data.features)
            self.places = None
            if shape.ones < FEW * shape.features:
                self.places = data.features.view(-1).nonzero().view(-1)
            else:
                self.weights = data.weights()
                self.weighted_features = self.weights * data.features

    def misfit(self, scores):
        """Turns the scores into their gradient, but for a factor that is returned after the loss."""
        cells = scores.numel()
        if not self.shape.ones:
            errors = scores.sub_(self.features)
            return torch.dot(errors.view(-1), errors.view(-1)) / cells, 2 / cells
        torch.ops.aten.softplus(scores, out=self.pointwise)
        if self.places is not None:
            # As if all were zeros, then corrected at the ones.
            values, pointwise = scores.view(-1), self.pointwise.view(-1)
            at_ones = values.index_select(0, self.places)
            loss = self.zero * pointwise.sum() - self.one * at_ones.sum()
            loss += (self.one - self.zero) * pointwise.index_select(0, self.places).sum()
            scores.sigmoid_()
            values.index_copy_(0, self.places, at_ones.sigmoid_().sub_(1).mul_(self.one / self.zero))
            return loss / cells, self.zero / cells
        loss = torch.dot(self.weights.view(-1), self.pointwise.view(-1))
        loss -= torch.dot(self.weighted_features.view(-1), scores.view(-1))
        scores.sigmoid_().sub_(self.features).mul_(self.weights)
        return loss / cells, 1 / cells

    def lower_gram(self, z):
        """The lower triangle of Z'Z, which is all that its factor needs, in three quarters of the work."""
        half = self.shape.hidden // 2
        torch.mm(z[:, :half].T, z[:, :half], out=self.gram[:half, :half])
        torch.mm(z[:, half:].T, z, out=self.gram[half:])

    @torch.no_grad()
    def gradients(self):
        shape, rows = self.shape, len(self.features)
        first, first_bias, second, second_bias, decoder, *decoder_bias = self.parameters
        if self.dropout:
            self.coins.toss()

        hidden = product(self.average, first).add_(first_bias).relu_().mul_(self.hidden_coins)
        averaged = product(self.average, hidden)
        z = self.linear(averaged, second, second_bias)
        if shape.unit:
            scale = torch.linalg.vector_norm(z, dim=1, keepdim=True).clamp_(min=1e-12).reciprocal_()
            z.mul_(scale)

        # strength/n (tr Z'KZ - 1/2 log|I + Z'Z/beta|) and its gradient, strength/n (2KZ - Z (beta I + Z'Z)^-1).
        strength = shape.strength / shape.nodes
        gradient = product(self.smooth, z)
        self.lower_gram(z)
        loss = self.gram.trace() - torch.dot(z.view(-1), gradient.view(-1))
        self.gram.diagonal().add_(shape.beta)
        factor = torch.linalg.cholesky_ex(self.gram).L
        loss -= factor.diagonal().log().sum() - shape.hidden / 2 * math.log(shape.beta)
        loss *= strength
        middle = torch.cholesky_inverse(factor).neg_()
        middle.diagonal().add_(2)
        torch.addmm(gradient, z, middle, beta=-2 * strength, alpha=strength, out=gradient)

        observed = z[:rows]
        if shape.dropout:
            observed = torch.mul(observed, self.decoder_coins, out=self.kept)
        scores = self.linear(observed, decoder, *decoder_bias)
        misfit, factor = self.misfit(scores)
        torch.addmm(decoder.grad, scores.T, observed, beta=0, alpha=factor, out=decoder.grad)
        for bias in decoder_bias:
            torch.sum(scores, 0, out=bias.grad).mul_(factor)
        if shape.dropout:
            gradient[:rows].addcmul_(self.linear(scores, decoder.T), self.decoder_coins, value=factor)
        else:
            torch.addmm(gradient[:rows], scores, decoder, alpha=factor, out=gradient[:rows])

        if shape.unit:
            along = torch.mul(gradient, z, out=self.back).sum(1, keepdim=True)
            gradient.addcmul_(z, along, value=-1).mul_(scale)
        torch.sum(gradient, 0, out=second_bias.grad)
        torch.mm(gradient.T, averaged, out=second.grad)
        # A kept value was doubled, so its gradient is too; hidden is zero where it was dropped or cut.
        doubled = 2 if self.dropout else 1
        torch.addmm(self.back, gradient, second, beta=0, alpha=doubled, out=self.back)
        back = product(self.average, self.back)
        torch.ops.aten.threshold_backward(back, hidden, 0, grad_input=back)
        torch.sum(back, 0, out=first_bias.grad)
        first.grad = product(self.average, back)
        return loss + misfit

    def update(self):
        loss = self.gradients()
        self.optimiser.step()
        return loss


def indices(matrix):
    return matrix.crow_indices().int(), matrix.col_indices().int(), matrix.values()


def product(matrix, dense):
    """A sparse matrix by a dense one. Sums of embeddings are faster than CSR products, in MKL or not."""
    starts, columns, values = matrix
    return F.embedding_bag(columns, dense, starts, mode="sum", per_sample_weights=values, include_last_offset=True)


def one_dnn_linear(values, weights, bias=None):
    return torch.ops.mkldnn._linear_pointwise(values, weights, bias, "none", [], "")


def linears():
    """The ways to multiply two dense matrices: by MKL and, where PyTorch has it, by oneDNN."""
    if torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return [F.linear, one_dnn_linear]
    return [F.linear]


def fastest_linear(rows, shape):
    values, weights = torch.rand(rows, shape.hidden), torch.rand(shape.features, shape.hidden)
    return min(linears(), key=lambda linear: least_seconds(lambda: linear(values, weights), 10))


def least_seconds(function, repetitions):
    function()
    least = math.inf
    for _ in range(repetitions):
        started = time.perf_counter()
        function()
        least = min(least, time.perf_counter() - started)
    return least


def product_rate(size=2048):
    """Gflop/s of the fastest of several products of two square matrices."""
    left, right = torch.rand(size, size), torch.rand(size, size)
    seconds = min(least_seconds(lambda: linear(left, right), 6) for linear in linears())
    return 2 * size**3 / seconds / 1e9


def milliseconds(model, at_least=2.5):
    """The median time of an update, over so many seconds and at least five updates."""
    for _ in range(3):
        model.update()
    times = []
    while sum(times) < at_least or len(times) < 5:
        started = time.perf_counter()
        model.update()
        times.append(time.perf_counter() - started)
    return statistics.median(times) * 1e3


def had_processor(function):
    """What a function returns, and whether this process had as many processors as it has threads.

    PyTorch's threads spin while they wait, so a quiet machine gives them all of the time.
    """
    wall, processor = time.perf_counter(), time.process_time()
    result = function()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return result, processor > 0.9 * wall * torch.get_num_threads()


def graphfill(program, shape):
    command = [program, "bench", "--shapes", shape, "--format", "json", "--quiet"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    for result in json.loads(done.stdout)["results"]:
        if (result["task"], result["shape"]) == ("svga-update", shape) and result["device"].startswith("cpu"):
            return result
    sys.exit(f"graphfill bench printed no update at {shape}'s shape on the CPU")


def check():
    """Losses and gradients without dropout, against dense ones in double precision."""
    binary = Shape(300, 900, 50, 32, 6, True, False, 0.5, 1, 0.1, 1e-3)
    for shape in [
        binary,
        binary._replace(unit=False, bias=True, dropout=0),
        binary._replace(ones=4),
        binary._replace(ones=0, beta=1),
        binary._replace(ones=0, unit=False, bias=True, dropout=0),
        binary._replace(nodes=2000, edges=4000, hidden=256, features=300, ones=6),
    ]:
        data = Data(shape, torch.float64)
        data.average, data.smooth = data.average.to_dense(), data.smooth.to_dense()
        exact = Plain(shape, data, initial_parameters(shape, torch.float64), dropout=False)
        loss = exact.gradients().item()
        for kind in [Fast, Plain]:
            model = kind(shape, Data(shape), initial_parameters(shape), dropout=False)
            worst = abs(model.gradients().item() / loss - 1)
            for mine, right in zip(model.parameters, exact.parameters, strict=True):
                worst = max(worst, ((mine.grad - right.grad).norm() / right.grad.norm()).item())
            about = "binary" if shape.ones else "continuous"
            print(f"{kind.__name__.lower()}, {about}, {shape.nodes} nodes: largest relative difference {worst:.1e}")
            assert worst < 1e-4


def reuse_memory():
    """Keeps what is freed. The C library would otherwise give every large block back each time."""
    allocator = getattr(ctypes.CDLL(None), "mallopt", None)
    if allocator:
        trim_threshold, most_mapped = -1, -4
        allocator(most_mapped, 0)
        allocator(trim_threshold, 2**31 - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=SHAPES, default="cora")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--no-build", action="store_true", help="take graphfill as it was built last")
    parser.add_argument("--torch-only", action="store_true", help="leave graphfill out")
    parser.add_argument("--check", action="store_true", help="compare PyTorch's updates with an exact one")
    options = parser.parse_args()
    torch.set_num_threads(os.cpu_count())
    torch.set_flush_denormal(True)
    reuse_memory()
    if options.check:
        return check()

    program = None if options.torch_only else environment.build_program(not options.no_build)
    shape = SHAPES[options.shape]
    forms = {"autograd": Plain, "by hand": Fast}
    models = {name: form(shape, Data(shape), initial_parameters(shape)) for name, form in forms.items()}
    turns = []
    print(f"{options.shape}, torch {torch.__version__}")
    for turn in range(1, options.turns + 1):
        times, spelt = {}, [f"  turn {turn}:"]
        rate, quiet = had_processor(product_rate)
        if program:
            result = graphfill(program, options.shape)
            torch.set_num_threads(result["threads"])
            times["graphfill"] = result["ms_per_update"]
            spelt.append(f"graphfill {result['ms_per_update']:.2f} ms ({result['gemm_gflops']:.0f} Gflop/s),")
            rate = max(rate, result["gemm_gflops"])
        for name, model in models.items():
            times[name], quiet_too = had_processor(lambda: milliseconds(model))
            # Autograd draws its dropout in one thread, so that it cannot be told from a busy machine.
            quiet = quiet and (quiet_too or name == "autograd")
            spelt.append(f"PyTorch {name} {times[name]:.2f} ms,")
        spelt.append(f"products {rate:.0f} Gflop/s")
        if quiet:
            turns.append({**times, "rate": rate})
        else:
            spelt.append("(left out: other programs were running)")
        print(*spelt, flush=True)

    if not turns:
        sys.exit("other programs were running in every turn; nothing can be said")
    medians = {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}
    rate = medians.pop("rate")
    print(f"medians of {len(turns)} turns, {torch.get_num_threads()} threads, products {rate:.0f} Gflop/s:")
    for name, median in medians.items():
        line = f"  {name if name == 'graphfill' else 'PyTorch ' + name:18} {median:7.2f} ms an update"
        if program:
            share = result["gflop_per_update"] / median * 1e3 / rate
            line += f", {share:.0%} of the rate, {median / medians['graphfill']:.2f} times graphfill's"
        print(line)


if __name__ == "__main__":
    main()
