"""Draws docs/demo.svg: what `graphfill demo` prints, as a terminal shows it.

    cargo build --release && python3 docs/demo_picture.py
"""

import html
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZE, LINE, WIDTH, PAD = 13, 18, 7.83, 24


def main():
    program = ROOT / "target" / "release" / "graphfill"
    text = subprocess.run([program, "demo"], check=True, capture_output=True, text=True).stdout
    lines = ["$ graphfill demo", "", *text.rstrip().splitlines()]
    width = int(max(map(len, lines)) * WIDTH + 2 * PAD)
    height = len(lines) * LINE + 2 * PAD
    rows = []
    for number, line in enumerate(lines):
        colour = "#7ee787" if number == 0 else "#8b949e" if set(line) <= set("─ ") else "#e6edf3"
        y = PAD + SIZE + number * LINE
        rows.append(f'<text x="{PAD}" y="{y}" fill="{colour}" xml:space="preserve">{html.escape(line)}</text>')
    font = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
    picture = "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"',
        f'     font-family="{font}" font-size="{SIZE}" role="img" aria-label="What graphfill demo prints">',
        f'<rect width="{width}" height="{height}" rx="10" fill="#0d1117"/>',
        *rows,
        "</svg>",
        "",
    ])
    (ROOT / "docs" / "demo.svg").write_text(picture)


if __name__ == "__main__":
    main()
