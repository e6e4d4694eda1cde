"""Draws docs/results.svg from docs/reproduction/table2.csv and table3.csv.

    python3 docs/results_chart.py

Bars are means over ten seeds, lines on them one standard deviation to either side. The dashed line is
the figure that the SVGA paper publishes for SVGA.
"""

import csv
from pathlib import Path
from statistics import mean, stdev

DOCS = Path(__file__).resolve().parent
METHODS = ["column-mean", "neighbour-mean", "pcfi", "fp", "svga", "arb", "svga-p"]
# Title, table, data set, metric, axis maximum, the paper's figure for SVGA.
PANELS = [
    ("Cora, Recall@10", "table2", "cora", "recall@10", 0.2, 0.1718),
    ("Photo, Recall@10", "table2", "photo", "recall@10", 0.05, 0.0446),
    ("Pubmed, R²", "table3", "pubmed", "r2", 0.16, 0.1169),
]
SEEDS = 10
LABELS, PANEL, GAP, ROW, TOP, PAD = 118, 200, 68, 26, 66, 20
BACKGROUND, TEXT, MUTED, BAR, BEST = "#0d1117", "#e6edf3", "#9198a1", "#4b7bb5", "#3fb950"


def scores(table, dataset, metric):
    """The values per method, one per seed."""
    values = {method: [] for method in METHODS}
    with open(DOCS / "reproduction" / f"{table}.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["dataset"] == dataset and row["method"] in values and row["labels"] == "0":
                values[row["method"]].append(float(row[metric]))
    for method, found in values.items():
        assert len(found) == SEEDS, f"{dataset}, {method}: {len(found)} seeds, expected {SEEDS}"
    return values


def text(x, y, content, colour=TEXT, anchor="start", weight="normal"):
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}">{content}</text>'


def number(value):
    """Four decimals, without the zero before the point."""
    return f"{value:.4f}".replace("0.", ".", 1).replace("-", "−")


def panel(left, title, values, maximum, published):
    bottom = TOP + ROW * len(METHODS)
    position = lambda value: left + PANEL * max(0.0, value) / maximum
    best = max(METHODS, key=lambda method: mean(values[method]))
    parts = [text(left, TOP - 16, title, weight="bold")]
    for index, method in enumerate(METHODS):
        centre = TOP + ROW * index + ROW / 2
        average, spread = mean(values[method]), stdev(values[method])
        colour = BEST if method == best else BAR
        width = position(average) - left
        parts.append(f'<rect x="{left}" y="{centre - 8:.1f}" width="{width:.1f}" height="16" fill="{colour}"/>')
        if width > 0:
            low, high = position(average - spread), position(average + spread)
            parts.append(f'<path d="M{low:.1f} {centre:.1f}H{high:.1f}" stroke="{TEXT}" stroke-width="1.5"/>')
        parts.append(text(left + PANEL + 6, centre + 4, number(average), TEXT if method == best else MUTED))
    line = position(published)
    parts.append(f'<path d="M{line:.1f} {TOP - 4}V{bottom + 4}" stroke="{TEXT}" stroke-dasharray="4 3"/>')
    parts.append(f'<path d="M{left} {TOP - 4}V{bottom + 4}" stroke="{MUTED}"/>')
    return parts


def main():
    width = PAD + LABELS + len(PANELS) * (PANEL + GAP)
    height = TOP + ROW * len(METHODS) + 44
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"',
        '     font-family="Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif" font-size="13" role="img">',
        "<title>Accuracy of graphfill's methods on Cora, Photo and Pubmed</title>",
        f'<rect width="{width}" height="{height}" rx="10" fill="{BACKGROUND}"/>',
        text(PAD, 26, "The features of half of the nodes are hidden and estimated; higher is better", MUTED),
    ]
    for index, method in enumerate(METHODS):
        parts.append(text(PAD + LABELS - 12, TOP + ROW * index + ROW / 2 + 4, method, anchor="end"))
    for index, (title, table, dataset, metric, maximum, published) in enumerate(PANELS):
        values = scores(table, dataset, metric)
        parts += panel(PAD + LABELS + index * (PANEL + GAP), title, values, maximum, published)
    note = "Mean of ten seeds ± standard deviation. Dashed: SVGA as published. A negative R² has no bar."
    parts.append(text(PAD, height - 16, note, MUTED))
    (DOCS / "results.svg").write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
