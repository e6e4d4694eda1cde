"""Node tables as text, cells to hide in them, and calls of graphfill. Needs numpy alone.

Used by `uncertainty.py` and `rubin.py`, which run where nothing can be installed.
"""

import csv
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy

NUMERIC = ("number", "count")  # scored by intervals; the other kinds by prediction sets
KINDS = (*NUMERIC, "boolean", "category")
MASKS = ("cells", "rows", "degree-up", "degree-down", "value")
CELL_SHARE = 0.2  # of the known cells that `cells` and `value` hide
ROW_SHARE = 0.3  # of the rows that the other masks hide
CLIMATE_YEARS = ("2003", "2008")


@dataclass
class Table:
    """A complete node table with its graph."""

    ids: list
    columns: dict  # name: list of cells as they are spelt, "" where missing
    kinds: dict  # of the columns that are hidden and scored
    degrees: numpy.ndarray
    edges: Path
    types: Path | None = None  # a file with declared types
    other: tuple = ()  # columns that are hidden with a whole row, but not scored

    def known(self):
        """Rows by scored columns: whether the cell has a value."""
        return numpy.array([[bool(cell) for cell in self.columns[name]] for name in self.kinds]).T

    def values(self, name):
        """A numeric column; NaN where missing."""
        return numpy.array([float(cell) if cell else numpy.nan for cell in self.columns[name]])

    def write(self, path, hidden):
        """Writes the table without the hidden cells (rows by scored columns)."""
        position = {name: at for at, name in enumerate(self.kinds)}
        whole = hidden.all(axis=1)
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", *self.columns])
            for row, name in enumerate(self.ids):
                cells = []
                for column, all_cells in self.columns.items():
                    gone = hidden[row, position[column]] if column in position else whole[row] and column in self.other
                    cells.append("" if gone else all_cells[row])
                writer.writerow([name, *cells])
        if self.types:
            shutil.copy(self.types, path.with_suffix(".types.toml"))


def read_csv(path):
    """The header and the rows of a CSV file."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return rows[0], rows[1:]


def degrees_of(ids, edges):
    """How many different neighbours each node has."""
    position = {name: at for at, name in enumerate(ids)}
    _, rows = read_csv(edges)
    neighbours = [set() for _ in ids]
    for source, target, *_ in rows:
        a, b = position[source], position[target]
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    return numpy.array([len(each) for each in neighbours])


class Program:
    """The command-line program, on the CPU unless told otherwise."""

    def __init__(self, path, threads=1, device="cpu"):
        self.path, self.threads, self.device = str(path), str(threads), device

    def run(self, *arguments, device=True):
        """Standard output of a call; an error with the program's message if it fails."""
        command = [self.path, *map(str, arguments), "--quiet", "--threads", self.threads]
        command += ["--device", self.device] if device else []
        environment = {**os.environ, "RAYON_NUM_THREADS": self.threads}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"failed: {' '.join(command)}\n{done.stderr.strip()}")
        return done.stdout

    def inspect(self, nodes, edges):
        """Kind by column, for all columns that graphfill reads; a block of columns counts as one."""
        found = json.loads(self.run("inspect", "--format", "json", nodes, edges, device=False))
        return {column["name"]: column["kind"] for column in found["columns"]}

    def fill(self, table, nodes, output, *options):
        """Fills nodes.csv with the kinds that the complete table has."""
        types = [word for name, kind in table.kinds.items() for word in ("--type", f"{name}={kind}")]
        self.run("fill", nodes, table.edges, "-o", output, *types, *options)


def load(name, data, folder, program, seed=0):
    """A data set, complete: `town` is generated, others are read from the folder `data`.

    Writes what it makes into `folder`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    types, other = None, ()
    if name == "town":
        program.run("demo", "-o", folder, "--seed", seed)
        nodes, edges, types = folder / "truth.csv", folder / "nodes.edges.csv", folder / "nodes.types.toml"
        shutil.copy(types, folder / "truth.types.toml")
    elif (Path(data) / name / "nodes.csv").is_file():
        nodes, edges = Path(data) / name / "nodes.csv", Path(data) / name / "edges.csv"
    else:
        nodes, edges = write_npz(Path(data) / name / f"{name}.npz", folder)
    header, rows = read_csv(nodes)
    columns = {column: [row[at] for row in rows] for at, column in enumerate(header) if at}
    found = program.inspect(nodes, edges)
    kinds = {column: found[column] for column in columns if found.get(column) in KINDS}
    if name == "town":
        other = tuple(column for column in columns if column not in found)  # the block of interests
    ids = [row[0] for row in rows]
    return Table(ids, columns, kinds, degrees_of(ids, edges), edges, types, other)


def write_npz(path, folder):
    """Writes an archive's `aux` columns, or else its named features, as nodes.csv and edges.csv."""
    archive = numpy.load(path)
    if "aux" in archive:
        names, matrix = archive["aux_names"], archive["aux"]
    else:
        names, matrix = archive["col_names"], numpy.zeros(archive["x_shape"], dtype=archive["x_data"].dtype)
        rows = numpy.repeat(numpy.arange(len(matrix)), numpy.diff(archive["x_indptr"]))
        matrix[rows, archive["x_indices"]] = archive["x_data"]
        chosen = [at for at, column in enumerate(names) if str(column).endswith(CLIMATE_YEARS)]
        names, matrix = names[chosen], matrix[:, chosen]
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    with open(nodes, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", *names])
        for row, cells in enumerate(matrix):
            writer.writerow([f"n{row}", *(int(cell) if cell == int(cell) else str(cell) for cell in cells)])
    with open(edges, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        writer.writerows((f"n{a}", f"n{b}") for a, b in zip(archive["edge_src"], archive["edge_dst"]))
    return nodes, edges


def ranks(values):
    """Rank of each value from 0 to 1; equal values share their mean rank."""
    _, inverse, counts = numpy.unique(values, return_inverse=True, return_counts=True)
    middle = numpy.cumsum(counts) - counts / 2
    return (middle / len(values))[inverse]


def choose_hidden(table, mask, seed):
    """Which cells (rows by scored columns) to hide.

    - cells: each known cell with probability 0.2
    - rows: each row with probability 0.3
    - degree-up, degree-down: rows with probability 0.6 times the rank of their degree, from below or above
    - value: cells with probability 0.4 times the rank of their value (levels in alphabetical order)

    Two different values stay in each column, since a column without them cannot be estimated.
    """
    generator = numpy.random.default_rng([seed, MASKS.index(mask)])
    known = table.known()
    rows = len(known)
    if mask == "cells":
        chance = numpy.full(known.shape, CELL_SHARE)
    elif mask == "value":
        chance = numpy.zeros(known.shape)
        for at, (name, kind) in enumerate(table.kinds.items()):
            here = known[:, at]
            values = table.values(name) if kind in NUMERIC else numpy.array(table.columns[name])
            chance[here, at] = 2 * CELL_SHARE * ranks(values[here])
    else:
        rank = ranks(table.degrees)
        by_row = {"rows": numpy.full(rows, ROW_SHARE), "degree-up": 2 * ROW_SHARE * rank,
                  "degree-down": 2 * ROW_SHARE * (1 - rank)}[mask]
        chance = numpy.repeat((generator.random(rows) < by_row)[:, None], known.shape[1], axis=1)
    hidden = known & (generator.random(known.shape) < chance)
    for at, name in enumerate(table.kinds):
        left = {table.columns[name][row] for row in numpy.flatnonzero(known[:, at] & ~hidden[:, at])}
        for row in generator.permutation(numpy.flatnonzero(hidden[:, at])):
            if len(left) > 1:
                break
            left.add(table.columns[name][row])
            hidden[row, at] = False
    return hidden
