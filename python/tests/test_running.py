"""Threads, the interpreter's lock, Ctrl-C, forks."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import graphfill as gf
import pytest

np = pytest.importorskip("numpy")


def ring(rows: int, seed: int = 0) -> tuple[object, object]:
    """Numbers on a ring, a third of them missing."""
    random = np.random.default_rng(seed)
    x = np.stack([np.sin(np.arange(rows) / 9), np.cos(np.arange(rows) / 9)], axis=1)
    x[random.random(x.shape) < 0.3] = np.nan
    at = np.arange(rows)
    return x, np.stack([at, (at + 1) % rows])


def test_eight_fits_at_once_give_what_one_gives() -> None:
    inputs = [ring(120, seed) for seed in range(8)]
    method = gf.SvgaP(hidden=16, models=1, max_updates=40)
    alone = [method.fill(*one).nodes for one in inputs]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda one: method.fill(*one).nodes, inputs))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_threads_go_on() -> None:
    ticks = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    clock = threading.Thread(target=tick)
    clock.start()
    started = time.monotonic()
    try:
        gf.SvgaP(hidden=128, models=2, patience=100_000, max_updates=600).fill(*ring(1500))
    finally:
        took = time.monotonic() - started
        done.set()
        clock.join()
    gaps = np.diff([started, *ticks])
    assert took > 0.3, "too short to tell"
    assert len(ticks) > 0.2 * took / 0.01, f"{len(ticks)} ticks in {took:.1f} s"
    # A busy machine may pause the clock now and then; a lock held while training would stop it for most of the time.
    assert gaps[gaps > 0.1].sum() < 0.5 * took


SCRIPT = textwrap.dedent(
    """
    import numpy as np, graphfill as gf
    rows = 2000
    x = np.sin(np.arange(rows) / 9).reshape(-1, 1)
    x[::3] = np.nan
    at = np.arange(rows)
    seen = []
    def progress(stage, done, total, message):
        if "train" in stage or done > 20:
            if not seen:
                print("training", flush=True)
            seen.append(stage)
    try:
        gf.SvgaP(hidden=256, models=100, patience=1_000_000).fill(x, np.stack([at, (at + 1) % rows]), progress=progress)
    except KeyboardInterrupt as stop:
        assert isinstance(stop, gf.Interrupted), type(stop)
        filled = stop.result.nodes
        assert not np.isnan(filled).any() and (filled[1::3] == x[1::3]).all()
        print("best so far", stop.result.stopped_early)
    """
)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_ends_training_with_the_best_so_far() -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "training\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert out == "best so far cancelled\n"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_the_command_line_stops_by_itself_on_ctrl_c(tmp_path) -> None:
    pl = pytest.importorskip("polars")

    x, edges = ring(2000)
    pl.DataFrame({"id": range(2000), "a": x[:, 0], "b": x[:, 1]}).fill_nan(None).write_csv(tmp_path / "n.csv")
    pl.DataFrame({"source": edges[0], "target": edges[1]}).write_csv(tmp_path / "e.csv")
    # A hundred models take much longer than the test waits, on any machine.
    words = ["fill", "n.csv", "e.csv", "-o", "out.csv", "--method", "svga-p", "--param", "svga-p.models=100"]
    words += ["--param", "svga-p.patience=1000000", "--checkpoint", "training.gf", "--checkpoint-every", "20"]
    process = subprocess.Popen(
        [sys.executable, "-m", "graphfill", *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + 60
        while not (tmp_path / "training.gf").exists() and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert (tmp_path / "out.csv").exists(), said


def _fill_in_child(result) -> None:
    result.put(float(np.nansum(gf.fill(*ring(60), method="arb").nodes)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_works() -> None:
    expected = float(np.nansum(gf.fill(*ring(60), method="arb").nodes))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fill_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == expected
    finally:
        child.join(10)
        child.kill()
