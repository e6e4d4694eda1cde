"""Takes docs/report.png: the first section of the report of `graphfill demo`, as a browser shows it.

    cargo build --release && python3 docs/report_picture.py

Needs Chromium (the program `chromium`, or the one that the variable CHROMIUM names) and Pillow.
"""

import os
import subprocess
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT, COLOURS = 960, 978, 128
# What is above and below the first section is left out.
CROP = "<style>header, nav, section:not(#observed) { display: none !important }</style>"


def main():
    program = ROOT / "target" / "release" / "graphfill"
    with tempfile.TemporaryDirectory() as folder:
        page, picture = Path(folder) / "demo.html", Path(folder) / "demo.png"
        subprocess.run([program, "demo", "--quiet", "--report", page], check=True, stdout=subprocess.DEVNULL)
        page.write_text(page.read_text().replace("</head>", CROP + "</head>", 1))
        subprocess.run([
            os.environ.get("CHROMIUM", "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", "--virtual-time-budget=3000", page.as_uri(),
        ], check=True, capture_output=True)
        image = Image.open(picture).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        image.save(ROOT / "docs" / "report.png", optimize=True)


if __name__ == "__main__":
    main()
