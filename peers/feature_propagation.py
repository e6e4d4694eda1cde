"""Feature propagation: graphfill against PyTorch Geometric, on the same input, taking turns.

    python3 peers/feature_propagation.py [--small]

Prints, for each graph, the seconds of each repetition of both, the ratio of the medians and the
largest difference between the two results (relative to the largest value).
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

environment.run_inside(["numpy", "torch", "torch_geometric"])

import warnings  # noqa: E402

warnings.filterwarnings("ignore")

import numpy  # noqa: E402
import torch  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.transforms import FeaturePropagation  # noqa: E402

ROUNDS = 40
REPETITIONS = 3


def graphs(small):
    data = os.environ.get("GRAPHFILL_DATA")
    photo = Path(data or ".") / "photo" / "photo.npz"
    if photo.is_file():
        yield "photo", ["read", str(photo), str(ROUNDS)]
    else:
        print("skipped: photo, since GRAPHFILL_DATA names no folder that has it")
    if small:
        yield "20,000 nodes, 200,000 edges, 64 columns", ["generate", "20000", "20", "64", str(ROUNDS)]
    else:
        yield "1 million nodes, 10 million edges, 64 columns", ["generate", "1000000", "20", "64", str(ROUNDS)]


def peer(folder, about):
    """PyTorch Geometric on the arrays that graphfill left; the seconds and the result."""
    rows, columns = about["rows"], about["columns"]
    edges = numpy.fromfile(folder / "edges.u32", dtype=numpy.uint32).astype(numpy.int64)
    edges = torch.from_numpy(edges.reshape(2, -1))
    known = numpy.fromfile(folder / "known.f32", dtype=numpy.float32).reshape(rows, columns)
    missing = numpy.fromfile(folder / "is_known.u8", dtype=numpy.uint8) == 0
    mask = torch.from_numpy(numpy.repeat(missing[:, None], columns, axis=1))
    data = Data(x=torch.from_numpy(known), edge_index=torch.cat([edges, edges.flip(0)], dim=1))
    transform = FeaturePropagation(missing_mask=mask, num_iterations=ROUNDS)
    seconds, result = [], None
    for _ in range(REPETITIONS):
        started = time.perf_counter()
        result = transform(data)
        seconds.append(time.perf_counter() - started)
    return seconds, result.x.numpy()


def main():
    example = environment.build_example("propagation")
    torch.set_num_threads(os.cpu_count())
    print(f"{ROUNDS} rounds, {os.cpu_count()} threads, torch {torch.__version__}")
    for name, arguments in graphs("--small" in sys.argv):
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            ours = []
            # Ours before and after theirs, so that a machine that slows down slows both.
            for turn in range(2):
                done = subprocess.run([example, folder, *arguments], check=True, capture_output=True, text=True)
                about = json.loads(done.stdout)
                ours += about["seconds"]
                if turn == 0:
                    theirs, result = peer(folder, about)
            estimate = numpy.fromfile(folder / "estimate.f32", dtype=numpy.float32).reshape(result.shape)
            difference = float(numpy.abs(estimate - result).max() / max(1e-30, numpy.abs(result).max()))
        spell = lambda times: ", ".join(f"{seconds:.2f}" for seconds in times)
        ratio = statistics.median(theirs) / statistics.median(ours)
        print(f"{name}:")
        print(f"  graphfill          {spell(ours)} s")
        print(f"  PyTorch Geometric  {spell(theirs)} s")
        print(f"  {ratio:.1f} times faster; largest difference {difference:.1e}")


if __name__ == "__main__":
    main()
