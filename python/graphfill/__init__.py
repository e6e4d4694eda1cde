"""graphfill fills in what a graph doesn't know about its nodes.

>>> import graphfill as gf
>>> import pandas as pd
>>> people = pd.DataFrame({"name": ["ann", "bob", "cid", "dan"], "age": [34, None, 36, 35]})
>>> friends = pd.DataFrame({"from": ["ann", "bob", "bob", "cid"], "to": ["bob", "cid", "dan", "dan"]})
>>> result = gf.fill(people, friends, id="name", method="neighbour-mean")
>>> result.nodes["age"].tolist()
[34.0, 35.0, 36.0, 35.0]

``fill`` estimates missing cells, ``evaluate`` scores methods on values that it hides, a method such as ``SvgaP``
gives a model that can be saved. ``graphfill.sklearn``, ``graphfill.pyg``, ``graphfill.anndata`` and
``graphfill.spatial`` are for scikit-learn, PyTorch Geometric, scverse and geopandas.
"""

from __future__ import annotations

import importlib
import json
from typing import TYPE_CHECKING, Any

from graphfill import _native
from graphfill._choices import Choice, Score
from graphfill._cuda import load_libraries
from graphfill._evaluate import Evaluation, evaluate
from graphfill._fill import fill
from graphfill._methods import (
    Arb,
    Arwmf,
    Auto,
    ColumnMean,
    FeaturePropagation,
    Gat,
    Gcn,
    Gmrf,
    Gnn,
    Grape,
    GraphRna,
    NeighbourMean,
    Pcfi,
    Sage,
    Sat,
    Svga,
    SvgaP,
    SvgaR,
    SvgaU,
    Vae,
)
from graphfill._model import Method, Model, load
from graphfill._result import Coverage, FillResult, FoundColumns
from graphfill.errors import (
    CallError,
    DataError,
    DeviceError,
    FileError,
    GraphfillError,
    GraphfillWarning,
    GuessWarning,
    Interrupted,
    MethodError,
)

if TYPE_CHECKING:
    from graphfill import anndata, pyg, sklearn, spatial

__version__ = _native.version()

__all__ = [
    "Arb",
    "Arwmf",
    "Auto",
    "CallError",
    "Choice",
    "ColumnMean",
    "Coverage",
    "DataError",
    "DeviceError",
    "Evaluation",
    "FeaturePropagation",
    "FileError",
    "FillResult",
    "FoundColumns",
    "Gat",
    "Gcn",
    "Gmrf",
    "Gnn",
    "Grape",
    "GraphRna",
    "GraphfillError",
    "GraphfillWarning",
    "GuessWarning",
    "Interrupted",
    "Method",
    "MethodError",
    "Model",
    "NeighbourMean",
    "Pcfi",
    "Sage",
    "Sat",
    "Score",
    "Svga",
    "SvgaP",
    "SvgaR",
    "SvgaU",
    "Vae",
    "anndata",
    "devices",
    "evaluate",
    "fill",
    "load",
    "methods",
    "pyg",
    "sklearn",
    "spatial",
]

_ADAPTERS = ("anndata", "pyg", "sklearn", "spatial")


def __getattr__(name: str) -> Any:
    """The adapters of other libraries, which are imported when they are first used."""
    if name in _ADAPTERS:
        return importlib.import_module(f"graphfill.{name}")
    raise AttributeError(f"module 'graphfill' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)


def methods() -> list[dict[str, Any]]:
    """Every method: name, title, what it does, where it was published, and its parameters.

    >>> import graphfill as gf
    >>> [method["name"] for method in gf.methods()][:3]
    ['column-mean', 'neighbour-mean', 'fp']
    """
    found: list[dict[str, Any]] = json.loads(_native.methods_json())
    return found


def devices() -> list[dict[str, Any]]:
    """The CPU and the NVIDIA GPUs of this machine, and what is missing to use them.

    >>> import graphfill as gf
    >>> gf.devices()[0]["device"]
    'cpu'
    """
    load_libraries("auto")
    found: list[dict[str, Any]] = json.loads(_native.devices_json())["devices"]
    return found
