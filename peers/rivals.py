"""Rivals that estimate one column at a time: ridge regression and LightGBM, with and without the graph.

Each is tuned by random search. A trial is judged on 10% of the known cells of each column, which
neither the fit nor the neighbours' means of that column see; the best trial of each column is fitted
again on all its known cells. Trials are the same for all columns of a table and depend on the seed
alone.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy
from sklearn.linear_model import Ridge

from neighbour_features import NUMERIC, linear_features, tree_features

VALIDATION_SHARE = 0.1
RIDGE_GRID = {
    "alpha": tuple(10 ** (exponent / 2) for exponent in range(-4, 9)),  # 0.01 to 10,000
    "neighbour_weight": (0.1, 0.3, 1.0),  # factor on the standardised means of the neighbours
}
RIDGE_FIRST = {"alpha": 10.0, "neighbour_weight": 0.3}  # the first trial
MAX_RIDGE_ROUNDS = 5
MAX_TREES = 600  # per class; early stopping decides below that
EARLY_STOPPING_ROUNDS = 40
LIGHTGBM_GRID = {
    "learning_rate": (0.03, 0.06, 0.12),
    "num_leaves": (4, 8, 16, 31, 63),
    "min_data_in_leaf": (3, 5, 10, 20, 50),
    "feature_fraction": (0.3, 0.5, 0.8, 1.0),
    "bagging_fraction": (0.6, 0.8, 1.0),
    "lambda_l2": (0.0, 0.1, 1.0, 10.0),
}
LIGHTGBM_FIRST = {  # the first trial
    "learning_rate": 0.06, "num_leaves": 16, "min_data_in_leaf": 10, "feature_fraction": 0.8,
    "bagging_fraction": 0.8, "lambda_l2": 1.0,
}


def split(columns, seed):
    """Validation rows of each column: 10% of its known cells, such that two different values stay."""
    generator = numpy.random.default_rng([seed, 1])
    chosen = {}
    for name, column in columns.items():
        order = generator.permutation(numpy.flatnonzero(column.known))
        count = max(1, round(VALIDATION_SHARE * len(order)))
        if len(numpy.unique(column.values[order[count:]])) < 2:
            count = 0
        chosen[name] = numpy.sort(order[:count])
    return chosen


def draw_trials(first, grid, trials, seed):
    """Parameters of so many trials: a stated first one, the others at random from the grid."""
    generator = numpy.random.default_rng([seed, 2])
    drawn = [{name: values[generator.integers(len(values))] for name, values in grid.items()}
             for _ in range(trials - 1)]
    return [first, *drawn]


class RidgeNeighbours:
    """Ridge regression on the other columns of the row and the neighbours' means of all columns.

    Missing inputs start at the column's mean. Then columns are estimated in turn, round by round, and
    the estimates replace the missing inputs, as in IterativeImputer. Categories are regressed as one
    column per level, the largest wins. Estimates stay within the range of the known values. Tuned:
    alpha and the weight of the neighbours' means per column, and the number of rounds, which all
    columns share. (A small weight penalises the means more than the row's own values.)
    """

    label = "ridge + neighbour means"

    def __init__(self, trials, seed, threads):
        self.trials = draw_trials(RIDGE_FIRST, RIDGE_GRID, trials, seed)
        self.seed = seed

    def estimate(self, columns, graph):
        """Estimates of all cells by column, and the chosen parameters."""
        held = split(columns, self.seed)
        hidden = {name: column.hide(held[name]) for name, column in columns.items()}
        errors = numpy.zeros((len(self.trials), MAX_RIDGE_ROUNDS, len(columns)))
        for trial, parameters in enumerate(self.trials):
            rounds = self.rounds(hidden, graph, dict.fromkeys(columns, parameters), MAX_RIDGE_ROUNDS)
            for number, estimates in enumerate(rounds):
                for position, (name, column) in enumerate(columns.items()):
                    truth = column.one_hot()
                    spread = numpy.nanvar(truth, axis=0).sum()
                    difference = (estimates[name] - truth)[held[name]]
                    errors[trial, number, position] = (difference**2).sum() / max(1, len(held[name])) / spread
        rounds = int(errors.min(axis=0).mean(axis=1).argmin())
        chosen = {name: self.trials[trial] for name, trial in zip(columns, errors[:, rounds].argmin(axis=0))}
        *_, estimates = self.rounds(columns, graph, chosen, rounds + 1)
        decoded = {}
        for name, column in columns.items():
            values = estimates[name]
            if column.kind == "category":
                decoded[name] = column.decode(values.argmax(axis=1))
            else:
                decoded[name] = column.decode(values[:, 0] if column.levels is None else values[:, 0] > 0.5)
        return decoded, {"rounds": rounds + 1, "columns": chosen}

    @staticmethod
    def rounds(columns, graph, parameters, rounds):
        """Yields the estimates of all cells (rows by levels, by column) after each round."""
        blocks = {name: column.one_hot() for name, column in columns.items()}
        means = {name: numpy.nanmean(block, axis=0) for name, block in blocks.items()}
        # A boolean or a level is centred, not standardised: a rare one would outweigh all else.
        inputs = {name: numpy.nan_to_num(block - means[name]) for name, block in blocks.items()}
        neighbours = [linear_features(column, graph) for column in columns.values()]
        neighbours.append((numpy.log1p(graph.degrees) - numpy.log1p(graph.degrees).mean())[:, None])
        neighbours = numpy.hstack(neighbours)
        for _ in range(rounds):
            estimates = {}
            for name, column in columns.items():
                others = [block for other, block in inputs.items() if other != name]
                design = numpy.hstack([*others, parameters[name]["neighbour_weight"] * neighbours])
                known = column.known
                model = Ridge(alpha=parameters[name]["alpha"]).fit(design[known], blocks[name][known])
                estimate = model.predict(design).reshape(blocks[name].shape)
                estimate = estimate.clip(numpy.nanmin(blocks[name], axis=0), numpy.nanmax(blocks[name], axis=0))
                inputs[name][~known] = (estimate - means[name])[~known]
                estimates[name] = estimate
            yield estimates


class LightGbm:
    """LightGBM on the other columns of the row: NaN where missing, categories as native categories."""

    label = "LightGBM"
    sees_graph = False

    def __init__(self, trials, seed, threads):
        self.trials, self.seed, self.threads = draw_trials(LIGHTGBM_FIRST, LIGHTGBM_GRID, trials, seed), seed, threads
        self.fixed = {"verbosity": -1, "seed": seed, "deterministic": True, "force_row_wise": True, "bagging_freq": 1,
                      "num_threads": 1, "feature_pre_filter": False}

    def estimate(self, columns, graph):
        """Estimates of all cells by column, and the chosen parameters."""
        held = split(columns, self.seed)
        features = {name: tree_features(column, graph) if self.sees_graph else None for name, column in columns.items()}
        # Columns at the same time, each on one thread: small tables gain nothing from several threads per tree.
        with ThreadPoolExecutor(self.threads) as pool:
            tasks = [pool.submit(self.estimate_column, columns, graph, features, name, held[name]) for name in columns]
            results = [task.result() for task in tasks]
        return ({name: estimates for name, (estimates, _) in zip(columns, results)},
                {name: chosen for name, (_, chosen) in zip(columns, results)})

    def estimate_column(self, columns, graph, features, name, held):
        """Estimates of all cells of one column, and the chosen parameters."""
        column = columns[name]
        rows = numpy.flatnonzero(column.known)
        best, trees = self.trials[0], 100
        if len(held):
            inputs = self.inputs(columns, graph, features, name, column.hide(held))
            best, trees = self.search(column, inputs, numpy.setdiff1d(rows, held), held)
        matrix, categories = self.inputs(columns, graph, features, name, None)
        model = self.fit(column, self.dataset(matrix, categories, column, rows), best, trees)
        return column.decode(self.predict(column, model, matrix)), {**best, "trees": trees}

    def inputs(self, columns, graph, features, target, hidden):
        """Inputs of all rows, and the positions of categories.

        With `hidden`, a copy of the target column without its validation cells, neighbours' features
        of the target come from the copy.
        """
        others = [column for name, column in columns.items() if name != target]
        parts = [column.values[:, None] for column in others]
        categories = [column.kind == "category" for column in others]
        if self.sees_graph:
            own = features[target] if hidden is None else tree_features(hidden, graph)
            for name in columns:
                matrix, is_category = own if name == target else features[name]
                parts.append(matrix)
                categories += is_category
            parts.append(graph.degrees[:, None])
            categories.append(False)
        if not parts:  # a single column without the graph
            parts, categories = [numpy.zeros((len(columns[target].values), 1))], [False]
        return numpy.hstack(parts), numpy.flatnonzero(categories).tolist()

    def search(self, column, inputs, fitted, held):
        """The trial with the smallest validation error, and its number of trees."""
        matrix, categories = inputs
        training = self.dataset(matrix, categories, column, fitted)
        validation = self.dataset(matrix, categories, column, held, training)
        best = None
        for trial in self.trials:
            model = self.fit(column, training, trial, MAX_TREES, validation)
            loss = next(iter(model.best_score["valid_0"].values()))
            wrong = 0.0
            if column.kind not in NUMERIC:
                wrong = (self.predict(column, model, matrix[held]) != column.values[held]).mean()
            if best is None or (wrong, loss) < best[0]:
                best = (wrong, loss), trial, max(1, model.best_iteration)
        return best[1:]

    def dataset(self, matrix, categories, column, rows, reference=None):
        import lightgbm

        return lightgbm.Dataset(matrix[rows], column.values[rows], reference=reference, params=dict(self.fixed),
                                categorical_feature=categories, free_raw_data=False)

    def fit(self, column, training, trial, trees, validation=None):
        """A model with so many trees; fewer, by early stopping, where there is a validation set."""
        import lightgbm

        objective = {"objective": "regression"}
        if column.levels is not None and len(column.levels) > 2:
            objective = {"objective": "multiclass", "num_class": len(column.levels)}
        elif column.levels is not None:
            objective = {"objective": "binary"}
        stopping = [lightgbm.early_stopping(EARLY_STOPPING_ROUNDS, verbose=False)] if validation is not None else []
        return lightgbm.train({**self.fixed, **objective, **trial}, training, trees,
                              valid_sets=[validation] if validation is not None else None, callbacks=stopping)

    @staticmethod
    def predict(column, model, matrix):
        """Standardised numbers, or codes of the likeliest levels."""
        output = model.predict(matrix)
        if column.levels is None:
            return output
        return output.argmax(axis=1) if output.ndim > 1 else (output > 0.5).astype(int)


class LightGbmNeighbours(LightGbm):
    """LightGBM on the same inputs and, for every column, what the neighbours have; see `tree_features`."""

    label = "LightGBM + neighbour features"
    sees_graph = True


TUNED = {"ridge": RidgeNeighbours, "lightgbm": LightGbm, "lightgbm-graph": LightGbmNeighbours}
