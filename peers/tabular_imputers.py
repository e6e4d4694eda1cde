"""Single missing cells: graphfill against imputers and regressions, with and without the graph.

    python3 peers/tabular_imputers.py --data DIR [--datasets house_lucas,nba] [--seeds 0..2] [--no-build]

DIR (or GRAPHFILL_DATA) has a folder for each data set with nodes.csv and edges.csv; twitch_ptbr,
climate and imdb_movies are converted from the files that DIR has. Known cells are blanked
(`--pattern`), the same cells for everybody, and scored: RMSE over the standard deviation of the true
column for numbers and counts, accuracy for booleans and categories, both as the mean over columns.
A column of counts is filled with whole numbers: everybody's estimates are rounded there. (Rivals whose
estimates are not rounded have smaller errors in counts of few different values.)
What is a category is what `graphfill inspect` says.

Patterns, with a share s (`--share`) of the known cells:

- cells: s of the cells, at random
- rows+cells: s/2 of the rows as a whole, and s/2 of the cells of the other rows
- degree: each cell with probability min(0.9, c / (1 + degree of the node)), c such that s is expected

Rivals (`--rivals`):

- iterative, knn: scikit-learn's IterativeImputer and KNNImputer. They do not see the graph. They get
  categories in three codings, and the coding that scored best counts, by column and seed, which is in
  their favour.
- ridge: ridge regression on the other columns of the row and the neighbours' means of all columns
- lightgbm: LightGBM on the other columns of the row
- lightgbm-graph: the same with, for every column, the neighbours' mean (for categories the share of
  each level, and the mode) at one and two hops, the number of known neighbours, and the degree

The last three estimate one column at a time and are tuned by `--trials` trials of random search, the
same for all columns of a table. The best one by column is chosen on 10% of the column's known cells
and fitted again on all of them. `rivals.py` has the grid.

Prints a Markdown table for each data set; `--json FILE` has the scores of every column and seed, and
the chosen parameters. Packages that the interpreter has, be it through PYTHONPATH, are used as they
are; otherwise pip installs them into peers/.venv. LightGBM is needed only if it is among the rivals.
"""

import argparse
import json
import os
from pathlib import Path

import environment

PATTERNS = ("cells", "rows+cells", "degree")
RIVALS = ("iterative", "knn", "ridge", "lightgbm", "lightgbm-graph")


def name_list(text):
    return [name for name in text.split(",") if name]


def seed_list(text):
    if ".." in text:
        first, last = text.split("..")
        return list(range(int(first), int(last) + 1))
    return [int(seed) for seed in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("GRAPHFILL_DATA"), help="the folder of data sets")
    parser.add_argument("--datasets", type=name_list, default=["house_lucas", "nba"])
    parser.add_argument("--methods", type=name_list, default=["auto", "arb", "fp"],
                        help="graphfill's; the first is compared with the others column by column; may be empty")
    parser.add_argument("--rivals", type=name_list, default=list(RIVALS), help=f"of {', '.join(RIVALS)} (all)")
    parser.add_argument("--trials", type=int, default=8, help="trials of random search per tuned rival (8)")
    parser.add_argument("--pattern", choices=PATTERNS, default="cells", help="which cells are blanked (cells)")
    parser.add_argument("--share", type=float, default=0.2, help="the share of the known cells to blank (0.2)")
    parser.add_argument("--seeds", type=seed_list, default=[0, 1, 2], help="such as 0..2 or 0,5")
    parser.add_argument("--knn-rows", type=int, default=2000, help="largest number of rows that KNNImputer estimates")
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())))
    parser.add_argument("--json", type=Path, help="write every score to this file")
    parser.add_argument("--no-build", action="store_true", help="take graphfill as it was built last")
    parser.add_argument("--graphfill", type=Path, help="take this graphfill and build nothing")
    options = parser.parse_args()
    if options.data is None:
        parser.error("--data or GRAPHFILL_DATA must name the folder of data sets")
    if not 0 < options.share < 1:
        parser.error("--share must lie between 0 and 1")
    if options.trials < 1:
        parser.error("--trials must be at least 1")
    if unknown := set(options.rivals) - set(RIVALS):
        parser.error(f"unknown rivals: {', '.join(sorted(unknown))}; expected some of {', '.join(RIVALS)}")
    return options


def main():
    options = parse_options()
    packages = ["numpy", "scipy", "pandas", "scikit-learn"]
    if {"lightgbm", "lightgbm-graph"} & set(options.rivals):
        packages.append("lightgbm")
    environment.run_inside(packages)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)

    import comparison  # needs the packages

    path = options.graphfill or environment.build_program(not options.no_build)
    program = comparison.Program(path.resolve(), options.threads)
    print(comparison.heading(options), flush=True)
    everything = {}
    for name in options.datasets:
        files = comparison.find_files(name, options)
        if files is None:
            print(f"\nskipped: {name}, since {options.data / name} has no nodes.csv and edges.csv")
            continue
        everything[name] = [comparison.run_seed(program, name, *files, options, seed) for seed in options.seeds]
        print("\n" + comparison.report(name, everything[name], options), flush=True)
        if options.json:
            options.json.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
