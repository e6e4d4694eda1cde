"""scikit-learn's IterativeImputer and KNNImputer on tables with categories.

They get numbers and counts standardised, booleans as 0 and 1, and categories in three codings: a
column for each level, the same without the most frequent level, and standardised codes. (The levels
of a row add up to 1, so that IterativeImputer's linear model, given all of them, only finds the
others' starting values again: it never leaves the most frequent level.)
"""

import time

import numpy
import pandas
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

from neighbour_features import NUMERIC

CODINGS = ("levels", "all levels but one", "codes")
LABELS = {"iterative": "IterativeImputer", "knn": "KNNImputer"}


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
        if kind in NUMERIC:
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
    if name == "iterative":
        result = IterativeImputer(random_state=0).fit_transform(matrix)[rows]
    else:
        result = KNNImputer().fit(matrix).transform(matrix[rows])
    return result, time.perf_counter() - started
