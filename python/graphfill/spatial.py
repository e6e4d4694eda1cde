"""PySAL and geopandas: fill missing attributes of places from their neighbours.

    >>> import geopandas as gpd
    >>> import graphfill as gf
    >>> from shapely import box
    >>> towns = gpd.GeoDataFrame(
    ...     {"price": [100.0, None, 300.0]},
    ...     geometry=[box(0, 0, 1, 1), box(1, 0, 2, 1), box(2, 0, 3, 1)],
    ...     index=["east", "middle", "west"],
    ... )
    >>> gf.spatial.fill(towns, neighbours="queen", method="neighbour-mean")["price"].tolist()
    [100.0, 200.0, 300.0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphfill._frames._base import warn
from graphfill._optional import require
from graphfill.errors import CallError, DataError, GuessWarning

__all__ = ["build_graph", "fill"]

DEFAULT_K = 8
NEIGHBOURS = ("auto", "queen", "rook", "knn", "delaunay")


def fill(
    gdf: Any,
    w: Any = None,
    *,
    neighbours: str = "auto",
    k: int = DEFAULT_K,
    columns: str | Sequence[str] | None = None,
    method: str = "auto",
    param: Mapping[str, Any] | None = None,
    seed: int = 0,
    device: str = "auto",
    **options: Any,
) -> Any:
    """Fill missing attributes of a GeoDataFrame from its neighbours.

    Returns a GeoDataFrame with the same rows, index, columns, dtypes, geometry and CRS; only
    missing cells differ. Geometry columns are used for nothing but to find neighbours. With
    ``intervals=0.9`` the columns of the intervals are added at the end. For scores, choices and
    the report use ``graphfill.fill(gdf, build_graph(gdf))``, whose result has them beside ``nodes``.

    Parameters
    ----------
    gdf
        The GeoDataFrame: one row per place.
    w
        Neighbours as a ``libpysal.graph.Graph`` or ``libpysal.weights.W`` whose ids are the index
        of `gdf`, in any order; or a sparse matrix in the order of the rows. Larger weights mean
        nearer. Row-standardised weights count as the weights that they were made of where these
        are known (``W``) or were all 1. None: built from the geometry.
    neighbours
        What to build where `w` is None. ``"queen"`` or ``"rook"``: polygons that share a point
        or an edge. ``"knn"``: the `k` nearest, by great-circle distance in a geographic CRS;
        polygons and lines by a point within them. ``"delaunay"``: a triangulation. ``"auto"``:
        queen for polygons, knn for others, with a `GuessWarning` that says so.
    k
        Number of neighbours for ``"knn"``.
    columns
        The columns to fill; the others are evidence and are returned as they are. None: all.
    method, param, seed, device, **options
        As in `graphfill.fill`.

    Raises
    ------
    DataError
        If the ids of `w` are not those of the index, or a column is not there.

    Warns
    -----
    GraphfillWarning
        If places have no neighbours: the graph says nothing about them.

    Examples
    --------
    >>> import geopandas as gpd
    >>> from graphfill.spatial import fill
    >>> houses = gpd.GeoDataFrame(
    ...     {"rent": [310.5, 502.5, None, 404.5]}, geometry=gpd.points_from_xy([0, 1, 1.1, 9], [0, 0, 0, 9])
    ... )
    >>> filled = fill(houses, neighbours="knn", k=1, method="neighbour-mean")
    >>> filled["rent"].tolist()
    [310.5, 502.5, 453.5, 404.5]
    """
    import graphfill

    _check_frame(gdf)
    names = _attributes(gdf)
    chosen = _columns(gdf, names, columns)
    table = gdf.loc[:, names].set_axis(range(len(gdf)), axis=0)
    # A GeoDataFrame without geometry columns is a plain DataFrame already; subclasses may differ.
    table = require("pandas", install="pandas", purpose="graphfill.spatial").DataFrame(table)
    if not table[chosen].isna().to_numpy().any():
        return gdf.copy()
    adjacency = _built(gdf, neighbours, k) if w is None else _aligned(w, gdf)
    _warn_islands(adjacency, gdf)
    result = graphfill.fill(table, adjacency, method=method, param=param, seed=seed, device=device, **options)
    filled = gdf.copy()
    for name in result.nodes.columns:
        if name in chosen or name not in table.columns:
            filled[name] = result.nodes[name].set_axis(gdf.index)
    return filled


def build_graph(gdf: Any, neighbours: str = "auto", *, k: int = DEFAULT_K) -> Any:
    """Build the graph that `fill` uses where it is given none.

    Parameters
    ----------
    gdf
        A GeoDataFrame or GeoSeries with a unique index.
    neighbours, k
        As in `fill`.

    Returns
    -------
    libpysal.graph.Graph
        Over the ids of the index; a neighbour counts in both directions.

    Examples
    --------
    >>> import geopandas as gpd
    >>> from graphfill.spatial import build_graph
    >>> build_graph(gpd.GeoSeries.from_xy([0, 1, 5], [0, 0, 0]), "knn", k=1).n_edges
    4
    """
    graph = require("libpysal.graph", install="libpysal", purpose="graphfill.spatial")
    _check_unique(gdf)
    adjacency = _built(gdf, neighbours, k).astype(float)
    return graph.Graph.from_sparse(adjacency, ids=gdf.index)


def _check_frame(gdf: Any) -> None:
    geopandas = require("geopandas", install="geopandas", purpose="graphfill.spatial")
    if not isinstance(gdf, geopandas.GeoDataFrame):
        raise DataError(
            f"expected a GeoDataFrame, found {type(gdf).__module__}.{type(gdf).__name__}; to fix it, use "
            "graphfill.fill for other tables"
        )
    if not gdf.columns.is_unique:
        twice = str(gdf.columns[gdf.columns.duplicated()][0])
        raise DataError(f"expected columns of different names, found {twice!r} twice", column=twice)


def _attributes(gdf: Any) -> list[Any]:
    """Names of the columns that hold no geometry."""
    return [name for name, dtype in gdf.dtypes.items() if str(dtype) != "geometry"]


def _columns(gdf: Any, names: list[Any], columns: str | Sequence[str] | None) -> list[Any]:
    """The columns to fill."""
    if columns is None:
        return names
    chosen = [columns] if isinstance(columns, str) else list(columns)
    for name in chosen:
        if name not in names:
            found = "holds geometry" if name in gdf.columns else "is not there"
            raise DataError(f"columns: {name!r} {found}; the attributes are {_some(names, 20)}", column=str(name))
    return chosen


def _check_unique(gdf: Any) -> None:
    if not gdf.index.is_unique:
        twice = str(gdf.index[gdf.index.duplicated()][0])
        raise DataError(
            f"expected an index without duplicates, to find rows by id, found {twice!r} twice; to fix it, "
            "gdf.reset_index(drop=True), and build w of the result",
            id=twice,
        )


def _built(gdf: Any, neighbours: str, k: int) -> Any:
    """The symmetric adjacency of ones, built from geometry (CSR, rows in order)."""
    import numpy as np
    import scipy.sparse as sp

    if neighbours not in NEIGHBOURS:
        raise CallError(f"neighbours: expected one of {', '.join(NEIGHBOURS)}, found {neighbours!r}")
    geometry = gdf.geometry
    # Rows without geometry have no neighbours.
    there = np.flatnonzero(~(geometry.isna() | geometry.is_empty).to_numpy())
    places = geometry.iloc[there].set_axis(range(len(there)))
    polygons = bool(places.geom_type.isin(["Polygon", "MultiPolygon"]).all())
    if neighbours == "auto":
        neighbours = "queen" if polygons else "knn"
        built = "polygons that touch (queen contiguity)" if polygons else f"the {k} nearest neighbours"
        warn(
            f"no w was given: neighbours are {built}; to choose, neighbours={neighbours!r} or another, or w=",
            GuessWarning,
        )
    sources: Any
    targets: Any
    if len(there) < 2:
        sources = targets = np.empty(0, dtype=np.int64)
    elif neighbours in ("queen", "rook"):
        if not polygons:
            kinds = ", ".join(sorted(set(places.geom_type)))
            raise DataError(
                f"neighbours={neighbours!r}: expected polygons, found {kinds}; to fix it, "
                'neighbours="knn" or "delaunay"'
            )
        sources, targets = _touching(places, rook=neighbours == "rook")
    else:
        points = _points(places)
        sources, targets = _nearest(points, k) if neighbours == "knn" else _triangulated(points)
    size = (len(gdf), len(gdf))
    ones: Any = np.ones(len(sources), dtype=np.float32)
    adjacency = sp.coo_array((ones, (there[sources], there[targets])), shape=size).tocsr()
    adjacency = (adjacency + adjacency.T).tocsr()
    adjacency.data[:] = 1
    return adjacency


def _touching(places: Any, rook: bool) -> tuple[Any, Any]:
    """Row numbers of polygons that share a point (or an edge).

    Both of libpysal's tests count: shared vertices, which boundaries that were digitised apart may
    lack, and geometric contact, which polygons that overlap slightly do not have. Pairs may repeat.
    """
    import numpy as np

    graph = require("libpysal.graph", install="libpysal", purpose="graphfill.spatial")
    ends: list[tuple[Any, Any]] = []
    for strict in (False, True):
        table = graph.Graph.build_contiguity(places, rook=rook, strict=strict).adjacency
        table = table[table > 0]
        ends.append((table.index.get_level_values(0).to_numpy(), table.index.get_level_values(1).to_numpy()))
    focal, neighbour = (np.concatenate(side) for side in zip(*ends, strict=True))
    return focal, neighbour


def _points(places: Any) -> Any:
    """One point per place: (x, y), or (x, y, z) on the unit sphere in a geographic CRS."""
    import numpy as np

    if not (places.geom_type == "Point").all():
        places = places.representative_point()
    x, y = places.x.to_numpy(), places.y.to_numpy()
    if places.crs is None or not places.crs.is_geographic:
        return np.column_stack([x, y])
    longitude, latitude = np.radians(x), np.radians(y)
    flat = np.cos(latitude)
    return np.column_stack([flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude)])


def _nearest(points: Any, k: int) -> tuple[Any, Any]:
    """Row numbers of each point and of its `k` nearest others."""
    import numpy as np
    from scipy.spatial import KDTree

    if k < 1:
        raise CallError(f"k: expected a number from 1 on, found {k}")
    count = len(points)
    k = min(k, count - 1)
    found: Any = KDTree(points).query(points, k=k + 1, workers=-1)[1]
    # The point itself is usually first, but not among several at one place: drop it, or else the last.
    own = np.arange(count)[:, None]
    drop: Any = found == own
    drop[~drop.any(axis=1), -1] = True
    return np.repeat(own.ravel(), k), found[~drop]


def _triangulated(points: Any) -> tuple[Any, Any]:
    """Row numbers of the ends of a Delaunay triangulation's edges."""
    import numpy as np
    from scipy.spatial import ConvexHull, Delaunay, QhullError

    elsewhere: Any = np.empty((0, 3), dtype=np.int64)
    try:
        if points.shape[1] == 3:  # the hull of points on a sphere is their triangulation
            corners = ConvexHull(points, qhull_options="QJ").simplices
        else:
            triangulation = Delaunay(points)
            corners, elsewhere = triangulation.simplices, triangulation.coplanar
    except QhullError as error:
        raise DataError(
            'neighbours="delaunay": the points lie on a line or are fewer than three; to fix it, neighbours="knn"'
        ) from error
    pairs = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]], elsewhere[:, [0, 2]]])
    return pairs[:, 0], pairs[:, 1]


def _aligned(w: Any, gdf: Any) -> Any:
    """The adjacency of `w` in the order of the rows of `gdf`, found by id."""
    import numpy as np
    import pandas as pd
    import scipy.sparse as sp

    count = len(gdf)
    if hasattr(w, "tocsr"):
        if w.shape != (count, count):
            raise DataError(f"w: expected a matrix of shape {(count, count)}, found {w.shape}")
        return _clean(sp.csr_array(w))
    if hasattr(w, "adjacency") and hasattr(w, "unique_ids"):  # libpysal.graph.Graph
        ids = pd.Index(w.unique_ids)
        table = w.adjacency
        focal, neighbour = (table.index.get_level_values(level) for level in (0, 1))
        weights = table.to_numpy(dtype=np.float64)
    elif hasattr(w, "neighbors") and hasattr(w, "id_order"):  # libpysal.weights.W
        original = getattr(w, "transformations", {}).get("O", w.weights)
        ids = pd.Index(list(w.id_order))
        focal = pd.Index([id for id, others in w.neighbors.items() for _ in others], dtype=ids.dtype)
        neighbour = pd.Index([other for others in w.neighbors.values() for other in others], dtype=ids.dtype)
        weights = np.array([weight for id in w.neighbors for weight in original[id]], dtype=np.float64)
    else:
        raise DataError(
            f"w: expected a libpysal Graph or W or a sparse matrix, found {type(w).__module__}.{type(w).__name__}"
        )
    _check_unique(gdf)
    _check_ids(ids, gdf)
    rows, columns = gdf.index.get_indexer(focal), gdf.index.get_indexer(neighbour)
    return _clean(sp.coo_array((weights, (rows, columns)), shape=(count, count)).tocsr())


def _check_ids(ids: Any, gdf: Any) -> None:
    """Fail unless `ids` are the index of `gdf`, in any order."""
    without_row = ids.difference(gdf.index, sort=False)
    without_neighbours = gdf.index.difference(ids, sort=False)
    if not len(without_row) and not len(without_neighbours):
        return
    parts = []
    if len(without_row):
        parts.append(f"w has {_some(without_row)}, which the index has not")
    if len(without_neighbours):
        parts.append(f"the index has {_some(without_neighbours)}, which w has not")
    first = without_row[0] if len(without_row) else without_neighbours[0]
    raise DataError(
        f"expected w over the ids of gdf.index ({len(gdf)} rows); {'; '.join(parts)}; to fix it, build w of this "
        "GeoDataFrame (libpysal.graph.Graph.build_contiguity(gdf); with weights.W, use_index=True), or set the "
        "index to the ids of w: gdf.set_index(…)",
        id=str(first),
    )


def _clean(adjacency: Any) -> Any:
    """Checks weights; drops self-loops, zeros, and row-standardisation of a binary graph."""
    import numpy as np
    import scipy.sparse as sp

    if not np.isfinite(adjacency.data).all() or (adjacency.data < 0).any():
        raise DataError("w: expected weights that are finite and not negative; to fix it, w of kernels or ones")
    entries = adjacency.tocoo()
    kept = (entries.row != entries.col) & (entries.data > 0)
    rows, columns, weights = entries.row[kept], entries.col[kept], entries.data[kept]
    if len(weights):
        degrees = np.bincount(rows, minlength=adjacency.shape[0])
        if np.allclose(weights * degrees[rows], 1, rtol=1e-6, atol=0):
            weights = np.ones_like(weights)
    return sp.coo_array((weights, (rows, columns)), shape=adjacency.shape).tocsr()


def _warn_islands(adjacency: Any, gdf: Any) -> None:
    import numpy as np

    touched = (np.diff(adjacency.indptr) > 0) | (np.bincount(adjacency.indices, minlength=len(gdf)) > 0)
    islands = gdf.index[~touched]
    if len(islands):
        places = "1 place has" if len(islands) == 1 else f"{len(islands)} places have"
        warn(
            f"{places} no neighbours (id {_some(islands)}): the graph says nothing about their missing cells; "
            'neighbours="knn" gives every place neighbours'
        )


def _some(names: Any, most: int = 5) -> str:
    shown = ", ".join(repr(name.item() if hasattr(name, "item") else name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
