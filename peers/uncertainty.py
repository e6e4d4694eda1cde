"""How often intervals and prediction sets contain the truth, and how narrow they are.

    python3 peers/uncertainty.py coverage --data DIR [--datasets london_ward,elect80] [--processes 8]
    python3 peers/uncertainty.py peers --data DIR [--seeds 0..4]

DIR (or GRAPHFILL_DATA) has a folder for each data set. Both hide known cells, fill the table and look
at the hidden cells.

`coverage` hides cells at random, whole rows, rows by their degree and cells by their value
(`tables.choose_hidden`) and calls `graphfill fill --uncertainty` at four levels. It prints coverage with
two standard errors: of that many independent cells (binomial), and between repetitions, which is larger
where the cells of a repetition share a calibration. Numbers and counts also have the interval score and
the width in standard deviations of the observed column, booleans and categories the mean size of their
sets. Cells "without" are those that the program gives no interval or set for. No promise is made for
`value`: there, missing cells differ from those that can be hidden for calibration. Needs numpy alone.

`peers` compares with multiple imputation that does not see the graph: scikit-learn's IterativeImputer
with sample_posterior (20 draws) and miceforest (10 draws), both with the t interval of their draws. It
prints coverage at 90%, the interval score and the CRPS of the draws (20 of graphfill).
"""

import argparse
import json
import math
import multiprocessing
import os
import shutil
import sys
import time
import warnings
from pathlib import Path

import environment

PEERS = ["scikit-learn", "numpy", "pandas", "scipy", "lightgbm<4.7", "miceforest==6.0.5"]
environment.run_inside(PEERS if sys.argv[1:2] == ["peers"] else ["numpy"])

import numpy  # noqa: E402

import tables  # noqa: E402

WORK = environment.HERE / "work" / "uncertainty"
DATASETS = ["london_ward", "elect80", "nba", "house_lucas", "climate", "twitch_ptbr", "town"]
LEVELS = (0.5, 0.8, 0.9, 0.95)
MAIN_LEVEL = LEVELS.index(0.9)
DEGREE_GROUPS = {"degree 0-3": (0, 3), "degree 4-7": (4, 7), "degree 8+": (8, math.inf)}
GRAPHFILL_DRAWS, SKLEARN_DRAWS, MICEFOREST_DRAWS = 20, 20, 10
MICEFOREST_ROUNDS = 5
PEER_DATASETS = ["london_ward", "elect80"]


def interval_score(truth, lower, upper, level):
    """Width plus 2 / (1 - level) times the distance of the truth from the interval."""
    outside = numpy.maximum(lower - truth, 0) + numpy.maximum(truth - upper, 0)
    return upper - lower + 2 / (1 - level) * outside


def crps(truth, draws):
    """Continuous ranked probability score of draws (draws by cells), without the bias of few draws."""
    count = len(draws)
    apart = sum(numpy.abs(draws - each).sum(axis=0) for each in draws) / (count * (count - 1))
    return numpy.abs(draws - truth).mean(axis=0) - apart / 2


def percent(level):
    return f"{100 * level:g}"


def score_cells(table, hidden, path):
    """Reads the file of `--uncertainty`; for each column, a list of dictionaries of its hidden cells."""
    header, rows = tables.read_csv(path)
    place = {name: at for at, name in enumerate(header)}
    position = {name: at for at, name in enumerate(table.ids)}
    column_position = {name: at for at, name in enumerate(table.kinds)}
    spread = {name: float(numpy.nanstd(numpy.where(hidden[:, at], numpy.nan, table.values(name))))
              for name, at in column_position.items() if table.kinds[name] in tables.NUMERIC}
    found = {name: [] for name in table.kinds}
    for cells in rows:
        name, row = cells[place["column"]], position[cells[place["id"]]]
        if name not in found or not hidden[row, column_position[name]]:
            continue
        truth = table.columns[name][row]
        cell = {"degree": int(table.degrees[row]), "hops": cells[place["hops"]]}
        if table.kinds[name] in tables.NUMERIC:
            ends = [[cells[place[f"{end}{percent(level)}"]] for end in ("lower", "upper")] for level in LEVELS]
            cell["calibrated"] = all(end for pair in ends for end in pair)
            if cell["calibrated"]:
                ends = numpy.array(ends, dtype=float)
                value = float(truth)
                cell["inside"] = [bool(low <= value <= high) for low, high in ends]
                cell["width"] = [float(high - low) / spread[name] for low, high in ends]
                cell["score"] = [float(interval_score(value, low, high, level)) / spread[name]
                                 for (low, high), level in zip(ends, LEVELS)]
        else:
            # An empty set is a set as well: it is the probability that says whether there is any.
            cell["calibrated"] = bool(cells[place["probability"]])
            if cell["calibrated"]:
                sets = [cells[place[f"set{percent(level)}"]] for level in LEVELS]
                sets = [set(text.split("|")) if text else set() for text in sets]
                cell["inside"] = [truth in levels for levels in sets]
                cell["width"] = [len(levels) for levels in sets]
        found[name].append(cell)
    missing = {name: int(hidden[:, at].sum()) - len(found[name]) for name, at in column_position.items()}
    return found, {name: count for name, count in missing.items() if count}


def sums(cells):
    """Counts and sums over cells, which add up over repetitions."""
    scored = [cell for cell in cells if cell["calibrated"]]
    result = {"cells": len(scored), "uncalibrated": len(cells) - len(scored)}
    for key in ("inside", "width", "score"):
        if scored and key in scored[0]:
            result[key] = numpy.sum([cell[key] for cell in scored], axis=0).tolist()
    return result


def run_repetition(task):
    """Fills one table with hidden cells; sums by column and by degree group."""
    options, name, mask, seed = task
    started = time.perf_counter()
    folder = WORK / f"{name}-{mask}-{seed}-{os.getpid()}"
    program = tables.Program(options.program, options.threads, options.device)
    try:
        table = tables.load(name, options.data, folder, program, seed)
        hidden = tables.choose_hidden(table, mask, seed)
        nodes = folder / "holed.csv"
        table.write(nodes, hidden)
        levels = ",".join(map(str, LEVELS))
        program.fill(table, nodes, folder / "filled.csv", "--uncertainty", folder / "cells.csv",
                     "--intervals", levels, "--seed", seed, *options.fill)
        found, missing = score_cells(table, hidden, folder / "cells.csv")
    except (RuntimeError, OSError, KeyError, ValueError) as error:
        return {"dataset": name, "mask": mask, "seed": seed, "error": f"{type(error).__name__}: {error}"}
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    groups = {}
    for column, cells in found.items():
        sort = "numbers" if table.kinds[column] in tables.NUMERIC else "sets"
        groups.setdefault((sort, "all"), []).extend(cells)
        for group, (first, last) in DEGREE_GROUPS.items():
            groups.setdefault((sort, group), []).extend(cell for cell in cells if first <= cell["degree"] <= last)
    return {
        "dataset": name, "mask": mask, "seed": seed, "seconds": time.perf_counter() - started,
        "kinds": table.kinds, "without_row": missing,
        "columns": {column: sums(cells) for column, cells in found.items()},
        "groups": {f"{sort}, {group}": sums(cells) for (sort, group), cells in groups.items()},
    }


def combine(repetitions):
    """Coverage, its two errors, width and score of several repetitions of the same cells."""
    used = [each for each in repetitions if each["cells"]]
    cells = sum(each["cells"] for each in used)
    result = {"cells": cells, "uncalibrated": sum(each["uncalibrated"] for each in repetitions)}
    if not cells:
        return result
    for key, name in (("inside", "coverage"), ("width", "width"), ("score", "score")):
        if key in used[0]:
            result[name] = (numpy.sum([each[key] for each in used], axis=0) / cells).tolist()
    coverage = numpy.array(result["coverage"])
    result["binomial_error"] = numpy.sqrt(coverage * (1 - coverage) / cells).tolist()
    if len(used) > 1:
        each = numpy.array([numpy.array(one["inside"]) / one["cells"] for one in used])
        result["repetition_error"] = (each.std(axis=0, ddof=1) / math.sqrt(len(used))).tolist()
    return result


def summarise(runs):
    """One dictionary for each data set and mask."""
    result = []
    for name, mask in dict.fromkeys((run["dataset"], run["mask"]) for run in runs):
        chosen = [run for run in runs if (run["dataset"], run["mask"]) == (name, mask)]
        good = [run for run in chosen if "error" not in run]
        entry = {"dataset": name, "mask": mask, "repetitions": len(good), "failed": len(chosen) - len(good)}
        if good:
            entry["seconds"] = sum(run["seconds"] for run in good) / len(good)
            for part in ("groups", "columns"):
                keys = dict.fromkeys(key for run in good for key in run[part])
                entry[part] = {key: combine([run[part][key] for run in good if key in run[part]]) for key in keys}
            entry["kinds"] = good[0]["kinds"]
        result.append(entry)
    return result


def coverage_table(summary):
    """Markdown: a line for numbers and one for sets of each data set and mask."""
    main = percent(LEVELS[MAIN_LEVEL])
    levels = " | ".join(f"{percent(level)}%" for level in LEVELS)
    groups = " | ".join(f"{group}, {main}%" for group in DEGREE_GROUPS)
    head = (f"| data set, hidden | repetitions | cells | {levels} | error, {main}% | columns, {main}% | {groups} | "
            f"width or size, {main}% | score, {main}% |")
    lines = [head, "|---" * (len(LEVELS) + len(DEGREE_GROUPS) + 7) + "|"]
    for entry in summary:
        for sort in ("numbers", "sets"):
            every = entry.get("groups", {}).get(f"{sort}, all", {"cells": 0, "uncalibrated": 0})
            without = f" + {every['uncalibrated']:,} without" if every["uncalibrated"] else ""
            cells = [f"{entry['dataset']}, {entry['mask']}: {sort}", str(entry["repetitions"]), f"{every['cells']:,}{without}"]
            if not every["cells"]:
                if without:
                    lines.append(f"| {' | '.join(cells)} |" + " |" * (len(LEVELS) + len(DEGREE_GROUPS) + 4))
                continue
            cells += [f"{100 * value:.1f}" for value in every["coverage"]]
            between = every.get("repetition_error", [math.nan] * len(LEVELS))[MAIN_LEVEL]
            cells.append(f"{100 * every['binomial_error'][MAIN_LEVEL]:.1f}, {100 * between:.1f}")
            columns = [column["coverage"][MAIN_LEVEL] for name, column in entry["columns"].items()
                       if column["cells"] and (entry["kinds"][name] in tables.NUMERIC) == (sort == "numbers")]
            cells.append(f"{100 * min(columns):.1f} to {100 * max(columns):.1f}")
            for group in DEGREE_GROUPS:
                of_group = entry["groups"].get(f"{sort}, {group}", {"cells": 0})
                if of_group["cells"]:
                    error = max(of_group["binomial_error"][MAIN_LEVEL],
                                of_group.get("repetition_error", [0.0] * len(LEVELS))[MAIN_LEVEL])
                    cells.append(f"{100 * of_group['coverage'][MAIN_LEVEL]:.1f} ± {100 * error:.1f}")
                else:
                    cells.append("")
            cells.append(f"{every['width'][MAIN_LEVEL]:.2f}")
            cells.append(f"{every['score'][MAIN_LEVEL]:.2f}" if "score" in every else "")
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def coverage(options):
    """The coverage study; the number of failed repetitions."""
    tasks = [(options, name, mask, seed)
             for seed in options.seeds for name in options.datasets for mask in options.masks]
    runs = []
    with multiprocessing.Pool(options.processes) as pool:
        for run in pool.imap_unordered(run_repetition, tasks):
            runs.append(run)
            outcome = run.get("error") or f"{run['seconds']:.1f} s"
            say(f"{len(runs)} of {len(tasks)}: {run['dataset']}, {run['mask']}, seed {run['seed']}: {outcome}")
            if options.json:
                options.json.write_text(json.dumps({"levels": LEVELS, "summary": summarise(runs), "runs": runs}) + "\n")
    order = {(name, mask): at for at, (_, name, mask, _) in enumerate(tasks[: len(options.datasets) * len(options.masks)])}
    runs.sort(key=lambda run: (order[run["dataset"], run["mask"]], run["seed"]))
    text = coverage_table(summarise(runs))
    failed = sum("error" in run for run in runs)
    if failed:
        text += f"\n\n{failed} of {len(runs)} repetitions failed."
    print(text)
    if options.markdown:
        options.markdown.write_text(text + "\n")
    return failed


def score_draws(truth, hidden, spread, draws, ends=None):
    """Coverage, interval score and CRPS of draws (draws by rows by columns), in column sd.

    Without `ends` (lower and upper, rows by columns) the interval is the t interval of the draws.
    """
    from scipy import stats

    level, count = LEVELS[MAIN_LEVEL], len(draws)
    if ends is None:
        half = stats.t.ppf((1 + level) / 2, count - 1) * draws.std(axis=0, ddof=1) * math.sqrt(1 + 1 / count)
        ends = draws.mean(axis=0) - half, draws.mean(axis=0) + half
    inside = (ends[0] <= truth) & (truth <= ends[1])
    scores, ranked = [], []
    for at in range(truth.shape[1]):
        rows = hidden[:, at]
        score = interval_score(truth[rows, at], ends[0][rows, at], ends[1][rows, at], level)
        scores.append(score.mean() / spread[at])
        ranked.append(crps(truth[rows, at], draws[:, rows, at]).mean() / spread[at])
    return {"coverage": float(inside[hidden].mean()), "score": float(numpy.mean(scores)), "crps": float(numpy.mean(ranked))}


def graphfill_draws(options, table, hidden, folder, seed):
    """Draws and the ends of the intervals at the main level."""
    program = tables.Program(options.program, options.threads, options.device)
    nodes, filled, cells = folder / "holed.csv", folder / "filled.csv", folder / "cells.csv"
    table.write(nodes, hidden)
    program.fill(table, nodes, filled, "--draws", GRAPHFILL_DRAWS, "--uncertainty", cells,
                 "--intervals", LEVELS[MAIN_LEVEL], "--seed", seed, *options.fill)
    header, rows = tables.read_csv(filled)
    places = [header.index(name) for name in table.kinds]
    matrix = numpy.array([[float(row[at]) for at in places] for row in rows])
    draws = matrix.reshape(GRAPHFILL_DRAWS, len(table.ids), len(places))
    header, rows = tables.read_csv(cells)
    place = {name: at for at, name in enumerate(header)}
    position = {name: at for at, name in enumerate(table.ids)}
    column_position = {name: at for at, name in enumerate(table.kinds)}
    ends = numpy.full((2, *hidden.shape), numpy.nan)
    for row in rows:
        at = position[row[place["id"]]], column_position[row[place["column"]]]
        ends[(slice(None), *at)] = float(row[place["lower"]]), float(row[place["upper"]])
    return draws, ends


def sklearn_draws(matrix, seed):
    """Completed copies of a standardised matrix by IterativeImputer."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    seeds = range(1000 * seed, 1000 * seed + SKLEARN_DRAWS)
    return numpy.stack([IterativeImputer(sample_posterior=True, random_state=each).fit_transform(matrix)
                        for each in seeds])


def miceforest_draws(matrix, seed, threads):
    """Completed copies of a standardised matrix by miceforest."""
    import miceforest
    import pandas

    frame = pandas.DataFrame(matrix, columns=[f"c{at}" for at in range(matrix.shape[1])])
    kernel = miceforest.ImputationKernel(frame, num_datasets=MICEFOREST_DRAWS, random_state=seed)
    kernel.mice(MICEFOREST_ROUNDS, verbose=False, num_threads=threads)
    return numpy.stack([kernel.complete_data(at).to_numpy() for at in range(MICEFOREST_DRAWS)])


def score_peers(options, name, seed):
    """The scores of every method on one table with hidden cells, by method."""
    folder = WORK / f"peers-{name}-{seed}"
    program = tables.Program(options.program, options.threads, options.device)
    table = tables.load(name, options.data, folder, program, seed)
    table.kinds = {column: "number" for column, kind in table.kinds.items() if kind in tables.NUMERIC}
    hidden = tables.choose_hidden(table, "cells", seed)
    truth = numpy.array([table.values(column) for column in table.kinds]).T
    holed = numpy.where(hidden, numpy.nan, truth)
    mean, spread = numpy.nanmean(holed, axis=0), numpy.nanstd(holed, axis=0)
    standardised = (holed - mean) / spread
    methods = {
        "graphfill": lambda: graphfill_draws(options, table, hidden, folder, seed),
        "scikit-learn sample_posterior": lambda: (sklearn_draws(standardised, seed) * spread + mean, None),
        "miceforest": lambda: (miceforest_draws(standardised, seed, options.threads) * spread + mean, None),
    }
    scores = {}
    for method, draw in methods.items():
        if options.methods and method.split()[0] not in options.methods:
            continue
        started = time.perf_counter()
        draws, ends = draw()
        score = score_draws(truth, hidden, spread, draws, ends)
        score["seconds"] = time.perf_counter() - started
        scores[method] = score
        say(f"{name}, seed {seed}, {method}: coverage {score['coverage']:.3f}, score {score['score']:.3f}, "
            f"CRPS {score['crps']:.3f}, {score['seconds']:.1f} s")
    shutil.rmtree(folder, ignore_errors=True)
    return scores


def peers(options):
    """The comparison with multiple imputation; always 0."""
    warnings.filterwarnings("ignore")
    results = {}
    for name in options.datasets:
        for seed in options.seeds:
            for method, score in score_peers(options, name, seed).items():
                results.setdefault((name, method), []).append({"seed": seed, **score})
    lines = ["| data set | method | coverage, 90% | interval score | score by seed | CRPS | seconds |", "|---" * 7 + "|"]
    for (name, method), scores in results.items():
        means = {key: sum(score[key] for score in scores) / len(scores) for key in scores[0]}
        each = " ".join(f"{score['score']:.2f}" for score in scores)
        lines.append(f"| {name} | {method} | {100 * means['coverage']:.1f} | {means['score']:.3f} | {each} | "
                     f"{means['crps']:.3f} | {means['seconds']:.1f} |")
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    if options.json:
        flat = [{"dataset": name, "method": method, **score} for (name, method), all_ in results.items() for score in all_]
        options.json.write_text(json.dumps(flat, indent=1) + "\n")
    return 0


def say(text):
    print(text, file=sys.stderr, flush=True)


def seed_list(text):
    if ".." in text:
        first, last = text.split("..")
        return list(range(int(first), int(last) + 1))
    return [int(seed) for seed in text.split(",")]


def names(text):
    return text.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, datasets, seeds in (("coverage", DATASETS, "0..19"), ("peers", PEER_DATASETS, "0..4")):
        own = commands.add_parser(command)
        own.add_argument("--data", type=Path, default=os.environ.get("GRAPHFILL_DATA"), help="the folder of data sets")
        own.add_argument("--datasets", type=names, default=datasets)
        own.add_argument("--seeds", type=seed_list, default=seed_list(seeds),
                         help="one repetition each, such as 0..19 or 0,5")
        own.add_argument("--program", type=Path, help="graphfill [default: built from this repository]")
        own.add_argument("--threads", type=int, default=1, help="of each call")
        own.add_argument("--device", default="cpu")
        own.add_argument("--json", type=Path, help="write every score to this file")
        own.add_argument("--markdown", type=Path, help="write the table to this file as well")
        own.add_argument("--fill", type=str.split, default=[], help="further options of graphfill fill, in one argument")
        if command == "coverage":
            own.add_argument("--masks", type=names, default=list(tables.MASKS))
            own.add_argument("--processes", type=int, default=1, help="repetitions at the same time")
            own.add_argument("--keep", action="store_true", help="keep the filled tables, under peers/work")
        else:
            own.add_argument("--methods", type=names, help="some of graphfill, scikit-learn, miceforest")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or GRAPHFILL_DATA must name the folder of data sets")
    if options.program is None:
        options.program = environment.build_program()
    options.program = options.program.resolve()
    sys.exit(1 if (coverage if options.command == "coverage" else peers)(options) else 0)


if __name__ == "__main__":
    main()
