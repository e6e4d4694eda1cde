"""Runs graphfill and its rivals on the same blanked cells, scores them and reports: `tabular_imputers.py`."""

import json
import subprocess
import sys
import time
import warnings

import numpy
import pandas
import sklearn
from threadpoolctl import threadpool_limits

import blanking
import environment
import graph_tables
import rivals
import sklearn_imputers
from neighbour_features import KINDS, NUMERIC, Column, Graph

warnings.filterwarnings("ignore")

MIN_ROWS_FOR_THREADS = 10_000  # scikit-learn loses time with several threads on smaller matrices
WORK = environment.HERE / "work" / "tabular_imputers"
LABELS = {**sklearn_imputers.LABELS, **{name: rival.label for name, rival in rivals.TUNED.items()}}


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
    table = pandas.read_csv(path, dtype=str, keep_default_na=False).astype(object)
    return table.where(~table.isin(["", "NaN", "nan"]), None)


def find_files(name, options):
    """Paths of nodes.csv and edges.csv of a data set; None if there are none."""
    return graph_tables.find(name, options.data, WORK / name)


def scores(truth, kinds, blanked, estimates, rows):
    """The score of each column over its blanked cells among these rows; `estimates` has just them."""
    result = {}
    for position, (name, kind) in enumerate(kinds.items()):
        cells = blanked[rows, position]
        if not cells.any():
            continue
        right = truth[name].to_numpy()[rows][cells]
        estimate = numpy.asarray(estimates[name])[cells]
        if kind in NUMERIC:
            estimate = estimate.astype(float)
            if kind == "count":
                # A table of counts is filled with counts: everybody's estimates are rounded, as graphfill's are.
                estimate = numpy.maximum(numpy.rint(estimate), 0)
            errors = estimate - right.astype(float)
            deviation = numpy.nanstd(pandas.to_numeric(truth[name]).to_numpy(dtype=float))
            result[name] = float(numpy.sqrt((errors**2).mean()) / deviation)
        else:
            result[name] = float((estimate == right).mean())
    return result


def run_seed(program, dataset, nodes, edges, options, seed):
    """The scores of every method and column for one choice of blanked cells."""
    truth, kinds = read(nodes), program.kinds(nodes, edges)
    for name in [name for name in kinds if name not in truth]:
        say(f"left out: {name}, which is a block of columns")
        del kinds[name]
    names = list(kinds)
    graph = Graph(truth.iloc[:, 0].tolist(), edges)
    blanked = blanking.choose_cells(truth, names, graph.degrees, options.pattern, options.share, seed)
    table = truth.copy()
    table[names] = table[names].mask(blanked, None)
    work = WORK / dataset / f"{options.pattern}-seed-{seed}"
    work.mkdir(parents=True, exist_ok=True)
    incomplete = work / "nodes.csv"
    table.to_csv(incomplete, index=False)
    # Blanked cells may hide what told a kind from another one.
    still = program.kinds(incomplete, edges)
    declared = {name: kind for name, kind in kinds.items() if still.get(name) != kind}

    everything = numpy.arange(len(truth))
    few = numpy.flatnonzero(table[names].isna().any(axis=1))
    fewer = len(few) > options.knn_rows
    if fewer:
        few = numpy.sort(numpy.random.default_rng(seed).choice(few, options.knn_rows, replace=False))
    else:
        few = everything

    results = {}
    for method in options.methods:
        filled, seconds = program.fill(incomplete, edges, method, declared)
        if filled[names].isna().to_numpy()[blanked].any():
            sys.exit(f"graphfill left cells of {incomplete} empty with {method}")
        estimates = {name: filled[name].to_numpy() for name in names}
        results["graphfill " + method] = {
            "seconds": seconds,
            "columns": scores(truth, kinds, blanked, estimates, everything),
            "columns_few": scores(truth, kinds, blanked, {name: estimates[name][few] for name in names}, few),
        }
        say(f"{dataset}, seed {seed}: graphfill {method}, {seconds:.1f} s")
    with threadpool_limits(options.threads if len(truth) >= MIN_ROWS_FOR_THREADS else 1):
        for rival in options.rivals:
            if rival in rivals.TUNED:
                result = run_tuned(rival, truth, table, kinds, blanked, graph, options, seed)
            else:
                result = run_imputer(rival, truth, table, kinds, blanked, few if rival == "knn" else everything)
            results[LABELS[rival]] = result
            say(f"{dataset}, seed {seed}: {LABELS[rival]}, {result['seconds']:.1f} s")
    return {"seed": seed, "pattern": options.pattern, "share": options.share, "blanked": int(blanked.sum()),
            "rows": len(truth), "few": len(few) if fewer else None, "kinds": kinds, "methods": results}


def run_tuned(rival, truth, table, kinds, blanked, graph, options, seed):
    """Scores, seconds (search included) and chosen parameters of a rival of `rivals.py`."""
    columns = {name: Column.read(table[name], kind) for name, kind in kinds.items()}
    started = time.perf_counter()
    estimates, chosen = rivals.TUNED[rival](options.trials, seed, options.threads).estimate(columns, graph)
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "columns": scores(truth, kinds, blanked, estimates, numpy.arange(len(truth))),
            "trials": options.trials, "chosen": chosen}


def run_imputer(rival, truth, table, kinds, blanked, rows):
    """Scores of an imputer of scikit-learn: by coding, and the best coding of each column."""
    codings = sklearn_imputers.CODINGS if "category" in kinds.values() else sklearn_imputers.CODINGS[:1]
    result = {"seconds": 0, "codings": {}}
    for coding in codings:
        coded = sklearn_imputers.Coded(table, kinds, coding)
        matrix, seconds = sklearn_imputers.impute(rival, coded.matrix, rows)
        result["seconds"] += seconds / len(codings)
        result["codings"][coding] = scores(truth, kinds, blanked, coded.decode(matrix), rows)
    columns = pandas.DataFrame(result["codings"])
    numeric = [kinds[column] in NUMERIC for column in columns.index]
    result["columns"] = columns.min(axis=1).where(numeric, columns.max(axis=1)).to_dict()
    return result


def compare(ours, theirs, kinds):
    """In how many columns ours is better, as good, and worse, by the mean over seeds."""
    ours, theirs = (pandas.DataFrame(each).mean() for each in (ours, theirs))
    signs = pandas.Series({name: -1 if kind in NUMERIC else 1 for name, kind in kinds.items()})
    difference = ((ours - theirs) * signs).dropna()
    equal = difference.abs() < 1e-9
    return int((difference[~equal] > 0).sum()), int(equal.sum()), int((difference[~equal] < 0).sum())


def means(columns, kinds, numeric):
    """For each seed, the mean over the columns of one sort."""
    chosen = [[value for name, value in seed.items() if (kinds[name] in NUMERIC) == numeric] for seed in columns]
    return [sum(values) / len(values) for values in chosen if values]


def heading(options):
    """The line above all tables."""
    versions = f"scikit-learn {sklearn.__version__}"
    if {"lightgbm", "lightgbm-graph"} & set(options.rivals):
        import lightgbm

        versions += f", LightGBM {lightgbm.__version__}"
    threads = "1 thread" if options.threads == 1 else f"{options.threads} threads"
    trials = "1 trial" if options.trials == 1 else f"{options.trials} trials"
    return (f"{versions}, {threads}, seeds {', '.join(map(str, options.seeds))}. Means over columns, then over seeds; "
            "seconds of one seed, for graphfill with reading and writing the files, for the imputers of one coding "
            f"of the categories, for the other rivals with random search ({trials}).")


def report(name, runs, options):
    """The lines of a data set's table."""
    kinds, few = runs[0]["kinds"], runs[0]["few"]
    numeric = [kind in NUMERIC for kind in kinds.values()]
    sorts = [True] * any(numeric) + [False] * (not all(numeric))
    first = "graphfill " + options.methods[0] if options.methods else None

    def columns(method, key="columns"):
        return [run["methods"][method][key] for run in runs] if method else None

    share = {"cells": f"{options.share:.0%} of the cells blanked",
             "rows+cells": f"{options.share / 2:.0%} of the rows and of the other rows' cells blanked",
             "degree": f"{options.share:.0%} of the cells blanked, most where the degree is low"}[options.pattern]
    lines = [f"### {name}: {runs[0]['rows']:,} rows, {sum(numeric)} numbers and counts, "
             f"{len(kinds) - sum(numeric)} booleans and categories, {share}", ""]
    heads = [head for sort in sorts for head in (("RMSE / sd" if sort else "accuracy"), "by seed")]
    heads += [f"`{first}` better / equal / worse"] if first else []
    lines.append(f"| | {' | '.join(heads)} | seconds |")
    lines.append("|---" * (len(heads) + 2) + "|")

    def line(label, values, against, seconds):
        cells = []
        for sort in sorts:
            seeds = means(values, kinds, sort)
            cells += [f"{sum(seeds) / len(seeds):.4f}", " ".join(f"{value:.4f}" for value in seeds)]
        if first:
            cells.append("" if against is None else " / ".join(map(str, compare(against, values, kinds))))
        lines.append(f"| {label} | {' | '.join(cells)} | {seconds} |")

    def seconds(method):
        return f"{sum(run['methods'][method]['seconds'] for run in runs) / len(runs):.1f}"

    for method in ["graphfill " + method for method in options.methods]:
        line(f"`{method}`", columns(method), None if method == first else columns(first), seconds(method))
    for rival in options.rivals:
        label = LABELS[rival]
        if rival != "knn" or few is None:
            line(label, columns(label), columns(first), seconds(label))
            continue
        line(f"{label} †", columns(label), columns(first, "columns_few"), seconds(label) + " †")
        if first:
            line(f"`{first}`, same rows †", columns(first, "columns_few"), None, "")
    if few is not None and "knn" in options.rivals:
        lines += ["", f"† Over {few:,} of the incomplete rows, drawn at random, because {LABELS['knn']} is slow: it is "
                  "fitted on all rows, estimates these, and is compared on them; its seconds are for these alone."]
    return "\n".join(lines)


def say(text):
    print(text, file=sys.stderr, flush=True)
