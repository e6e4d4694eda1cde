"""Single missing cells: graphfill against scikit-learn's IterativeImputer and KNNImputer.

    python3 peers/tabular_imputers.py --data DIR [--datasets house_lucas,nba] [--seeds 0..2] [--no-build]

DIR (or GRAPHFILL_DATA) has a folder for each data set with nodes.csv and edges.csv. A share of the
known cells is blanked at random, the same cells for everybody, and scored: RMSE over the standard
deviation of the true column for numbers and counts, accuracy for booleans and categories, both as
the mean over columns. What is a category is what `graphfill inspect` says.

The imputers don't see the graph; graphfill does. They get numbers and counts standardised, booleans
as 0 and 1, and categories in three codings: a column for each level, the same without the most
frequent level, and standardised codes. The coding that scored best counts, by column and seed, which
is in their favour. (The levels of a row add up to 1, so that IterativeImputer's linear model, given
all of them, only finds the others' starting values again: it never leaves the most frequent level.)

Prints a Markdown table for each data set; `--json FILE` has the scores of every column and seed.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import environment

environment.run_inside(["numpy", "pandas", "scikit-learn"])

import warnings  # noqa: E402

warnings.filterwarnings("ignore")

import numpy  # noqa: E402
import pandas  # noqa: E402
import sklearn  # noqa: E402
from sklearn.experimental import enable_iterative_imputer  # noqa: E402, F401
from sklearn.impute import IterativeImputer, KNNImputer  # noqa: E402
from threadpoolctl import threadpool_limits  # noqa: E402

WORK = environment.HERE / "work" / "tabular_imputers"
MEASURED = ("number", "count")  # scored by their error; the other kinds by hits
KINDS = (*MEASURED, "boolean", "category")
CODINGS = ("levels", "all levels but one", "codes")
ITERATIVE, NEIGHBOURS = "IterativeImputer", "KNNImputer"


class Program:
    """The command-line program."""

    def __init__(self, path, threads):
        self.path, self.threads = path, str(threads)

    def run(self, *arguments):
        command = [self.path, *arguments, "--quiet", "--threads", self.threads]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit(f"failed: {' '.join(map(str, command))}")
        return done.stdout

    def kinds(self, nodes, edges):
        """The kind of each column that graphfill estimates."""
        columns = json.loads(self.run("inspect", "--format", "json", nodes, edges))["columns"]
        return {column["name"]: column["kind"] for column in columns if column["kind"] in KINDS}

    def fill(self, nodes, edges, method, declared):
        """The filled table and the seconds, reading and writing included."""
        filled = nodes.with_name(f"filled-{method}.csv")
        types = [word for name, kind in declared.items() for word in ("--type", f"{name}={kind}")]
        started = time.perf_counter()
        self.run("fill", nodes, edges, "-o", filled, "--method", method, *types)
        return read(filled), time.perf_counter() - started


def read(path):
    """A table as it is spelt; None where a cell is missing."""
    table = pandas.read_csv(path, dtype=str, keep_default_na=False)
    return table.where(~table.isin(["", "NaN", "nan"]), None)


def blank(truth, columns, share, seed):
    """Which cells (rows by columns) to blank: this share of the known ones.

    Two different values stay in each column, since a column without them cannot be estimated.
    """
    generator = numpy.random.default_rng(seed)
    known = truth[columns].notna().to_numpy()
    free = known.copy()
    for position, name in enumerate(columns):
        values = truth[name].to_numpy()
        order = generator.permutation(numpy.flatnonzero(known[:, position]))
        other = next(row for row in order if values[row] != values[order[0]])
        free[[order[0], other], position] = False
    places = numpy.flatnonzero(free)
    count = min(len(places), round(share * known.sum()))
    holes = numpy.zeros(known.shape, dtype=bool)
    holes.flat[generator.choice(places, count, replace=False)] = True
    return holes


class Coded:
    """A table with holes as numbers that an imputer takes, and the way back."""

    def __init__(self, table, kinds, coding):
        self.parts, matrices, start = [], [], 0
        for name, kind in kinds.items():
            matrix, back = self.column(table[name], kind, coding)
            self.parts.append((name, start, start + matrix.shape[1], back))
            start += matrix.shape[1]
            matrices.append(matrix)
        self.matrix = numpy.hstack(matrices)

    @staticmethod
    def column(column, kind, coding):
        if kind in MEASURED:
            values = pandas.to_numeric(column).to_numpy(dtype=float)
            mean, deviation = numpy.nanmean(values), numpy.nanstd(values) or 1
            return (values - mean)[:, None] / deviation, lambda part: part[:, 0] * deviation + mean
        levels = numpy.array(sorted(column.dropna().unique()), dtype=object)
        codes = pandas.Categorical(column, categories=levels).codes.astype(float)
        codes[codes < 0] = numpy.nan
        if kind == "category" and coding != "codes":
            matrix = (codes[:, None] == numpy.arange(len(levels))).astype(float)
            matrix[numpy.isnan(codes)] = numpy.nan
            if coding == "levels":
                return matrix, lambda part: levels[part.argmax(axis=1)]
            left_out = int(numpy.nanmean(matrix, axis=0).argmax())

            def likeliest(part):
                whole = numpy.insert(part, left_out, 1 - part.sum(axis=1), axis=1)
                return levels[whole.argmax(axis=1)]

            return numpy.delete(matrix, left_out, axis=1), likeliest
        # A boolean stays 0 and 1: a rare one, standardised, would outweigh all else in a distance.
        mean, deviation = 0.0, 1.0
        if kind == "category":
            mean, deviation = numpy.nanmean(codes), numpy.nanstd(codes)

        def nearest(part):
            return levels[numpy.rint(part[:, 0] * deviation + mean).clip(0, len(levels) - 1).astype(int)]

        return codes[:, None] / deviation - mean / deviation, nearest

    def decode(self, matrix):
        return {name: back(matrix[:, start:end]) for name, start, end, back in self.parts}


def impute(name, matrix, rows):
    """The estimates for these rows, after a fit on all, and the seconds."""
    started = time.perf_counter()
    if name == ITERATIVE:
        result = IterativeImputer(random_state=0).fit_transform(matrix)[rows]
    else:
        result = KNNImputer().fit(matrix).transform(matrix[rows])
    return result, time.perf_counter() - started


def scores(truth, kinds, holes, estimates, rows):
    """The score of each column over its blanked cells among these rows; `estimates` has just them."""
    result = {}
    for position, (name, kind) in enumerate(kinds.items()):
        blanked = holes[rows, position]
        if not blanked.any():
            continue
        right = truth[name].to_numpy()[rows][blanked]
        estimate = numpy.asarray(estimates[name])[blanked]
        if kind in MEASURED:
            errors = estimate.astype(float) - right.astype(float)
            deviation = numpy.nanstd(pandas.to_numeric(truth[name]).to_numpy(dtype=float))
            result[name] = float(numpy.sqrt((errors**2).mean()) / deviation)
        else:
            result[name] = float((estimate == right).mean())
    return result


def run_seed(program, folder, options, seed):
    """The scores of every method and column for one choice of holes."""
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    truth, kinds = read(nodes), program.kinds(nodes, edges)
    for name in [name for name in kinds if name not in truth]:
        say(f"left out: {name}, which is a block of columns")
        del kinds[name]
    holes = blank(truth, list(kinds), options.share, seed)
    table = truth.copy()
    table[list(kinds)] = table[list(kinds)].mask(holes, None)
    work = WORK / folder.name / f"seed-{seed}"
    work.mkdir(parents=True, exist_ok=True)
    holed = work / "nodes.csv"
    table.to_csv(holed, index=False)
    # The holes may hide what told a kind from another one.
    still = program.kinds(holed, edges)
    declared = {name: kind for name, kind in kinds.items() if still.get(name) != kind}

    everything = numpy.arange(len(truth))
    few = numpy.flatnonzero(table[list(kinds)].isna().any(axis=1))
    if len(few) > options.knn_rows:
        generator = numpy.random.default_rng(seed)
        few = numpy.sort(generator.choice(few, options.knn_rows, replace=False))
        fewer = True
    else:
        few, fewer = everything, False

    results = {}
    for method in options.methods:
        filled, seconds = program.fill(holed, edges, method, declared)
        if filled[list(kinds)].to_numpy()[holes].tolist().count(None):
            sys.exit(f"graphfill left cells of {holed} empty with {method}")
        estimates = {name: filled[name].to_numpy() for name in kinds}
        results["graphfill " + method] = {
            "seconds": seconds,
            "columns": scores(truth, kinds, holes, estimates, everything),
            "columns_few": scores(truth, kinds, holes, {name: estimates[name][few] for name in kinds}, few),
        }
        say(f"{folder.name}, seed {seed}: graphfill {method}, {seconds:.1f} s")
    codings = CODINGS if "category" in kinds.values() else CODINGS[:1]
    for coding in codings:
        coded = Coded(table, kinds, coding)
        for name, rows in [(ITERATIVE, everything), (NEIGHBOURS, few)]:
            matrix, seconds = impute(name, coded.matrix, rows)
            estimates = coded.decode(matrix)
            result = results.setdefault(name, {"seconds": 0, "codings": {}})
            result["seconds"] += seconds / len(codings)
            result["codings"][coding] = scores(truth, kinds, holes, estimates, rows)
            say(f"{folder.name}, seed {seed}: {name}, {coding}, {seconds:.1f} s")
    for name in [ITERATIVE, NEIGHBOURS]:
        columns = pandas.DataFrame(results[name]["codings"])
        measured = [kinds[column] in MEASURED for column in columns.index]
        best = columns.min(axis=1).where(measured, columns.max(axis=1))
        results[name]["columns"] = best.to_dict()
    return {"seed": seed, "rows": len(truth), "few": len(few) if fewer else None, "kinds": kinds, "methods": results}


def compare(ours, theirs, kinds):
    """In how many columns ours is better, as good, and worse, by the mean over seeds."""
    ours, theirs = (pandas.DataFrame(each).mean() for each in (ours, theirs))
    signs = pandas.Series({name: -1 if kind in MEASURED else 1 for name, kind in kinds.items()})
    difference = ((ours - theirs) * signs).dropna()
    equal = difference.abs() < 1e-9
    return int((difference[~equal] > 0).sum()), int(equal.sum()), int((difference[~equal] < 0).sum())


def means(columns, kinds, measured):
    """For each seed, the mean over the columns of one sort."""
    chosen = [[value for name, value in seed.items() if (kinds[name] in MEASURED) == measured] for seed in columns]
    return [sum(values) / len(values) for values in chosen if values]


def report(name, runs, options):
    """The lines of a data set's table."""
    kinds, few = runs[0]["kinds"], runs[0]["few"]
    measured = [kind in MEASURED for kind in kinds.values()]
    first = "graphfill " + options.methods[0]

    def columns(method, key="columns"):
        return [run["methods"][method][key] for run in runs]

    lines = [f"### {name}: {runs[0]['rows']:,} rows, {sum(measured)} numbers and counts, "
             f"{len(kinds) - sum(measured)} booleans and categories, {options.share:.0%} of the cells blanked", ""]
    heads = ["RMSE / sd", "by seed"] * any(measured) + ["accuracy", "by seed"] * (not all(measured))
    lines.append(f"| | {' | '.join(heads)} | `{first}` better / equal / worse | seconds |")
    lines.append("|---" * (len(heads) + 3) + "|")

    def line(label, values, against, seconds):
        cells = []
        for sort in [True] * any(measured) + [False] * (not all(measured)):
            seeds = means(values, kinds, sort)
            cells += [f"{sum(seeds) / len(seeds):.4f}", " ".join(f"{value:.4f}" for value in seeds)]
        cells.append("" if against is None else " / ".join(map(str, compare(against, values, kinds))))
        lines.append(f"| {label} | {' | '.join(cells)} | {seconds} |")

    def seconds(method):
        return f"{sum(run['methods'][method]['seconds'] for run in runs) / len(runs):.1f}"

    for method in ["graphfill " + method for method in options.methods]:
        line(f"`{method}`", columns(method), None if method == first else columns(first), seconds(method))
    line(ITERATIVE, columns(ITERATIVE), columns(first), seconds(ITERATIVE))
    if few is None:
        line(NEIGHBOURS, columns(NEIGHBOURS), columns(first), seconds(NEIGHBOURS))
    else:
        line(f"{NEIGHBOURS} †", columns(NEIGHBOURS), columns(first, "columns_few"), seconds(NEIGHBOURS) + " †")
        line(f"`{first}`, same rows †", columns(first, "columns_few"), None, "")
        lines += ["", f"† Over {few:,} of the incomplete rows, drawn at random, because {NEIGHBOURS} is slow: it is "
                  "fitted on all rows, estimates these, and is compared on them; its seconds are for these alone."]
    return "\n".join(lines)


def say(text):
    print(text, file=sys.stderr, flush=True)


def seed_list(text):
    if ".." in text:
        first, last = text.split("..")
        return list(range(int(first), int(last) + 1))
    return [int(seed) for seed in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("GRAPHFILL_DATA"), help="the folder of data sets")
    parser.add_argument("--datasets", type=lambda text: text.split(","), default=["house_lucas", "nba"])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=["auto", "arb", "fp"],
                        help="graphfill's; the first is compared with the others column by column")
    parser.add_argument("--share", type=float, default=0.2, help="the share of the known cells to blank")
    parser.add_argument("--seeds", type=seed_list, default=[0, 1, 2], help="such as 0..2 or 0,5")
    parser.add_argument("--knn-rows", type=int, default=2000, help="the most rows that KNNImputer estimates")
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    parser.add_argument("--json", type=Path, help="write every score to this file")
    parser.add_argument("--no-build", action="store_true", help="take graphfill as it was built last")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or GRAPHFILL_DATA must name the folder of data sets")
    if not 0 < options.share < 1:
        parser.error("--share must lie between 0 and 1")

    program = Program(environment.build_program(not options.no_build), options.threads)
    threads = "1 thread" if options.threads == 1 else f"{options.threads} threads"
    print(f"scikit-learn {sklearn.__version__}, {threads}, seeds {', '.join(map(str, options.seeds))}. "
          "Means over columns, then over seeds; seconds of one seed, for graphfill with reading and writing the files, "
          "for the imputers of one coding of the categories.", flush=True)
    everything = {}
    for name in options.datasets:
        folder = options.data / name
        if not (folder / "nodes.csv").is_file() or not (folder / "edges.csv").is_file():
            print(f"\nskipped: {name}, since {folder} has no nodes.csv and edges.csv")
            continue
        with threadpool_limits(options.threads):
            runs = [run_seed(program, folder, options, seed) for seed in options.seeds]
        everything[name] = runs
        print("\n" + report(name, runs, options), flush=True)
        if options.json:
            options.json.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
