"""What it costs to pass a table from Python to graphfill and back, beside the time of filling it.

    python peers/python_border.py [--rows 1000000] [--columns 20] [--method fp] [--library pandas|polars|pyarrow]

Needs the installed package, NumPy and the library. Prints one line per repetition: seconds of conversion in, of
filling, of conversion back, and the share of the conversions.
"""

from __future__ import annotations

import argparse
import time

import graphfill as gf
import numpy as np
from graphfill._frames import nodes_of


def table(library: str, rows: int, columns: int, random: np.random.Generator) -> object:
    """Columns of numbers, every second one with missing cells."""
    data = {}
    for column in range(columns):
        values = random.normal(size=rows)
        if column % 2 == 0:
            values[random.random(rows) < 0.1] = np.nan
        data[f"c{column}"] = values
    if library == "pandas":
        import pandas

        return pandas.DataFrame(data)
    if library == "polars":
        import polars

        return polars.DataFrame(data).fill_nan(None)
    import pyarrow

    return pyarrow.table({name: pyarrow.array(values, from_pandas=True) for name, values in data.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--method", default="fp")
    parser.add_argument("--library", default="pandas")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    nodes = table(arguments.library, arguments.rows, arguments.columns, random)
    edges = random.integers(0, arguments.rows, (2, 2 * arguments.rows))
    for _ in range(arguments.repetitions):
        started = time.perf_counter()
        nodes_of(nodes)
        there = time.perf_counter() - started
        started = time.perf_counter()
        result = gf.fill(nodes, edges, method=arguments.method, quiet=True, progress=False)
        whole = time.perf_counter() - started
        started = time.perf_counter()
        result.nodes
        back = time.perf_counter() - started
        share = (there + back) / (whole + back)
        print(
            f"{arguments.library}, {arguments.method}: in {there:.3f} s, fill {whole - there:.2f} s, "
            f"back {back:.3f} s: {100 * share:.1f}%"
        )


if __name__ == "__main__":
    main()
