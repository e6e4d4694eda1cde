"""Imports of packages that graphfill does not depend on, at the moment that they are needed."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["require"]


def require(module: str, *, install: str, purpose: str) -> Any:
    """Import `module`, or say what to install.

    Parameters
    ----------
    module
        The module to import, such as ``"torch_geometric.transforms"``.
    install
        The package that has it, as ``pip install`` takes it.
    purpose
        What needs the module; the subject of the error's sentence.

    Raises
    ------
    ImportError
        If the module cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{purpose} needs {module.partition('.')[0]}, which could not be imported ({error}); "
            f"to fix it, pip install {install}",
            name=module,
        ) from error
