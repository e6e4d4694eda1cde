"""The core: fill, models, uncertainty, draws, reports, errors, warnings."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path

import graphfill as gf
import pytest

np = pytest.importorskip("numpy")
pl = pytest.importorskip("polars")

TOWN_ROWS = 300


@pytest.fixture(scope="module")
def town() -> tuple[object, object]:
    """People on a ring who resemble their neighbours; a third of the cells is missing."""
    random = np.random.default_rng(1)
    at = np.arange(TOWN_ROWS)
    age = 40 + 20 * np.sin(at / 15) + random.normal(0, 1, TOWN_ROWS)
    city = np.where(np.sin(at / 15) > 0, "Oslo", "Rome")
    gone = random.random((2, TOWN_ROWS)) < 0.3
    nodes = pl.DataFrame(
        {
            "who": [f"p{row}" for row in at],
            "age": [None if gone[0, row] else float(age[row]) for row in at],
            "city": [None if gone[1, row] else str(city[row]) for row in at],
        }
    )
    near = [(row, (row + step) % TOWN_ROWS) for row in at for step in (1, 2)]
    edges = pl.DataFrame({"from": [f"p{a}" for a, _ in near], "to": [f"p{b}" for _, b in near]})
    return nodes, edges


def test_the_same_frame_comes_back_with_estimates(town) -> None:
    nodes, edges = town
    result = gf.fill(nodes, edges, method="neighbour-mean")
    filled = result.nodes
    assert isinstance(filled, pl.DataFrame) and filled.schema == nodes.schema
    assert filled.null_count().sum_horizontal().item() == 0
    for column in nodes.columns:
        known = nodes[column].is_not_null()
        assert filled[column].filter(known).equals(nodes[column].filter(known))
    assert result.estimated == nodes.null_count().sum_horizontal().item()
    assert result.found is not None and result.found.id == "who"
    assert (result.found.source, result.found.target) == ("from", "to")
    assert result.kinds == {"age": "number", "city": "category"}
    missing = nodes["age"].is_null().to_numpy()
    truth = 40 + 20 * np.sin(np.arange(TOWN_ROWS) / 15)
    assert np.abs(filled["age"].to_numpy()[missing] - truth[missing]).mean() < 4
    assert "cells estimated" in repr(result) and "<img" not in result._repr_html_()


def test_scores_are_hit_rates_of_levels_and_errors_of_numbers(town) -> None:
    nodes, edges = town
    result = gf.fill(nodes, edges, method="arb")
    age, city = result.scores["age"], result.scores["city"]
    assert (age.measure, age.most_frequent) == ("rmse", None) and 0 < age.value < 5
    assert city.measure == "hit rate" and city.most_frequent is not None
    assert 0.4 < city.most_frequent < 0.7 < city.value <= 1
    assert "city: arb, hit rate 0.9" in repr(result) and "(most frequent level: 0." in str(city)
    missing = nodes["city"].is_null().to_numpy()
    truth = np.where(np.sin(np.arange(TOWN_ROWS) / 15) > 0, "Oslo", "Rome")
    right = (result.nodes["city"].to_numpy()[missing] == truth[missing]).mean()
    assert abs(right - city.value) < 0.1


def test_estimates_are_the_command_lines(town, tmp_path: Path) -> None:
    nodes, edges = town
    nodes.write_parquet(tmp_path / "nodes.parquet")
    edges.write_parquet(tmp_path / "edges.parquet")
    from graphfill import _native

    out = tmp_path / "filled.parquet"
    files = [str(tmp_path / "nodes.parquet"), str(tmp_path / "edges.parquet"), "-o", str(out)]
    assert _native.main(["fill", *files, "--method", "arb", "--seed", "3", "--quiet"]) == 0
    result = gf.fill(nodes, edges, method="arb", seed=3)
    assert result.nodes.equals(pl.read_parquet(out))
    from_files = gf.fill(tmp_path / "nodes.parquet", tmp_path / "edges.parquet", method="arb", seed=3)
    assert from_files.nodes["age"].tolist() == result.nodes["age"].to_list()


def test_uncertainty_is_found_out_on_demand_and_does_not_change_estimates(town, tmp_path: Path) -> None:
    nodes, edges = town
    later = gf.fill(nodes, edges, method="arb")
    at_once = gf.fill(nodes, edges, method="arb", intervals=[0.5, 0.9])
    assert later.coverage == []
    assert later.uncertainty.shape[0] == later.estimated
    assert {"age", "city"} == set(later.uncertainty["column"].to_list())
    assert later.nodes.equals(at_once.nodes.select(nodes.columns))
    added = set(at_once.nodes.columns) - set(nodes.columns)
    assert {"age__lower50", "age__upper90", "city__set90", "city__probability"} <= added
    inside = at_once.nodes.filter(pl.col("age__lower90").is_not_null())
    assert (inside["age__lower90"] <= inside["age"]).all() and (inside["age"] <= inside["age__upper90"]).all()
    assert {coverage.column for coverage in later.coverage} == {"age", "city"}
    assert "<img" in later._repr_html_()
    page = later.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert "graphfill.fill(" in page and "<svg" in page


def test_draws_are_frames_that_differ_in_estimated_cells_only(town) -> None:
    nodes, edges = town
    first, second = gf.fill(nodes, edges, method="arb").draws(2)
    known = nodes["age"].is_not_null()
    assert first["age"].filter(known).equals(nodes["age"].filter(known))
    assert not first["age"].filter(~known).equals(second["age"].filter(~known))


def test_models_fill_later_tables_and_survive_files_pickles_and_copies(town, tmp_path: Path) -> None:
    nodes, edges = town
    model = gf.SvgaP(hidden=16, models=1, seed=0, max_updates=30, intervals=0.9).fit(nodes, edges)
    assert model.method == "svga-p" and model.columns == ["age", "city"] and model.is_calibrated
    model.save(tmp_path / "m.gf")
    expected = model.transform(nodes, edges)
    for other in (gf.load(tmp_path / "m.gf"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gf.GraphfillWarning)
            again = other.transform(nodes, edges)
        assert again.nodes.equals(expected.nodes)
        assert other.parameters["hidden"] == 16
    with pytest.raises(gf.CallError, match="trained already"):
        model.transform(nodes, edges, seed=1)
    uncalibrated = gf.Arb().fit(nodes, edges)
    with pytest.raises(gf.MethodError, match="how sure"):
        uncalibrated.transform(nodes, edges).uncertainty
    assert repr(gf.SvgaP(hidden=16, seed=0)) == "SvgaP(hidden=16, seed=0)"


def test_a_complete_table_has_nothing_to_be_sure_of(town) -> None:
    nodes, edges = town
    complete = nodes.fill_null(strategy="forward").fill_null(strategy="backward")
    result = gf.fill(complete, edges)
    assert result.estimated == 0 and result.model is None and result.uncertainty is None
    assert [draw.equals(complete) for draw in result.draws(2)] == [True, True]
    assert result.report().startswith("<!")


def test_errors_say_where_and_which_keyword_helps(town, tmp_path: Path) -> None:
    nodes, edges = town
    stranger = pl.concat([edges, pl.DataFrame({"from": ["p0"], "to": ["nobody"]})])
    with pytest.raises(gf.DataError) as raised:
        gf.fill(nodes, stranger)
    assert raised.value.id == "nobody" and raised.value.line == edges.height + 1
    assert any("unknown_nodes" in keyword for keyword in raised.value.keywords)
    assert raised.value.file is None and str(raised.value).startswith(f"edges, row {edges.height + 1}: ")
    assert pickle.loads(pickle.dumps(raised.value)).id == "nobody"
    added = gf.fill(nodes, stranger, unknown_nodes="add", method="neighbour-mean")
    assert added.nodes.height == nodes.height + 1 and added.nodes["who"][-1] == "nobody"
    with pytest.raises(gf.DataError) as raised:
        gf.fill(nodes, edges, id="whoo")
    assert raised.value.column == "whoo" and "did you mean 'who'" in str(raised.value)
    with pytest.raises(gf.MethodError, match="svga-p"):
        gf.fill(nodes, edges, method="svgap")
    with pytest.raises(gf.CallError, match="seed"):
        gf.fill(nodes, edges, seed=-1)
    with pytest.raises(gf.MethodError, match="alpha"):
        gf.fill(nodes, edges, method="arb", param={"alpha": 7})
    with pytest.raises(gf.FileError) as raised:
        gf.fill("nowhere.csv", "nowhere.edges.csv")
    assert raised.value.file == "nowhere.csv" and isinstance(raised.value, OSError)
    assert str(raised.value).count("os error") == 1
    with pytest.raises(gf.FileError, match="none.gf"):
        gf.load("none.gf")
    with pytest.raises(gf.FileError, match="safetensors"):
        gf.load(__file__)
    nowhere = tmp_path / "none" / "report.html"
    with pytest.raises(gf.FileError, match="cannot write .*report.html: No such file") as raised:
        gf.fill(nodes, edges, method="column-mean").report(nowhere)
    assert raised.value.file == str(nowhere)
    with pytest.raises(TypeError, match=r"SvgaP\(\) got an unexpected keyword argument 'hiden'"):
        gf.SvgaP(hiden=16)
    with pytest.raises(gf.CallError, match="give the paths of both"):
        gf.fill(nodes, "edges.csv")
    with pytest.raises(gf.DeviceError) if not _has_gpu() else warnings.catch_warnings():
        gf.fill(nodes, edges, device="cuda", method="svga-p", max_updates=2)


def _has_gpu() -> bool:
    return len(gf.devices()) > 1


def test_guesses_and_doubts_are_warnings() -> None:
    nodes = pl.DataFrame({"size": ["1", "2", "NA", "4"] * 5, "note": [f"free text {n}" for n in range(19)] + [None]})
    with pytest.warns(gf.GuessWarning, match="missing_values"):
        result = gf.fill(nodes, [(0, 1), (1, 2), (2, 3)], method="column-mean")
    assert any("NA" in note for note in result.notes)
    with pytest.warns(gf.GraphfillWarning, match="'note' was left as it is, 1 cell missing"):
        gf.fill(nodes, [(0, 1)], method="column-mean", quiet=True)
    with pytest.warns(gf.GraphfillWarning, match="no edges"):
        gf.fill(nodes, None, method="column-mean", quiet=True)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        gf.fill(nodes, [(0, 1)], method="column-mean", quiet=True, type={"note": "unused", "size": "number"})
    assert not [one for one in seen if issubclass(one.category, gf.GuessWarning)]
    assert all(one.filename == __file__ for one in seen), "warnings point at the caller"


def test_values_that_were_said_to_be_missing_are_no_guess() -> None:
    nodes = pl.DataFrame({"size": [1.5, 2.5, -999, 4.5] * 5, "word": ["a", "unknown", "b", "a"] * 5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = gf.fill(nodes, [(0, 1), (1, 2)], method="column-mean", missing_values=[-999, "unknown"])
    assert result.estimated == 10 and any("-999" in note for note in result.notes)
    with pytest.warns(gf.GuessWarning, match="missing_values"):
        gf.fill(nodes.with_columns(more=pl.Series(["1", "2", "?", "4"] * 5)), [(0, 1)], missing_values=[-999, "unknown"])


def test_warnings_of_a_property_point_at_its_reader() -> None:
    result = gf.fill(pl.DataFrame({"x": [1.0, None, 3.0]}), [(0, 1), (1, 2)], method="column-mean")
    with pytest.warns(gf.GraphfillWarning, match="how sure the estimates") as seen:
        assert result.uncertainty.height == 1
    assert [one.filename for one in seen] == [__file__]


def test_whole_numbers_and_digits_of_arrays_are_kept() -> None:
    x = np.array([[1.0], [np.nan], [4.0]])
    result = gf.fill(x, np.array([[0, 1], [1, 2]]), method="neighbour-mean")
    assert result.nodes.tolist() == [[1.0], [2.5], [4.0]]
    frame = pl.DataFrame({"n": [1, None, 4]})
    assert gf.fill(frame, [(0, 1), (1, 2)], method="neighbour-mean").nodes["n"].dtype == pl.Int64


def test_evaluation(town) -> None:
    nodes, edges = town
    scores = gf.evaluate(nodes, edges, methods=["column-mean", "neighbour-mean"], seeds=range(2), hide_cells=0.2)
    assert set(scores.means) == {"column-mean", "neighbour-mean"}
    assert isinstance(scores.scores, pl.DataFrame) and scores.scores.height == 4
    assert scores.scores["seed"].to_list() == [0, 1, 0, 1]
    assert scores.means["neighbour-mean"]["nrmse"] < scores.means["column-mean"]["nrmse"]
    assert scores.columns["column-mean"]["city"]["accuracy"] <= 1
    assert "neighbour-mean" in repr(scores) and "<table" in scores._repr_html_()
    assert scores.report().startswith("<!")
    with pytest.raises(gf.CallError, match="hide_cells"):
        gf.evaluate(nodes, edges, hide_cells=2.0)


def test_methods_and_devices_are_listed() -> None:
    names = {method["name"] for method in gf.methods()}
    classes = {getattr(gf, name) for name in gf.__all__ if isinstance(getattr(gf, name, None), type)}
    own = {kind.name for kind in classes if issubclass(kind, gf.Method) and kind is not gf.Method}
    assert own == names
    assert gf.devices()[0]["device"] == "cpu"


def test_progress_is_told_and_an_exception_in_it_stops_the_work(town) -> None:
    nodes, edges = town
    stages: list[str] = []

    def told(stage: str, done: int, total: int | None, message: str) -> None:
        stages.append(stage)

    # Long enough to be told of, however fast the machine.
    gf.SvgaP(hidden=64, models=8, patience=10_000).fit(nodes, edges, progress=told)
    assert any(stages)

    def refuse(stage: str, done: int, total: int | None, message: str) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gf.SvgaP(hidden=64, models=8, patience=10_000).fit(nodes, edges, progress=refuse)


def test_classes_are_those_that_the_generator_writes() -> None:
    import subprocess
    import sys

    script = Path(__file__).parents[1] / "generate_methods.py"
    done = subprocess.run([sys.executable, "-P", str(script), "--check"], check=False)
    assert done.returncode == 0, "run python/generate_methods.py"
