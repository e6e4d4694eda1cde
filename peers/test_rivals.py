"""Checks that the rivals of `tabular_imputers.py` see no value that they must not see, and use what they may.

    python3 peers/test_rivals.py

A random geometric graph with six columns: noise, a coin and a colour, which nothing predicts; a
number that varies smoothly over the graph; a source, and the mean of the neighbours' source.
"""

import tempfile
from pathlib import Path

import environment

environment.run_inside(["numpy", "scipy", "pandas", "scikit-learn", "lightgbm"])

import numpy  # noqa: E402
import pandas  # noqa: E402

import blanking  # noqa: E402
import comparison  # noqa: E402
import rivals  # noqa: E402
import tabular_imputers  # noqa: E402
from neighbour_features import Column, Graph, tree_features  # noqa: E402

NODES, TRIALS, THREADS = 1500, 4, 2
KINDS = {"noise": "number", "coin": "boolean", "colour": "category", "smooth": "number",
         "source": "number", "around": "number"}


def make_table(folder):
    """The complete table, and its graph."""
    generator = numpy.random.default_rng(7)
    places = generator.random((NODES, 2))
    distances = numpy.linalg.norm(places[:, None] - places[None], axis=2)
    source, target = numpy.nonzero(numpy.triu(distances < 0.05, 1))
    pandas.DataFrame({"source": source, "target": target}).to_csv(folder / "edges.csv", index=False)
    graph = Graph([str(node) for node in range(NODES)], folder / "edges.csv")
    own = generator.normal(size=NODES)
    smooth = numpy.sin(6 * places[:, 0]) + places[:, 1]
    around = numpy.nan_to_num(graph.means(own[:, None], 1)[0][:, 0]) + generator.normal(size=NODES) * 0.02
    columns = {"noise": generator.normal(size=NODES), "coin": generator.integers(0, 2, NODES),
               "colour": generator.choice(list("abcd"), NODES), "source": own,
               "smooth": smooth + generator.normal(size=NODES) * 0.02, "around": around}
    return pandas.DataFrame({name: values.astype(str) for name, values in columns.items()}).astype(object), graph


def check_names():
    """The options accept what there is."""
    assert tabular_imputers.PATTERNS == blanking.PATTERNS
    assert tabular_imputers.RIVALS == tuple(comparison.LABELS)


def check_own_value(truth, graph):
    """The neighbour features of a node do not depend on its own value."""
    for name, kind in KINDS.items():
        column = Column.read(truth[name], kind)
        whole, _ = tree_features(column, graph)
        for row in (0, 10, 500):
            part, _ = tree_features(column.hide([row]), graph)
            numpy.testing.assert_array_equal(whole[row], part[row], err_msg=f"{name}, row {row}")


def check_patterns(truth, graph):
    """Shares are met, whole rows are whole, and few neighbours mean many blanked cells."""
    for pattern in blanking.PATTERNS:
        blanked = blanking.choose_cells(truth, list(KINDS), graph.degrees, pattern, 0.2, 3)
        expected = 0.19 if pattern == "rows+cells" else 0.2
        assert abs(blanked.mean() - expected) < 0.02, (pattern, blanked.mean())
        if pattern == "rows+cells":
            assert abs(blanked.all(axis=1).mean() - 0.1) < 0.01
        if pattern == "degree":
            middle = numpy.median(graph.degrees)
            assert blanked[graph.degrees < middle].mean() > 1.5 * blanked[graph.degrees > middle].mean()


def check_scores(truth, graph):
    """Noise is not predicted; what the neighbours tell is found by those rivals that see them."""
    blanked = blanking.choose_cells(truth, list(KINDS), graph.degrees, "cells", 0.2, 3)
    table = truth.mask(blanked, None)
    columns = {name: Column.read(table[name], kind) for name, kind in KINDS.items()}
    middles = {name: numpy.full(NODES, pandas.to_numeric(truth[name], errors="coerce").mean()) for name in KINDS}
    guess = comparison.scores(truth, KINDS, blanked, middles, numpy.arange(NODES))
    for name, rival in rivals.TUNED.items():
        estimates, _ = rival(TRIALS, 3, THREADS).estimate(columns, graph)
        found = comparison.scores(truth, KINDS, blanked, estimates, numpy.arange(NODES))
        print(f"{name}: " + ", ".join(f"{column} {value:.3f}" for column, value in found.items()), flush=True)
        assert abs(found["noise"] / guess["noise"] - 1) < 0.06
        assert 0.4 < found["coin"] < 0.6 and 0.18 < found["colour"] < 0.35
        if name == "lightgbm":
            assert found["smooth"] > 0.9 and found["around"] > 0.9
        else:
            assert found["smooth"] < 0.3 and found["around"] < 0.75


def main():
    with tempfile.TemporaryDirectory() as folder:
        truth, graph = make_table(Path(folder))
    check_names()
    check_own_value(truth, graph)
    check_patterns(truth, graph)
    check_scores(truth, graph)
    print("passed")


if __name__ == "__main__":
    main()
