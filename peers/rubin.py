"""Whether draws give valid regressions by Rubin's rules: a simulation with known coefficients.

    python3 peers/rubin.py [--repetitions 200] [--nodes 400] [--processes 8] [--program graphfill]

Each repetition makes a graph of nodes in a square, joined where they are near, and three columns: x1 and
x2, smooth over the graph, and y = 1 + x1 - 0.5 x2 + noise. About 30% of the cells of each column are hidden:

- mcar: every cell with the same probability;
- degree: with a probability that grows with the node's degree, which x1 depends on.

The regression of y on x1 and x2 is then estimated in four ways: from the complete data, from the complete
rows, from the table that `graphfill fill` completes once, and from the tables of `graphfill fill --draws`,
pooled by Rubin's rules with the degrees of freedom of Barnard and Rubin (1999). Prints the bias, the
coverage and mean width of 95% intervals, and the mean standard error over the standard deviation of the
estimates, which is 1 where the standard errors are right. What stands behind ± is the error that the
number of repetitions leaves. Needs numpy alone.
"""

import argparse
import csv
import json
import math
import multiprocessing
import os
import shutil
import statistics
import sys
from pathlib import Path

import environment

environment.run_inside(["numpy"])

import numpy  # noqa: E402

import tables  # noqa: E402

WORK = environment.HERE / "work" / "rubin"
COLUMNS = ("x1", "x2", "y")
COEFFICIENTS = {"intercept": 1.0, "x1": 1.0, "x2": -0.5}
METHODS = ("complete data", "complete rows", "filled once", "draws")
MECHANISMS = ("mcar", "degree")
MISSING_SHARE = 0.3
LEVEL = 0.95
MEAN_DEGREE = 6.0
SMOOTHNESS = 10.0  # larger values make x1 and x2 smoother over the graph
SMOOTH_SHARE = 0.7  # of the variance of x1 and x2
DEGREE_EFFECT = 0.5  # on x1, in standard deviations
CORRELATION = 0.3  # between the smooth parts of x1 and x2


def student_quantile(probability, freedom):
    """Quantile of Student's t by the expansion 26.7.5 of Abramowitz and Stegun; for freedom above 3."""
    z = statistics.NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return sum(term / freedom**power for power, term in enumerate(terms))


def standardise(values):
    return (values - values.mean()) / values.std()


def simulate(nodes, mechanism, generator):
    """Edges (pairs of nodes), the complete columns, and which cells are hidden."""
    place = generator.beta(1.0, 2.0, size=(nodes, 2))  # denser towards a corner, so that degrees differ
    apart = numpy.linalg.norm(place[:, None] - place[None], axis=2)
    numpy.fill_diagonal(apart, numpy.inf)
    radius = numpy.quantile(apart, MEAN_DEGREE / nodes)
    joined = apart < radius
    joined[numpy.arange(nodes), apart.argmin(axis=1)] = True  # nobody is alone
    joined |= joined.T
    degree = joined.sum(axis=1)
    laplacian = numpy.diag(degree) - joined
    smooth = numpy.linalg.solve(numpy.eye(nodes) + SMOOTHNESS * laplacian, generator.normal(size=(nodes, 2)))
    first, other = standardise(smooth[:, 0]), standardise(smooth[:, 1])
    second = CORRELATION * first + math.sqrt(1 - CORRELATION**2) * other

    def column(part):
        return math.sqrt(SMOOTH_SHARE) * part + math.sqrt(1 - SMOOTH_SHARE) * generator.normal(size=nodes)

    x1 = column(first) + DEGREE_EFFECT * standardise(degree.astype(float))
    x2 = column(second)
    b0, b1, b2 = COEFFICIENTS.values()
    y = b0 + b1 * x1 + b2 * x2 + generator.normal(size=nodes)
    chance = numpy.full(nodes, MISSING_SHARE)
    if mechanism == "degree":
        chance = 2 * MISSING_SHARE * tables.ranks(degree)
    hidden = generator.random((nodes, len(COLUMNS))) < chance[:, None]
    edges = numpy.argwhere(numpy.triu(joined))
    return edges, numpy.stack([x1, x2, y], axis=1), hidden


def regress(matrix):
    """Least squares of y on 1, x1, x2: coefficients, their variances, degrees of freedom."""
    design = numpy.column_stack([numpy.ones(len(matrix)), matrix[:, :2]])
    inverse = numpy.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ matrix[:, 2]
    freedom = len(matrix) - design.shape[1]
    residual = matrix[:, 2] - design @ coefficients
    return coefficients, numpy.diag(inverse) * (residual @ residual) / freedom, freedom


def pool(fits):
    """Rubin's rules: coefficients, variances, degrees of freedom (Barnard and Rubin 1999)."""
    count, complete = len(fits), fits[0][2]
    estimates = numpy.array([fit[0] for fit in fits])
    within = numpy.mean([fit[1] for fit in fits], axis=0)
    between = (1 + 1 / count) * estimates.var(axis=0, ddof=1)
    total = within + between
    share = numpy.maximum(between / total, 1e-9)
    of_draws = (count - 1) / share**2
    of_rows = (complete + 1) / (complete + 3) * complete * (1 - share)
    return estimates.mean(axis=0), total, 1 / (1 / of_draws + 1 / of_rows)


def write_graph(folder, edges, matrix, hidden):
    """Writes nodes.csv without the hidden cells, and edges.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes, pairs = folder / "nodes.csv", folder / "edges.csv"
    with open(nodes, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *COLUMNS])
        for row, (values, gone) in enumerate(zip(matrix, hidden)):
            writer.writerow([f"n{row}", *("" if hide else f"{value:.6f}" for value, hide in zip(values, gone))])
    with open(pairs, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        writer.writerows((f"n{a}", f"n{b}") for a, b in edges)
    return nodes, pairs


def read_columns(path, count):
    """The columns of a filled table, or of `count` tables below one another: tables by rows by columns."""
    header, rows = tables.read_csv(path)
    places = [header.index(name) for name in COLUMNS]
    matrix = numpy.array([[float(row[at]) for at in places] for row in rows])
    return matrix.reshape(count, -1, len(COLUMNS))


def run_repetition(task):
    """Estimates and half widths of every method, for one simulated table."""
    options, mechanism, seed = task
    generator = numpy.random.default_rng([seed, MECHANISMS.index(mechanism)])
    edges, matrix, hidden = simulate(options.nodes, mechanism, generator)
    folder = WORK / f"{mechanism}-{seed}-{os.getpid()}"
    program = tables.Program(options.program, options.threads)
    types = [word for name in COLUMNS for word in ("--type", f"{name}=number")]
    common = ["--seed", seed, *types, *options.fill]
    try:
        nodes, pairs = write_graph(folder, edges, matrix, hidden)
        program.run("fill", nodes, pairs, "-o", folder / "once.csv", *common)
        program.run("fill", nodes, pairs, "-o", folder / "draws.csv", "--draws", options.draws, *common)
        once, draws = read_columns(folder / "once.csv", 1)[0], read_columns(folder / "draws.csv", options.draws)
    except (RuntimeError, OSError, ValueError) as error:
        return {"mechanism": mechanism, "seed": seed, "error": f"{type(error).__name__}: {error}"}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    fits = {
        "complete data": regress(matrix),
        "complete rows": regress(matrix[~hidden.any(axis=1)]),
        "filled once": regress(once),
        "draws": pool([regress(draw) for draw in draws]),
    }
    result = {"mechanism": mechanism, "seed": seed, "missing": float(hidden.mean())}
    for method, (estimates, variances, freedom) in fits.items():
        freedom = numpy.broadcast_to(freedom, estimates.shape)
        errors = numpy.sqrt(variances)
        half = [student_quantile((1 + LEVEL) / 2, each) * error for each, error in zip(freedom, errors)]
        result[method] = {"estimates": estimates.tolist(), "errors": errors.tolist(), "half_widths": half}
    return result


def summarise(runs):
    """One dictionary for each mechanism, method and coefficient."""
    result = []
    for mechanism in MECHANISMS:
        chosen = [run for run in runs if run["mechanism"] == mechanism and "error" not in run]
        for method in METHODS if chosen else ():
            for at, (name, truth) in enumerate(COEFFICIENTS.items()):
                parts = ("estimates", "errors", "half_widths")
                estimates, errors, half = (numpy.array([run[method][part][at] for run in chosen]) for part in parts)
                covered = float((numpy.abs(estimates - truth) <= half).mean())
                spread = float(estimates.std(ddof=1)) if len(chosen) > 1 else math.nan
                result.append({
                    "mechanism": mechanism, "method": method, "coefficient": name, "repetitions": len(chosen),
                    "bias": float(estimates.mean() - truth), "bias_error": spread / math.sqrt(len(chosen)),
                    "coverage": covered, "coverage_error": math.sqrt(covered * (1 - covered) / len(chosen)),
                    "width": float(2 * half.mean()), "error_ratio": float(errors.mean()) / spread,
                })
    return result


def table_of(summary):
    """Markdown."""
    head = "| missing by | method | coefficient | bias | coverage, 95% | width | standard error / deviation |"
    lines = [head, "|---" * 7 + "|"]
    for entry in summary:
        lines.append(
            f"| {entry['mechanism']} | {entry['method']} | {entry['coefficient']} "
            f"| {entry['bias']:+.3f} ± {entry['bias_error']:.3f} "
            f"| {100 * entry['coverage']:.1f} ± {100 * entry['coverage_error']:.1f} "
            f"| {entry['width']:.3f} | {entry['error_ratio']:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--mechanisms", type=lambda text: text.split(","), default=list(MECHANISMS))
    parser.add_argument("--processes", type=int, default=1, help="repetitions at the same time")
    parser.add_argument("--threads", type=int, default=1, help="of each call")
    parser.add_argument("--program", type=Path, help="graphfill [default: built from this repository]")
    parser.add_argument("--fill", type=str.split, default=[], help="further options of graphfill fill, in one argument")
    parser.add_argument("--json", type=Path, help="write every estimate to this file")
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    if options.program is None:
        options.program = environment.build_program()
    options.program = options.program.resolve()
    seeds = range(options.first_seed, options.first_seed + options.repetitions)
    tasks = [(options, mechanism, seed) for seed in seeds for mechanism in options.mechanisms]
    runs = []
    with multiprocessing.Pool(options.processes) as workers:
        for run in workers.imap_unordered(run_repetition, tasks):
            runs.append(run)
            if "error" in run:
                print(f"{run['mechanism']}, seed {run['seed']}: {run['error']}", file=sys.stderr, flush=True)
            if len(runs) % 20 == 0:
                print(f"{len(runs)} of {len(tasks)}", file=sys.stderr, flush=True)
    runs.sort(key=lambda run: (run["mechanism"], run["seed"]))
    summary = summarise(runs)
    failed = sum("error" in run for run in runs)
    text = table_of(summary) + (f"\n\n{failed} of {len(runs)} repetitions failed." if failed else "")
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    if options.json:
        options.json.write_text(json.dumps({"summary": summary, "runs": runs}) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
