"""CUDA's libraries from pip's NVIDIA packages, for machines without a CUDA toolkit."""

from __future__ import annotations

import ctypes
import glob
import importlib.util
import os
import sys

__all__ = ["load_libraries"]

#: What must be loaded, each behind what it needs.
_LIBRARIES = ("cublasLt", "cublas", "nvrtc-builtins", "nvrtc")
_loaded = False


def load_libraries(device: str) -> None:
    """Loads CUDA's libraries from the packages of this interpreter, once, where there is a driver."""
    global _loaded
    if _loaded or device == "cpu" or not sys.platform.startswith("linux"):
        return
    _loaded = True
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return
    for name in _LIBRARIES:
        for path in _candidates(name):
            try:
                ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
            except OSError:
                continue
            break


def _candidates(name: str) -> list[str]:
    """The files of a library in the folders of the ``nvidia`` packages, the newest first."""
    package = importlib.util.find_spec("nvidia")
    folders = [] if package is None else list(package.submodule_search_locations or [])
    found = [
        path
        for folder in folders
        for path in glob.glob(os.path.join(folder, "*", "lib", f"lib{name}.so.*"))
    ]
    return sorted(found, reverse=True)
