"""graphfill.spatial.fill: GeoDataFrames with libpysal graphs, or neighbours built from geometry."""

from __future__ import annotations

import doctest
import warnings
from typing import Any

import pytest

np = pytest.importorskip("numpy", reason="numpy is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")
gpd = pytest.importorskip("geopandas", reason="geopandas is not installed")
libpysal = pytest.importorskip("libpysal", reason="libpysal is not installed")
sp = pytest.importorskip("scipy.sparse", reason="scipy is not installed")
shapely = pytest.importorskip("shapely", reason="shapely is not installed")

from libpysal.graph import Graph  # noqa: E402
from libpysal.weights import W  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill import spatial  # noqa: E402
from graphfill.errors import CallError, DataError, GraphfillWarning, GuessWarning  # noqa: E402
from graphfill.spatial import build_graph, fill  # noqa: E402

MEAN = {"method": "neighbour-mean"}


def grid(side: int = 3, crs: Any = 27700, letters: bool = True) -> Any:
    """Squares, row by row, with a price that is known but in the middle."""
    squares = [shapely.box(x, y, x + 1, y + 1) for y in range(side) for x in range(side)]
    index = [f"E{at:02}" for at in range(side * side)] if letters else None
    price = np.arange(side * side, dtype=float) ** 2 / 16
    price[side * side // 2] = np.nan
    return gpd.GeoDataFrame({"price": price}, geometry=squares, crs=crs, index=index)


def points(count: int = 30, seed: int = 0, **keywords: Any) -> Any:
    generator = np.random.default_rng(seed)
    places = gpd.points_from_xy(generator.random(count), generator.random(count))
    price = generator.random(count)
    price[::4] = np.nan
    return gpd.GeoDataFrame({"price": price}, geometry=places, **keywords)


def quiet_fill(*arguments: Any, **keywords: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphfillWarning)
        return fill(*arguments, **keywords)


def test_a_geodataframe_comes_back_with_missing_cells_replaced() -> None:
    gdf = grid()
    gdf["name"] = [f"ward {at}" for at in range(9)]
    gdf["rooms"] = pd.array([1, 2, 3, 4, 5, 6, 7, None, 9], dtype="Int64")
    gdf["kind"] = pd.Categorical(["a", "a", "a", "b", None, "a", "a", "a", "a"], categories=["b", "a", "c"])
    gdf["centre"] = gdf.centroid
    gdf = gdf[["name", "price", "geometry", "rooms", "centre", "kind"]]
    before = gdf.copy()
    filled = fill(gdf, neighbours="queen", **MEAN)
    assert type(filled) is gpd.GeoDataFrame
    assert filled.crs == gdf.crs and filled.active_geometry_name == "geometry"
    pd.testing.assert_frame_equal(pd.DataFrame(gdf), pd.DataFrame(before))
    pd.testing.assert_index_equal(filled.index, gdf.index)
    pd.testing.assert_index_equal(filled.columns, gdf.columns)
    assert (filled.dtypes == gdf.dtypes).all()
    for column in gdf.columns:
        known = ~gdf[column].isna()
        assert not filled[column].isna().any()
        pd.testing.assert_series_equal(filled[column][known], gdf[column][known])
    assert filled.loc["E04", "price"] == pytest.approx(gdf["price"].mean(), abs=1e-3)


def test_queen_and_rook() -> None:
    gdf = grid()
    sides = gdf["price"].iloc[[1, 3, 5, 7]].mean()
    assert fill(gdf, neighbours="rook", **MEAN).loc["E04", "price"] == pytest.approx(sides, abs=1e-3)
    around = gdf["price"].mean()
    assert fill(gdf, neighbours="queen", **MEAN).loc["E04", "price"] == pytest.approx(around, abs=1e-3)


def test_boundaries_that_do_not_match_exactly() -> None:
    # Contact without a shared vertex, and a slight overlap with a shared vertex.
    wall, beside = shapely.box(0, 0, 1, 9), shapely.box(1, 4, 2, 5)
    overlapping = shapely.Polygon([(2, 5), (1.99, 4.5), (2, 4), (3, 4), (3, 5)])
    gdf = gpd.GeoDataFrame(geometry=[wall, beside, overlapping])
    adjacency = spatial._built(gdf, "queen", 8)
    assert adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_what_was_built_is_said() -> None:
    with pytest.warns(GuessWarning, match="queen contiguity"):
        fill(grid(), **MEAN)
    with pytest.warns(GuessWarning, match="the 8 nearest neighbours"):
        fill(points(), **MEAN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fill(points(), neighbours="knn", **MEAN)


def test_knn_takes_the_nearest_in_both_directions() -> None:
    gdf = points(50)
    adjacency = spatial._built(gdf, "knn", 4).toarray()
    places = np.column_stack([gdf.geometry.x, gdf.geometry.y])
    distances = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    expected = np.zeros_like(adjacency)
    np.put_along_axis(expected, np.argsort(distances, axis=1)[:, :4], 1, axis=1)
    np.testing.assert_array_equal(adjacency, np.maximum(expected, expected.T))


def test_knn_with_places_that_coincide_and_few_rows() -> None:
    gdf = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0] * 6 + [1], [0] * 7))
    adjacency = spatial._built(gdf, "knn", 2)
    assert adjacency.diagonal().sum() == 0
    assert (np.diff(adjacency.indptr) >= 2).all()
    assert spatial._built(gdf.iloc[:3], "knn", 8).nnz == 6
    assert spatial._built(gdf.iloc[:1], "knn", 8).nnz == 0


def test_knn_by_great_circle_in_a_geographic_crs() -> None:
    # Far in the north 10 degrees of longitude are nearer than 3 of latitude; and -179 is beside 179.
    gdf = gpd.GeoDataFrame(geometry=gpd.points_from_xy([0, 10, 0, 179, -179], [80, 80, 77, 0, 0]), crs=4326)
    adjacency = spatial._built(gdf, "knn", 1).toarray()
    assert adjacency[0, 1] == 1 and adjacency[0, 2] == 0 + adjacency[2, 0]
    assert adjacency[3, 4] == 1
    flat = spatial._built(gdf.set_crs(3857, allow_override=True), "knn", 1).toarray()
    assert flat[0, 2] == 1 and flat[3, 4] == 0


def test_delaunay() -> None:
    gdf = points(40)
    adjacency = spatial._built(gdf, "delaunay", 8)
    theirs = Graph.build_triangulation(gdf, "delaunay").sparse
    assert adjacency.nnz == theirs.nnz
    assert (adjacency != (theirs > 0)).nnz == 0
    sphere = spatial._built(gdf.set_crs(4326), "delaunay", 8)
    assert sphere.nnz >= 0.9 * adjacency.nnz
    with pytest.raises(DataError, match="on a line"):
        fill(points(2), neighbours="delaunay", **MEAN)


def test_rows_without_geometry_are_islands() -> None:
    gdf = grid()
    gdf.loc["E08", "geometry"] = None
    gdf.loc["E08", "price"] = np.nan
    gdf.loc["E00", "geometry"] = shapely.Polygon()
    with pytest.warns(GraphfillWarning, match="2 places have no neighbours.*'E00', 'E08'"):
        filled = fill(gdf, neighbours="queen", **MEAN)
    assert not filled["price"].isna().any()
    assert filled.geometry.isna().sum() == 1


def test_islands_of_a_graph_are_named() -> None:
    gdf = grid(letters=False)
    gdf.loc[9, "geometry"] = shapely.box(50, 50, 51, 51)
    with pytest.warns(GraphfillWarning, match=r"1 place has no neighbours \(id 9\)"):
        filled = fill(gdf, Graph.build_contiguity(gdf, rook=False), **MEAN)
    assert not filled["price"].isna().any()


# Neighbours that are given


@pytest.mark.parametrize("kind", ["Graph", "W"])
def test_neighbours_are_found_by_id_not_by_position(kind: str) -> None:
    gdf = grid()
    expected = fill(gdf, neighbours="rook", **MEAN)
    graph = Graph.build_contiguity(gdf, rook=True)
    w = graph if kind == "Graph" else graph.to_W()
    pd.testing.assert_frame_equal(fill(gdf, w, **MEAN), expected)
    shuffled = gdf.sample(frac=1, random_state=0)
    assert list(shuffled.index) != list(gdf.index)
    pd.testing.assert_frame_equal(fill(shuffled, w, **MEAN).loc[gdf.index], expected)


@pytest.mark.parametrize("kind", ["Graph", "W"])
def test_other_ids_are_an_error_that_names_them(kind: str) -> None:
    gdf = grid()
    by_position = Graph.build_contiguity(grid(letters=False))
    w = by_position if kind == "Graph" else by_position.to_W()
    with pytest.raises(DataError, match=r"w has 0, 1, 2, 3, 4 and 4 more.*the index has 'E00'") as caught:
        fill(gdf, w, **MEAN)
    assert caught.value.id == "0"
    some = Graph.build_contiguity(gdf.iloc[:7])
    with pytest.raises(DataError, match="the index has 'E07', 'E08', which w has not") as caught:
        fill(gdf, some if kind == "Graph" else some.to_W(), **MEAN)
    assert caught.value.id == "E07"


def test_duplicate_ids_are_an_error_only_where_ids_are_needed() -> None:
    gdf = grid(letters=False)
    graph = Graph.build_contiguity(gdf)
    twice = gdf.set_axis([0, 1, 2, 3, 4, 5, 6, 7, 7])
    with pytest.raises(DataError, match="found '7' twice") as caught:
        fill(twice, graph, **MEAN)
    assert caught.value.id == "7"
    assert not fill(twice, neighbours="queen", **MEAN)["price"].isna().any()
    with pytest.raises(DataError, match="found '7' twice"):
        build_graph(twice, "queen")


def test_a_sparse_matrix_is_in_the_order_of_the_rows() -> None:
    gdf = grid()
    matrix = Graph.build_contiguity(gdf).sparse
    expected = fill(gdf, neighbours="rook", **MEAN)
    pd.testing.assert_frame_equal(fill(gdf, matrix, **MEAN), expected)
    with pytest.raises(DataError, match=r"shape \(9, 9\)"):
        fill(gdf, sp.eye_array(3).tocsr(), **MEAN)


def weighted(gdf: Any) -> Any:
    return W({0: [1], 1: [0, 2], 2: [1]}, {0: [1.0], 1: [1.0, 3.0], 2: [3.0]}, id_order=[0, 1, 2])


def test_weights_count_whether_row_standardised_or_not() -> None:
    gdf = points(3)
    gdf["price"] = [0.0, np.nan, 4.0]
    w = weighted(gdf)
    assert fill(gdf, w, **MEAN).loc[1, "price"] == pytest.approx(3)
    assert fill(gdf, Graph.from_W(w), **MEAN).loc[1, "price"] == pytest.approx(3)
    w.transform = "r"
    assert fill(gdf, w, **MEAN).loc[1, "price"] == pytest.approx(3)


def test_row_standardised_contiguity_counts_as_contiguity() -> None:
    gdf = grid()
    graph = Graph.build_contiguity(gdf, rook=False)
    adjacency = spatial._aligned(graph.transform("r"), gdf)
    assert set(adjacency.data) == {1.0}
    assert (adjacency != spatial._aligned(graph, gdf)).nnz == 0


def test_self_loops_of_kernels_are_dropped_and_negative_weights_refused() -> None:
    gdf = points(10)
    kernel = Graph.build_kernel(gdf, kernel="gaussian", k=3)
    assert spatial._aligned(kernel.assign_self_weight(), gdf).diagonal().sum() == 0
    with pytest.raises(DataError, match="finite and not negative"):
        fill(gdf, -1 * kernel.sparse, **MEAN)


def test_something_else_as_w() -> None:
    with pytest.raises(DataError, match="expected a libpysal Graph or W"):
        fill(grid(), {"E00": ["E01"]}, **MEAN)


# Columns, frames, graphs


def test_columns_restricts_what_is_filled() -> None:
    gdf = grid()
    gdf["rent"] = gdf["price"] * 2
    filled = fill(gdf, neighbours="queen", columns="rent", **MEAN)
    assert filled["price"].isna().sum() == 1
    assert filled["rent"].isna().sum() == 0
    with pytest.raises(DataError, match="'tax' is not there; the attributes are 'price', 'rent'"):
        fill(gdf, columns=["tax"])
    with pytest.raises(DataError, match="'geometry' holds geometry"):
        fill(gdf, columns=["geometry"])


def test_nothing_missing_and_no_attributes() -> None:
    gdf = grid().fillna({"price": 1.0})
    filled = fill(gdf)
    pd.testing.assert_frame_equal(filled, gdf)
    assert filled is not gdf
    assert list(fill(gdf[["geometry"]]).columns) == ["geometry"]


def test_contiguity_of_points_is_an_error() -> None:
    with pytest.raises(DataError, match="expected polygons, found Point"):
        fill(points(), neighbours="queen", **MEAN)
    with pytest.raises(CallError, match="expected one of auto, queen"):
        fill(points(), neighbours="bishop", **MEAN)
    with pytest.raises(CallError, match="k: expected a number from 1"):
        fill(points(), neighbours="knn", k=0, **MEAN)


def test_other_tables_are_refused() -> None:
    with pytest.raises(DataError, match="use graphfill.fill for other tables"):
        fill(pd.DataFrame({"price": [1.0, None]}))


def test_lines_have_nearest_neighbours() -> None:
    lines = [shapely.LineString([(x, 0), (x, 1)]) for x in range(4)]
    gdf = gpd.GeoDataFrame({"speed": [30.0, None, 50.0, 70.0]}, geometry=lines)
    filled = quiet_fill(gdf, k=1, **MEAN)
    assert not filled["speed"].isna().any()


def test_build_graph_is_what_fill_uses() -> None:
    gdf = grid()
    graph = build_graph(gdf, "rook")
    assert isinstance(graph, Graph)
    assert list(graph.unique_ids) == list(gdf.index)
    expected = fill(gdf, neighbours="rook", **MEAN)
    pd.testing.assert_frame_equal(fill(gdf, graph, **MEAN), expected)


def test_the_graph_serves_graphfill_fill_too() -> None:
    gdf = grid()
    result = gf.fill(gdf, build_graph(gdf, "rook"), **MEAN)
    expected = fill(gdf, neighbours="rook", **MEAN)
    pd.testing.assert_frame_equal(result.nodes, expected)
    assert result.nodes.crs == gdf.crs
    assert result.choices[0].column == "price"


def test_intervals_are_added_columns() -> None:
    gdf = points(200, crs=4326)
    filled = fill(gdf, neighbours="knn", method="arb", intervals=0.9)
    added = [column for column in filled.columns if column not in gdf.columns]
    assert added and filled.crs == gdf.crs
    assert list(filled.columns[: len(gdf.columns)]) == list(gdf.columns)


def test_examples() -> None:
    assert doctest.testmod(spatial).failed == 0
