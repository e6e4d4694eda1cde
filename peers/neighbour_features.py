"""Columns of a table as numbers, and what is known about them among a node's graph neighbours."""

from dataclasses import dataclass

import numpy
import pandas
from scipy import sparse

NUMERIC = ("number", "count")  # scored by their error; the other kinds by accuracy
KINDS = (*NUMERIC, "boolean", "category")
MAX_SHARES = 16  # levels of a category, the most frequent ones, whose share among neighbours is an input


@dataclass
class Column:
    """A column with missing cells. Numbers are standardised, the other kinds are codes of their levels."""

    kind: str
    values: numpy.ndarray  # NaN where missing
    levels: numpy.ndarray | None = None
    mean: float = 0.0
    deviation: float = 1.0

    @classmethod
    def read(cls, cells, kind):
        """From the cells as they are spelt, None where missing."""
        if kind in NUMERIC:
            values = pandas.to_numeric(cells).to_numpy(dtype=float)
            mean, deviation = numpy.nanmean(values), numpy.nanstd(values) or 1.0
            return cls(kind, (values - mean) / deviation, None, mean, deviation)
        levels = numpy.array(sorted(cells.dropna().unique()), dtype=object)
        codes = pandas.Categorical(cells, categories=levels).codes.astype(float)
        return cls(kind, numpy.where(codes < 0, numpy.nan, codes), levels)

    @property
    def known(self):
        return ~numpy.isnan(self.values)

    def hide(self, rows):
        """The column without the cells of these rows; the levels and the scale stay."""
        values = self.values.copy()
        values[rows] = numpy.nan
        return Column(self.kind, values, self.levels, self.mean, self.deviation)

    def one_hot(self):
        """Rows by levels for a category, else one column; NaN where missing."""
        if self.kind != "category":
            return self.values[:, None]
        matrix = (self.values[:, None] == numpy.arange(len(self.levels))).astype(float)
        matrix[~self.known] = numpy.nan
        return matrix

    def decode(self, values):
        """Estimates (standardised numbers, or codes) as cells: numbers, or levels as they are spelt."""
        return values * self.deviation + self.mean if self.levels is None else self.levels[values.astype(int)]


class Graph:
    """Undirected, unweighted neighbours of the nodes, and the nodes at exactly two hops."""

    def __init__(self, ids, edges):
        """`edges` is the path of a CSV file whose first two columns are ids."""
        ends = pandas.read_csv(edges, dtype=str, keep_default_na=False).iloc[:, :2]
        position = pandas.Series(numpy.arange(len(ids)), index=ids)
        source, target = (position[ends.iloc[:, end]].to_numpy() for end in (0, 1))
        self.one_hop = self.adjacency(sparse.coo_matrix((numpy.ones(len(ends)), (source, target)), [len(ids)] * 2))
        reached = self.adjacency(self.one_hop @ self.one_hop)
        self.two_hops = reached - reached.multiply(self.one_hop)
        self.two_hops.eliminate_zeros()
        self.degrees = numpy.asarray(self.one_hop.sum(axis=1)).ravel()

    @staticmethod
    def adjacency(matrix):
        """1 where the matrix or its transpose is not zero, without the diagonal: no node sees itself."""
        matrix = sparse.csr_matrix(matrix + matrix.T)
        matrix.setdiag(0)
        matrix.eliminate_zeros()
        matrix.data[:] = 1
        return matrix

    def means(self, matrix, hops):
        """Mean of the known rows of `matrix` among the nodes at 1 or 2 hops, NaN if none; their number."""
        adjacency = self.one_hop if hops == 1 else self.two_hops
        known = ~numpy.isnan(matrix[:, 0])
        counts = adjacency @ known.astype(float)
        sums = adjacency @ numpy.where(known[:, None], matrix, 0)
        return numpy.where(counts[:, None] > 0, sums / numpy.maximum(counts, 1)[:, None], numpy.nan), counts


def tree_features(column, graph):
    """Inputs for trees: means (or shares by level) at one and two hops, known neighbours, mode.

    Returns the matrix and which of its columns are categories.
    """
    matrix = column.one_hot()
    near, counts = graph.means(matrix, 1)
    far, _ = graph.means(matrix, 2)
    if column.kind != "category":
        return numpy.hstack([near, far, counts[:, None]]), [False] * 3
    frequent = numpy.sort(numpy.argsort(-numpy.nanmean(matrix, axis=0), kind="stable")[:MAX_SHARES])
    mode = numpy.where(counts > 0, numpy.nan_to_num(near).argmax(axis=1), numpy.nan)
    features = numpy.hstack([near[:, frequent], far[:, frequent], counts[:, None], mode[:, None]])
    return features, [False] * (2 * len(frequent) + 1) + [True]


def linear_features(column, graph):
    """Inputs for a linear model: means (or shares by level) at one and two hops, standardised, 0 if none."""
    matrix = column.one_hot()
    features = numpy.hstack([graph.means(matrix, hops)[0] for hops in (1, 2)])
    known = ~numpy.isnan(features)
    counts = numpy.maximum(known.sum(axis=0), 1)
    centred = numpy.where(known, features - numpy.where(known, features, 0).sum(axis=0) / counts, 0)
    deviations = numpy.sqrt((centred**2).sum(axis=0) / counts)
    return centred / numpy.where(deviations > 1e-9, deviations, 1)
