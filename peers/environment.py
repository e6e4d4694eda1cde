"""The virtual environment that the peers run in."""

import importlib.util
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
FOLDER = HERE / ".venv"


MODULES = {"scikit-learn": "sklearn"}  # packages whose module has another name


def missing(packages):
    """Those of the packages that this interpreter cannot import."""
    return [package for package in packages if not importlib.util.find_spec(MODULES.get(package, package))]


def run_inside(packages):
    """Runs the calling script again inside the environment, once that has these packages.

    An interpreter that has all of them already, be it through PYTHONPATH, is taken as it is: neither
    the environment nor pip is needed then.
    """
    if Path(sys.prefix) == FOLDER or not missing(packages):
        return
    python = FOLDER / "bin" / "python"
    if not python.exists():
        print("making a virtual environment in", FOLDER.relative_to(ROOT), file=sys.stderr)
        venv.create(FOLDER, with_pip=True)
    if subprocess.run([python, "-m", "pip", "install", "--quiet", *packages]).returncode:
        sys.exit(f"cannot import {', '.join(missing(packages))}, and pip cannot install the packages; to run without "
                 "pip, install them for this interpreter or name their folder in PYTHONPATH")
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
