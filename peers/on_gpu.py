"""Everything that runs on a CUDA GPU, checked and timed in one run, beside PyTorch.

    python3 peers/on_gpu.py [--program target/release/graphfill] [--tests FOLDER] [--quick]

Needs a built graphfill, a GPU, and a Python that has PyTorch with CUDA (its own virtual environment
otherwise). What it does, one after the other:

- the tests of the engine on the GPU, if FOLDER has their executables (cargo test --no-run);
- a small table filled on the GPU and on the CPU: the estimates must agree;
- one training update of SVGA at every shape of `graphfill bench`, in f32, TF32 and bf16, command by
  command and captured as a graph; with the bytes that it must move at least, and how long moving them
  takes; beside PyTorch's update with autograd, in TF32, as it is and captured as a graph;
- one update of SVGA-P, which is what two trainings of different lengths differ by;
- one round of feature propagation and of ARB on a million nodes and 50 million edges, beside
  PyTorch's sparse product.

Prints tables; exits with 1 if a check fails.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import environment

environment.run_inside(["numpy", "torch"])

import warnings  # noqa: E402

warnings.filterwarnings("ignore")

import torch  # noqa: E402

import torch_svga  # noqa: E402

TESTS = ["graphfill_engine", "auxiliary", "watch", "plan", "mistakes", "store", "checkpoint", "threads", "models", "svga_step"]
# Numbers differ that are so far apart, relative to the largest of their column; and so many cells may
# differ: two trainings in single precision drift apart by rounding, and then a yes becomes a no.
APART = 0.02
TOLERANCE = 0.01
SMALL = ["cora", "citeseer", "arxiv"]


def run_tests(folder):
    """The tests' executables on the GPU; how many failed."""
    failed = 0
    for name in TESTS:
        found = [path for path in sorted(Path(folder).glob(f"{name}*")) if path.is_file() and os.access(path, os.X_OK)]
        if not found:
            print(f"  {name}: not in {folder}")
            failed += 1
        for path in found[:1]:
            environment_ = {**os.environ, "GRAPHFILL_TEST_DEVICE": "cuda", "PROPTEST_CASES": "32"}
            done = subprocess.run([path, "--test-threads=8"], env=environment_, capture_output=True, text=True)
            result = [line for line in done.stdout.splitlines() if line.startswith("test result")]
            print(f"  {name}: {result[-1] if result else 'no result'}", flush=True)
            failed += done.returncode != 0
            if done.returncode != 0:
                print("\n".join(line for line in done.stdout.splitlines() if line.endswith("FAILED")))
    return failed


def compare_estimates(program):
    """A small table filled on both devices; the share of cells that are not the same."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([program, "demo", "-o", folder, "--quiet", "--device", "cpu"], check=True, stdout=subprocess.DEVNULL)
        found = {}
        for device in ["cpu", "cuda"]:
            output = folder / f"{device}.csv"
            command = [program, "fill", folder / "nodes.csv", folder / "nodes.edges.csv", "-o", output, "--method", "svga-p"]
            command += ["--max-updates", "300", "--device", device, "--precision", "f32", "--quiet"]
            subprocess.run(command, check=True)
            with open(output, newline="") as file:
                found[device] = list(csv.DictReader(file))
        scale = {}
        for row in found["cpu"]:
            for column, text in row.items():
                if is_number(text):
                    scale[column] = max(scale.get(column, 1e-9), abs(float(text)))
        cells, apart = 0, 0
        for one, other in zip(found["cpu"], found["cuda"], strict=True):
            for column, text in one.items():
                if is_number(text) and is_number(other[column]):
                    cells += 1
                    apart += abs(float(text) - float(other[column])) > APART * scale[column]
                elif text != other[column]:
                    cells, apart = cells + 1, apart + 1
        return apart / max(cells, 1)


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def bench(program, *arguments):
    command = [program, "bench", "--device", "cuda", "--format", "json", "--quiet", *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)["results"] if done.returncode == 0 else []


def median_seconds(function, at_least=1.0):
    """The median time of a function on the GPU, in batches that take a while each."""
    for _ in range(3):
        function()
    torch.cuda.synchronize()
    batch, times, begun = 1, [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begun < at_least:
        started = time.perf_counter()
        for _ in range(batch):
            function()
        torch.cuda.synchronize()
        took = time.perf_counter() - started
        if took < 0.02 and not times:
            batch *= 4
            continue
        times.append(took / batch)
    return statistics.median(times)


def torch_update(name):
    """Milliseconds of PyTorch's update: as it is, and captured where that is possible."""
    torch.backends.cuda.matmul.allow_tf32 = True
    shape = torch_svga.SHAPES[name]
    data = torch_svga.Data(shape).to("cuda")
    parameters = [parameter.cuda() for parameter in torch_svga.initial_parameters(shape)]
    model = torch_svga.Plain(shape, data, parameters)
    model.optimiser = torch.optim.Adam(model.parameters, lr=shape.rate, fused=True, capturable=True)
    eager = median_seconds(model.update) * 1e3
    try:
        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                model.update()
        torch.cuda.current_stream().wait_stream(stream)
        model.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            model.loss().backward()
            model.optimiser.step()
        captured = median_seconds(graph.replay) * 1e3
    except Exception:  # noqa: BLE001 what PyTorch cannot capture is no failure of ours
        torch.cuda.synchronize()
        captured = None
    return eager, captured


def torch_round(nodes, edges, columns):
    """Seconds of PyTorch's product of a random graph with a panel, which a round is made of."""
    ends = torch.randint(nodes, (2, edges), device="cuda")
    both = torch.cat([ends, ends.flip(0)], dim=1)
    values = torch.rand(both.shape[1], device="cuda")
    matrix = torch.sparse_coo_tensor(both, values, (nodes, nodes)).coalesce().to_sparse_csr()
    panel = torch.rand(nodes, columns, device="cuda")
    return median_seconds(lambda: matrix @ panel)


def spelt(number, digits=3):
    return "–" if number is None else f"{number:.{digits}f}"


def table(header, rows):
    widths = [max(len(str(row[at])) for row in [header, *rows]) for at in range(len(header))]
    for row in [header, *rows]:
        print("  " + "  ".join(str(cell).rjust(width) for cell, width in zip(row, widths)))
    print(flush=True)


def time_updates(program, names, precisions):
    rows = []
    for name in names:
        found = {}
        for precision in precisions:
            for launch in ["eager", "captured"]:
                arguments = ["--shapes", name, "--precision", precision, "--launch", launch, "--seconds", "1"]
                for result in bench(program, *arguments):
                    found[precision, launch] = result
        try:
            eager, captured = torch_update(name)
        except torch.cuda.OutOfMemoryError:
            eager, captured = None, None
        torch.cuda.empty_cache()
        own = found.get(("tf32", "captured"))
        if own is None:
            rows.append([name, *["failed"] * (2 * len(precisions) + 6)])
            continue
        times = [spelt(found[key]["ms_per_update"]) if (key := (p, launch)) in found else "–" for p in precisions for launch in ["eager", "captured"]]
        rows.append([
            name,
            *times,
            f"{own['moved_bytes'] / 1e9:.2f}",
            spelt(own.get("floor_ms")),
            spelt(eager),
            spelt(captured),
            "–" if eager is None else f"{min(filter(None, [eager, captured])) / own['ms_per_update']:.1f}×",
            f"{(own.get('peak_bytes') or 0) / 2**30:.2f}",
        ])
    header = ["shape", *[f"{p} {l}" for p in precisions for l in ["eager", "graph"]], "GB moved", "floor ms"]
    print("One SVGA update, milliseconds; `floor`: moving the bytes once, at the GPU's copy rate")
    table([*header, "torch", "torch graph", "ratio", "GiB"], rows)


def time_svga_p(program):
    """Milliseconds of an update of SVGA-P on the demo's table, validation included."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "demo", "-o", folder, "--quiet", "--device", "cpu"], check=True, stdout=subprocess.DEVNULL)
        took = {}
        for updates in [200, 1200]:
            command = [program, "evaluate", f"{folder}/nodes.csv", f"{folder}/nodes.edges.csv", "--methods", "svga-p"]
            command += ["--max-updates", str(updates), "--device", "cuda", "--quiet", "--param", "svga-p.patience=5000"]
            started = time.perf_counter()
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                print("SVGA-P:", done.stderr)
                return
            took[updates] = time.perf_counter() - started
    print(f"SVGA-P on the demo's table: {took[1200] - took[200]:.3f} ms an update of one model, validation included\n")


def time_rounds(program, nodes, edges, columns):
    rows = []
    for task in ["fp", "arb"]:
        arguments = ["--shapes", "arxiv", "--variant", task, "--nodes", nodes, "--edges", edges]
        for result in bench(program, *map(str, arguments), "--features", str(columns)):
            rows.append([task, spelt(result["ms_per_round"]), f"{result['moved_bytes'] / 1e9:.1f}", spelt(result.get("floor_ms"))])
    rows.append(["torch S·X", spelt(torch_round(nodes, edges, columns) * 1e3), "", ""])
    print(f"One round of propagation: {nodes:,} nodes, {edges:,} edges, {columns} columns, milliseconds")
    table(["task", "ms", "GB moved", "floor ms"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=environment.ROOT / "target" / "release" / "graphfill", type=Path)
    parser.add_argument("--tests", help="a folder with the executables of the engine's tests")
    parser.add_argument("--quick", action="store_true", help="three shapes, TF32 and f32 only")
    options = parser.parse_args()
    if not options.program.exists():
        sys.exit(f"{options.program} is missing: cargo build --release, or name it with --program")
    subprocess.run([options.program, "devices", "--format", "table"], check=True)
    failed = run_tests(options.tests) if options.tests else 0
    difference = compare_estimates(options.program)
    print(f"estimates on the GPU against the CPU: {difference:.2%} of the cells differ\n", flush=True)
    failed += difference > TOLERANCE
    names = SMALL if options.quick else list(torch_svga.SHAPES)
    time_updates(options.program, names, ["f32", "tf32"] if options.quick else ["f32", "tf32", "bf16"])
    time_svga_p(options.program)
    time_rounds(options.program, 1_000_000, 50_000_000, 64)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
