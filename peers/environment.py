"""The virtual environment that the peers run in."""

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FOLDER = HERE / ".venv"


def run_inside(packages):
    """Runs the calling script again inside the environment, once that has these packages.

    An interpreter that has all of them already is taken as it is.
    """
    if Path(sys.prefix) == FOLDER or all(importlib.util.find_spec(package) for package in packages):
        return
    python = FOLDER / "bin" / "python"
    if not python.exists():
        print("making a virtual environment in", FOLDER.relative_to(ROOT), file=sys.stderr)
        venv.create(FOLDER, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    sys.exit(subprocess.run([python, *sys.argv]).returncode)


def build_example(name):
    """Builds an example of the library and returns its path."""
    command = ["cargo", "build", "--release", "--quiet", "-p", "graphfill", "--example", name]
    subprocess.run(command, cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    found = subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True, text=True)
    import json

    return Path(json.loads(found.stdout)["target_directory"]) / "release" / "examples" / name


def build_program(build=True):
    """Builds the command-line program, unless told not to, and returns its path."""
    if build:
        subprocess.run(["cargo", "build", "--release", "--quiet", "--locked"], cwd=ROOT, check=True)
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps"]
    found = subprocess.run(metadata, cwd=ROOT, check=True, capture_output=True, text=True)
    import json

    return Path(json.loads(found.stdout)["target_directory"]) / "release" / "graphfill"
