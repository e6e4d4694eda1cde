"""Tables of any size for timing `fill`, and a scorer for what it fills.

    python3 peers/mixed_tables.py make DIR --nodes 100000 [--seed 0]
    graphfill fill DIR/nodes.csv DIR/edges.csv -o filled.csv
    python3 peers/mixed_tables.py score DIR filled.csv

`make` writes nodes.csv, edges.csv (5 edges per node) and truth.csv. The table has nine columns: four
numbers, three counts, a boolean and a category of five levels. A fifth of the cells is missing at random.

Nodes lie on a ring, in an order that their ids do not tell. Three smooth functions of the position are
what neighbours share: most edges join nodes that are near on the ring, one in five joins any two. Three
more variables belong to the row alone. Columns are sums of these six, their squares and products, and
noise; so a cell can be told in part from neighbours, in part from the row's other cells, and in part only
by a model that is not linear.

`score` prints, for each column, the RMSE over the standard deviation of the true column (numbers and
counts) or the accuracy (boolean, category) on the missing cells, and their means. Same seed, same files.
Standard library only.
"""

import argparse
import csv
import math
import random
from pathlib import Path

NUMBERS = ("income", "age", "height", "temperature")
COUNTS = ("visits", "friends", "orders")
MEASURED = (*NUMBERS, *COUNTS)  # scored by their error; the others by hits
COLUMNS = (*MEASURED, "member", "region")
LEVELS = ("north", "south", "east", "west", "centre")
EDGES_PER_NODE = 5
MISSING_SHARE = 0.2
FAR_SHARE = 0.2  # of the edges
REACH = 12.0  # mean distance on the ring of the other edges
MEMORY = 0.97  # correlation of shared variables one step apart on the ring


def shared_variables(nodes, draw):
    """Three smooth functions on the ring: autoregressive, of variance one."""
    noise = math.sqrt(1.0 - MEMORY * MEMORY)
    state = [draw.gauss(0.0, 1.0) for _ in range(3)]
    for _ in range(nodes):
        state = [MEMORY * value + noise * draw.gauss(0.0, 1.0) for value in state]
        yield state


def row(shared, draw):
    """The nine values of a node, from what it shares with its neighbours and what is its own."""
    a, b, c = shared
    gauss = draw.gauss
    u, v, w = gauss(0.0, 1.0), gauss(0.0, 1.0), gauss(0.0, 1.0)
    income = 2500.0 + 600.0 * (a + u) + 150.0 * a * u + 200.0 * gauss(0.0, 1.0)
    age = 45.0 + 9.0 * (0.5 * b + v) + 3.0 * gauss(0.0, 1.0)
    height = 170.0 + 6.0 * (w + 0.6 * u) + 3.0 * gauss(0.0, 1.0)
    temperature = 12.0 + 5.0 * c + 1.5 * v * v + 1.5 * gauss(0.0, 1.0)
    visits = int(math.exp(1.5 + 0.4 * (a + v) + 0.2 * gauss(0.0, 1.0)))
    friends = int(math.exp(2.0 + 0.5 * (b - w) + 0.2 * gauss(0.0, 1.0)))
    orders = int(math.exp(1.0 + 0.5 * abs(u + c) + 0.2 * gauss(0.0, 1.0)))
    member = "yes" if a + u * v + 0.5 * gauss(0.0, 1.0) > 0.0 else "no"
    leanings = (a + u, b + v, c + w, u * w - a, b * c)
    leanings = [value + 0.5 * gauss(0.0, 1.0) for value in leanings]
    region = LEVELS[leanings.index(max(leanings))]
    numbers = (f"{income:.2f}", f"{age:.2f}", f"{height:.2f}", f"{temperature:.2f}")
    return [*numbers, visits, friends, orders, member, region]


def make(arguments):
    nodes, folder = arguments.nodes, Path(arguments.folder)
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(arguments.seed)
    place = list(range(nodes))  # on the ring, of each node
    draw.shuffle(place)
    node_at = [0] * nodes
    for node, position in enumerate(place):
        node_at[position] = node
    shared = list(shared_variables(nodes, draw))
    with (
        open(folder / "nodes.csv", "w", newline="") as nodes_file,
        open(folder / "truth.csv", "w", newline="") as truth_file,
    ):
        holed, whole = csv.writer(nodes_file), csv.writer(truth_file)
        for table in (holed, whole):
            table.writerow(["id", *COLUMNS])
        for node in range(nodes):
            values = row(shared[place[node]], draw)
            whole.writerow([node, *values])
            missing = [draw.random() < MISSING_SHARE for _ in values]
            holed.writerow([node, *("" if m else value for m, value in zip(missing, values))])
    with open(folder / "edges.csv", "w") as edges_file:
        edges_file.write("source,target\n")
        for position in range(nodes):
            lines = []
            for _ in range(EDGES_PER_NODE):
                if draw.random() < FAR_SHARE:
                    other = draw.randrange(nodes)
                else:
                    other = (position + 1 + int(draw.expovariate(1.0 / REACH))) % nodes
                lines.append(f"{node_at[position]},{node_at[other]}\n")
            edges_file.write("".join(lines))


def score(arguments):
    folder = Path(arguments.folder)
    count = {name: 0 for name in COLUMNS}
    errors = {name: 0.0 for name in COLUMNS}
    moments = {name: [0, 0.0, 0.0] for name in MEASURED}
    with (
        open(folder / "nodes.csv", newline="") as holed,
        open(folder / "truth.csv", newline="") as truth,
        open(arguments.filled, newline="") as filled,
    ):
        for before, true, found in zip(*(csv.DictReader(file) for file in (holed, truth, filled)), strict=True):
            if not before["id"] == true["id"] == found["id"]:
                raise SystemExit(f"rows differ: {before['id']}, {true['id']}, {found['id']}")
            for name in COLUMNS:
                if name in moments:
                    value, sums = float(true[name]), moments[name]
                    sums[0], sums[1], sums[2] = sums[0] + 1, sums[1] + value, sums[2] + value * value
                if before[name] == "":
                    count[name] += 1
                    if name in moments:
                        errors[name] += (float(found[name]) - value) ** 2
                    else:
                        errors[name] += found[name] == true[name]
    scores = {}
    for name in COLUMNS:
        mean_error = errors[name] / max(count[name], 1)
        if name in moments:
            rows, total, squares = moments[name]
            scores[name] = math.sqrt(mean_error / (squares / rows - (total / rows) ** 2))
        else:
            scores[name] = mean_error
        print(f"{name:12} {'rmse/sd' if name in moments else 'accuracy'} {scores[name]:.4f}")
    hits = [name for name in COLUMNS if name not in moments]
    print(f"mean rmse/sd {sum(scores[name] for name in MEASURED) / len(MEASURED):.4f}")
    print(f"mean accuracy {sum(scores[name] for name in hits) / len(hits):.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True)
    maker = commands.add_parser("make", help="write nodes.csv, edges.csv and truth.csv")
    maker.add_argument("folder")
    maker.add_argument("--nodes", type=int, default=100_000)
    maker.add_argument("--seed", type=int, default=0)
    maker.set_defaults(run=make)
    scorer = commands.add_parser("score", help="compare a filled table with truth.csv")
    scorer.add_argument("folder")
    scorer.add_argument("filled")
    scorer.set_defaults(run=score)
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
