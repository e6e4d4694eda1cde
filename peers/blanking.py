"""Which known cells of a table to blank, by pattern of missingness."""

import numpy

PATTERNS = ("cells", "rows+cells", "degree")
MAX_CHANCE = 0.9  # of a cell to be blanked by `degree`


def choose_cells(truth, columns, degrees, pattern, share, seed):
    """Boolean mask (rows by columns) of the cells to blank; only known cells are chosen.

    - cells: `share` of the known cells, uniformly at random
    - rows+cells: whole rows, `share / 2` of them, and `share / 2` of the known cells of the other rows;
      10% and 10% with a share of 0.2
    - degree: each known cell independently with probability `min(0.9, s / (1 + degree))`, where
      degree is the node's number of neighbours and s makes the expected number of cells `share` of
      the known ones: nodes with few neighbours lose most

    At least two different values stay in each column, since a column without them cannot be
    estimated.
    """
    known = truth[columns].notna().to_numpy()
    if pattern == "cells":
        return choose_uniformly(truth, columns, known, share, numpy.random.default_rng(seed))
    generator = numpy.random.default_rng([seed, PATTERNS.index(pattern)])
    if pattern == "rows+cells":
        rows = generator.permutation(len(known)) < round(share / 2 * len(known))
        others = numpy.flatnonzero(known & ~rows[:, None])
        blanked = known & rows[:, None]
        blanked.flat[generator.choice(others, round(share / 2 * len(others)), replace=False)] = True
    else:
        chance = degree_chance(degrees, known.sum(axis=1), share)
        blanked = known & (generator.random(known.shape) < chance[:, None])
    return keep_two_values(truth, columns, known, blanked, generator)


def choose_uniformly(truth, columns, known, share, generator):
    """A share of the known cells; the two different values that stay in each column are drawn first."""
    free = known.copy()
    for position, name in enumerate(columns):
        values = truth[name].to_numpy()
        order = generator.permutation(numpy.flatnonzero(known[:, position]))
        other = next(row for row in order if values[row] != values[order[0]])
        free[[order[0], other], position] = False
    places = numpy.flatnonzero(free)
    blanked = numpy.zeros(known.shape, dtype=bool)
    blanked.flat[generator.choice(places, min(len(places), round(share * known.sum())), replace=False)] = True
    return blanked


def degree_chance(degrees, known_per_row, share):
    """Probability per row, min(0.9, s / (1 + degree)), with s found by bisection."""
    weights = 1 / (1 + numpy.asarray(degrees, dtype=float))
    target = min(share, MAX_CHANCE) * known_per_row.sum()
    low, high = 0.0, MAX_CHANCE / weights.min()
    for _ in range(100):
        middle = (low + high) / 2
        expected = (numpy.minimum(MAX_CHANCE, middle * weights) * known_per_row).sum()
        low, high = (middle, high) if expected < target else (low, middle)
    return numpy.minimum(MAX_CHANCE, high * weights)


def keep_two_values(truth, columns, known, blanked, generator):
    """Restores blanked cells of columns in which fewer than two different values would stay."""
    blanked = blanked.copy()
    for position, name in enumerate(columns):
        values = truth[name].to_numpy()
        left = set(values[known[:, position] & ~blanked[:, position]])
        for row in generator.permutation(numpy.flatnonzero(blanked[:, position])):
            if len(left) > 1:
                break
            if values[row] not in left:
                left.add(values[row])
                blanked[row, position] = False
    return blanked
