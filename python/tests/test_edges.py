"""Edges in the types of other libraries."""

from __future__ import annotations

import igraph
import libpysal
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import graphfill as gf
from graphfill._edges import edge_list_of

# A weighted cycle of six nodes with one chord. Node 5 has no value of its own.
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)]
WEIGHTS = [1.0, 2.0, 3.0, 1.0, 4.0, 2.0, 5.0]
VALUES = np.array([[1.0, 8.5], [2.0, np.nan], [np.nan, 3.5], [4.5, 2.0], [3.5, 1.0], [np.nan, np.nan]])
NAMES = ["ann", "bob", "cid", "dot", "eve", "fay"]
METHOD = "neighbour-mean"


def adjacency(weights=None):
    ends = np.array(PAIRS).T
    data = np.ones(len(PAIRS)) if weights is None else np.array(weights)
    half = sp.coo_array((data, (ends[0], ends[1])), shape=(6, 6)).tocsr()
    return half + half.T


def networkx_graph(weights=None, names=None, kind=nx.Graph):
    graph = kind()
    # Nodes in another order than the rows.
    graph.add_nodes_from(reversed(names or range(6)))
    for at, (a, b) in enumerate(PAIRS):
        ends = (a, b) if names is None else (names[a], names[b])
        graph.add_edge(*ends, **({} if weights is None else {"weight": weights[at]}))
    return graph


def igraph_graph(weights=None, names=None):
    graph = igraph.Graph(n=6, edges=PAIRS)
    if weights is not None:
        graph.es["weight"] = weights
    if names is not None:
        graph.vs["name"] = names
    return graph


def frame():
    return pd.DataFrame({"person": NAMES, "a": VALUES[:, 0], "b": VALUES[:, 1]})


def expected_values(weights=None):
    """The mean of the known values of neighbours, weighted."""
    matrix, known = adjacency(weights).toarray(), ~np.isnan(VALUES)
    means = matrix @ np.where(known, VALUES, 0.0) / np.maximum(matrix @ known, 1e-9)
    return np.where(known, VALUES, means)


def edge_frame(weights=None):
    ends = {"source": [NAMES[a] for a, _ in PAIRS], "target": [NAMES[b] for _, b in PAIRS]}
    return pd.DataFrame(ends if weights is None else {**ends, "weight": weights})


def filled_frame(edges, **keywords):
    """Estimates of a frame, which have as many decimals as its cells."""
    nodes = gf.fill(frame(), edges, method=METHOD, quiet=True, **keywords).nodes
    return nodes[["a", "b"]].to_numpy()


def filled_array(edges, **keywords):
    return gf.fill(VALUES, edges, method=METHOD, quiet=True, **keywords).nodes


EDGES_OF_ROWS = {
    "edge_index": lambda: np.array(PAIRS).T,
    "edge_index int32": lambda: np.array(PAIRS, dtype=np.int32).T,
    "edge_index uint8, not contiguous": lambda: np.array(PAIRS, dtype=np.uint8).T,
    "nested lists": lambda: [[a for a, _ in PAIRS], [b for _, b in PAIRS]],
    "two arrays": lambda: (np.array(PAIRS)[:, 0], np.array(PAIRS)[:, 1]),
    "csr array": adjacency,
    "csc matrix": lambda: sp.csc_matrix(adjacency()),
    "upper triangle": lambda: sp.triu(adjacency()),
    "lil matrix of booleans": lambda: sp.lil_matrix(adjacency().astype(bool)),
    "dia array of integers": lambda: sp.dia_array(adjacency().astype(int)),
    "networkx": networkx_graph,
    "networkx directed": lambda: networkx_graph(kind=nx.DiGraph),
    "networkx multigraph": lambda: nx.MultiGraph(PAIRS + PAIRS[:3]),
    "networkx self-loop": lambda: nx.Graph([*PAIRS, (2, 2)]),
    "networkx numpy labels": lambda: nx.Graph([(np.int32(a), np.int32(b)) for a, b in PAIRS]),
    "networkx float labels": lambda: nx.Graph([(float(a), float(b)) for a, b in PAIRS]),
    "networkx edges": lambda: networkx_graph().edges(),
    "igraph": igraph_graph,
    "igraph with numbers as names": lambda: igraph.Graph.TupleList(reversed(PAIRS)),
    "igraph with names": lambda: igraph_graph(names=NAMES),
    "pairs": lambda: PAIRS,
    "set of pairs": lambda: set(PAIRS),
    "generator of pairs": lambda: (pair for pair in PAIRS),
    "W": lambda: libpysal.weights.W({i: list(adjacency()[[i]].indices) for i in range(6)}),
    "libpysal Graph": lambda: libpysal.graph.Graph.from_sparse(adjacency()),
}

WEIGHTED_EDGES_OF_ROWS = {
    "csr array": lambda: adjacency(WEIGHTS),
    "float32": lambda: adjacency(WEIGHTS).astype(np.float32),
    "integers": lambda: adjacency(WEIGHTS).astype(np.int16),
    "networkx": lambda: networkx_graph(WEIGHTS),
    "igraph": lambda: igraph_graph(WEIGHTS),
    "triples": lambda: [(a, b, w) for (a, b), w in zip(PAIRS, WEIGHTS)],
    "pairs with data": lambda: list(networkx_graph(WEIGHTS).edges(data=True)),
    "libpysal Graph": lambda: libpysal.graph.Graph.from_sparse(adjacency(WEIGHTS)),
}


@pytest.mark.parametrize("kind", EDGES_OF_ROWS)
def test_edges_between_row_numbers_are_the_same_graph(kind):
    np.testing.assert_allclose(filled_array(EDGES_OF_ROWS[kind]()), expected_values(), rtol=1e-6)


@pytest.mark.parametrize("kind", WEIGHTED_EDGES_OF_ROWS)
def test_weighted_edges_between_row_numbers_are_the_same_graph(kind):
    filled = filled_array(WEIGHTED_EDGES_OF_ROWS[kind]())
    np.testing.assert_allclose(filled, expected_values(WEIGHTS), rtol=1e-6)


def test_weights_count():
    assert not np.allclose(filled_array(adjacency()), filled_array(adjacency(WEIGHTS)))


@pytest.mark.parametrize(
    "edges",
    [
        networkx_graph(names=NAMES),
        networkx_graph(names=NAMES, kind=nx.MultiDiGraph),
        igraph_graph(names=NAMES),
        igraph_graph(),
        [(NAMES[a], NAMES[b]) for a, b in PAIRS],
        np.array(PAIRS).T,
        adjacency(),
    ],
    ids=["networkx", "multidigraph", "igraph names", "igraph numbers", "pairs", "edge_index", "adjacency"],
)
def test_edges_of_a_frame_with_ids(edges):
    np.testing.assert_allclose(filled_frame(edges), filled_frame(edge_frame()), rtol=1e-6)


def test_weighted_graph_over_ids():
    expected = filled_frame(edge_frame(WEIGHTS))
    np.testing.assert_allclose(filled_frame(networkx_graph(WEIGHTS, NAMES)), expected, rtol=1e-6)
    np.testing.assert_allclose(filled_frame(igraph_graph(WEIGHTS, NAMES)), expected, rtol=1e-6)


def test_another_edge_attribute_holds_weights():
    graph = networkx_graph(names=NAMES)
    for (a, b), weight in zip(PAIRS, WEIGHTS):
        graph.edges[NAMES[a], NAMES[b]].update(weight=1.0 + a, strength=weight)
    expected = filled_frame(edge_frame(WEIGHTS))
    np.testing.assert_allclose(filled_frame(graph, weight="strength"), expected, rtol=1e-6)
    np.testing.assert_allclose(filled_frame(graph, weight="none"), filled_frame(edge_frame()), rtol=1e-6)
    with pytest.raises(gf.DataError, match="no edge of the graph has the attribute 'length'"):
        filled_frame(graph, weight="length")


def test_an_edge_without_a_weight_weighs_one():
    some = edge_list_of(nx.Graph([(0, 1, {"weight": 3}), (1, 2, {})]))
    assert list(some.weights) == [3.0, 1.0]


def test_libpysal_graph_over_the_index_of_a_frame():
    nodes = frame().drop(columns="person").set_axis(NAMES)
    graph = libpysal.graph.Graph.from_arrays(
        [NAMES[a] for a, b in PAIRS + [(b, a) for a, b in PAIRS]],
        [NAMES[b] for a, b in PAIRS + [(b, a) for a, b in PAIRS]],
        np.ones(2 * len(PAIRS)),
    )
    result = gf.fill(nodes, graph, method=METHOD, quiet=True).nodes
    np.testing.assert_allclose(result.to_numpy(), filled_frame(edge_frame()), rtol=1e-6)
    assert list(result.index) == NAMES
    result = gf.fill(nodes, graph.to_W(), method=METHOD, quiet=True).nodes
    np.testing.assert_allclose(result.to_numpy(), filled_frame(edge_frame()), rtol=1e-6)


def test_isolated_units_of_libpysal_are_isolated():
    graph = libpysal.graph.Graph.from_arrays([0, 1, 2], [1, 0, 2], [1, 1, 0])
    listed = edge_list_of(graph)
    assert (listed.sources, listed.targets, listed.nodes) == ([0, 1], [1, 0], 3)


def test_stored_zeros_are_no_edges():
    matrix = sp.coo_array(([1.0, 0.0], ([0, 1], [1, 2])), shape=(3, 3))
    listed = edge_list_of(matrix)
    assert listed.sources.tolist() == [0]
    assert listed.weights is None


def test_no_edges():
    for edges in ([], np.empty((2, 0), dtype=int), np.empty((2, 0)), sp.csr_array((6, 6)), nx.empty_graph(6)):
        assert not np.isnan(gf.fill(VALUES, edges, method="column-mean", quiet=True).nodes).any()


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.array(PAIRS), r"found 7 x 2; to fix it, if each row is an edge, transpose it: edges\.T"),
        (np.array(PAIRS, dtype=float).T, "expected whole numbers in edge_index, found a 2 x 7 array of float64"),
        (adjacency().toarray(), "if it is an adjacency matrix, make it sparse"),
        (np.arange(4), "expected edge_index as 2 x m whole numbers, found 4"),
        (sp.csr_array((6, 5)), "expected an n x n adjacency matrix, found 6 x 5"),
        (sp.csr_array((5, 5)), "found 5 nodes and 6 rows"),
        (igraph.Graph(n=5), "found 5 nodes and 6 rows"),
        ([[0, 1], [1, 2], [2, 3]], "make each edge a tuple"),
        ([[0, 1, 2], [1, 2]], "two lists of one length, found 3 and 2"),
        ([(0, 1), (1, 2, 3, 4)], r"found \(1, 2, 3, 4\)"),
        ([(0, 1, "heavy")], "expected numbers as weights of edges, found 'heavy'"),
        (nx.Graph([("a", "b")]), "expected row numbers below 6 as the nodes of the NetworkX graph"),
        (nx.Graph([(0, 6)]), "found 6"),
        (nx.grid_2d_graph(2, 3), r"found \(0, 0\)"),
        ([(0, 1), (0, -1)], "found -1"),
    ],
)
def test_what_cannot_be_edges_says_what_to_do(edges, message):
    with pytest.raises(gf.DataError, match=message):
        filled_array(edges)


def test_ids_that_no_column_can_have():
    with pytest.raises(gf.DataError, match="expected text or whole numbers as ids of nodes") as found:
        filled_frame(nx.grid_2d_graph(2, 3))
    assert found.value.id == "(0, 0)"


def test_row_numbers_out_of_range():
    with pytest.raises(gf.DataError):
        filled_array(np.array([[0, 1], [1, 6]]))
    with pytest.raises(gf.DataError):
        filled_array(np.array([[0, 1], [1, -1]]))


def test_weights_that_are_none():
    for weight in (-1.0, np.nan, np.inf):
        with pytest.raises(gf.DataError):
            filled_array(networkx_graph([weight, *WEIGHTS[1:]]))
        with pytest.raises(gf.DataError):
            filled_array(adjacency([weight, *WEIGHTS[1:]]))


def test_edges_stay_as_they_are():
    matrix, graph = adjacency(WEIGHTS), networkx_graph(WEIGHTS)
    before = matrix.copy(), graph.copy()
    filled_array(matrix)
    filled_array(graph)
    assert (matrix != before[0]).nnz == 0
    assert nx.utils.graphs_equal(graph, before[1])


# Ann and Bob point to Cid, who points to Dan and Eva.
ARCS = [(0, 2), (1, 2), (2, 3), (2, 4)]
AGES = np.array([[30.0], [34.0], [np.nan], [60.0], [68.0]])
OUT_OF_CID, INTO_CID, AROUND_CID = 64.0, 32.0, 48.0


def arc_matrix():
    sources, targets = np.array(ARCS).T
    return sp.coo_array((np.ones(4), (sources, targets)), shape=(5, 5)).tocsr()


def age_of_cid(edges, in_share=None, **keywords):
    param = None if in_share is None else {"in_share": in_share}
    return gf.fill(AGES, edges, method=METHOD, param=param, quiet=True, **keywords).nodes[2, 0]


@pytest.mark.parametrize(
    ("edges", "keywords"),
    [
        (nx.DiGraph(ARCS), {}),
        (nx.MultiDiGraph(ARCS), {}),
        (igraph.Graph(n=5, edges=ARCS, directed=True), {}),
        (np.array(ARCS).T, {"directed": True}),
        (arc_matrix(), {"directed": True}),
        (ARCS, {"directed": True}),
    ],
    ids=["networkx", "multidigraph", "igraph", "edge_index", "adjacency", "pairs"],
)
def test_arcs_point_from_source_to_target(edges, keywords):
    assert age_of_cid(edges, in_share=0, **keywords) == OUT_OF_CID
    assert age_of_cid(edges, in_share=1, **keywords) == INTO_CID
    assert age_of_cid(edges, **keywords) == AROUND_CID
    assert age_of_cid(edges, undirected=True) == AROUND_CID
    with pytest.raises(gf.GraphfillError, match="no directions"):
        age_of_cid(edges, in_share=0, undirected=True)


def test_arcs_over_the_ids_of_a_frame():
    nodes = pd.DataFrame({"person": NAMES[:5], "age": AGES[:, 0]})
    named = [(NAMES[a], NAMES[b]) for a, b in ARCS]
    for edges, keywords in [
        (nx.DiGraph(named), {}),
        (named, {"directed": True}),
        (pd.DataFrame(named, columns=["source", "target"]), {"directed": True}),
    ]:
        filled = gf.fill(nodes, edges, method=METHOD, param={"in_share": 1}, quiet=True, **keywords).nodes
        assert filled["age"][2] == INTO_CID


def test_the_nodes_of_a_directed_graph():
    graph = nx.DiGraph(ARCS)
    nx.set_node_attributes(graph, {node: AGES[node, 0] for node in range(5) if node != 2}, "age")
    graph.nodes[2]["age"] = None
    filled = gf.fill(graph, method=METHOD, param={"in_share": 0}, quiet=True).nodes
    assert filled.nodes[2]["age"] == OUT_OF_CID


def test_a_graph_is_not_both_directed_and_undirected():
    with pytest.raises(gf.GraphfillError, match="undirected"):
        age_of_cid(np.array(ARCS).T, directed=True, undirected=True)


@pytest.mark.parametrize("edges", [np.array(ARCS).T, arc_matrix(), ARCS], ids=["edge_index", "adjacency", "pairs"])
def test_edges_that_say_nothing_of_a_direction_have_none(edges):
    assert age_of_cid(edges) == AROUND_CID
    with pytest.raises(gf.GraphfillError, match="no directions"):
        age_of_cid(edges, in_share=0)
