"""Graphs of NetworkX and igraph as tables of nodes, and back."""

from __future__ import annotations

import datetime as dt
from array import array
from decimal import Decimal

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphfill as gf
from graphfill._attributes import attribute_of

NODES = 24
METHOD = "neighbour-mean"


def town(kind=nx.Graph):
    """Two cliques with attributes of every type, a third of them missing in one way or another."""
    graph = kind()
    graph.add_nodes_from(range(NODES))
    for start in (0, NODES // 2):
        for a in range(start, start + NODES // 2):
            graph.add_edges_from((a, b) for b in range(a + 1, start + NODES // 2))
    for node in graph:
        upper = node >= NODES // 2
        graph.nodes[node].update(
            age=30 + node + 20 * upper,
            height=1.5 + node / 100 + 0.2 * upper,
            member=bool(upper),
            club="chess" if upper else "go",
            joined=dt.date(2020 + upper, 1, 1 + node),
            seen=dt.datetime(2020 + upper, 1, 1 + node, 12, 30),
        )
    missing = [lambda a, k: a.pop(k), lambda a, k: a.update({k: None}), lambda a, k: a.update({k: float("nan")})]
    for node in range(0, NODES, 3):
        for at, key in enumerate(("age", "height", "member", "club", "joined", "seen")):
            missing[(node // 3 + at) % 3](graph.nodes[node], key)
    return graph


TYPES = {
    "age": int, "height": float, "member": bool, "club": str, "joined": dt.date, "seen": dt.datetime,
}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_comes_back_filled(kind):
    graph = town(kind)
    before = [(node, dict(values)) for node, values in graph.nodes(data=True)]
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert type(result) is kind
    assert result is not graph
    assert list(result) == list(graph)
    assert list(result.edges(data=True)) == list(graph.edges(data=True))
    for node, values in before:
        for key, wanted in TYPES.items():
            value = values.get(key)
            if value is not None and value == value:
                assert result.nodes[node][key] is value
            else:
                assert type(result.nodes[node][key]) is wanted, key
    # Neighbours decide.
    assert [result.nodes[node]["club"] for node in (0, 12)] == ["go", "chess"]
    assert [result.nodes[node]["member"] for node in (0, 12)] == [False, True]
    assert result.nodes[0]["joined"].year == 2020
    assert 30 <= result.nodes[0]["age"] < 42 < result.nodes[12]["age"]
    # The graph that came in has not changed.
    for (node, values), (other, now) in zip(before, graph.nodes(data=True), strict=True):
        assert node == other
        assert values.keys() == now.keys()
        assert all(a is b for a, b in zip(values.values(), now.values(), strict=True))


def test_igraph_comes_back_filled():
    source = town()
    for node in source:
        for key in TYPES:
            source.nodes[node].setdefault(key, None)
    graph = igraph.Graph.from_networkx(source)
    graph.es["kind"] = ["friend"] * graph.ecount()
    graph["name"] = "town"
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert isinstance(result, igraph.Graph)
    assert result.get_edgelist() == graph.get_edgelist()
    assert result.es["kind"] == graph.es["kind"]
    assert result["name"] == "town"
    assert result.vs["_nx_name"] == graph.vs["_nx_name"]
    for key, wanted in TYPES.items():
        for old, new in zip(graph.vs[key], result.vs[key], strict=True):
            assert new is old if old is not None and old == old else type(new) is wanted
    assert graph.vs["age"][0] is None or graph.vs["age"][0] != graph.vs["age"][0]


def test_igraph_names_are_ids():
    graph = igraph.Graph.Ring(6)
    graph.vs["name"] = list("abcdef")
    graph.vs["age"] = [1.5, None, 3.5, 2.25, None, 4.0]
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert result.vs["name"] == list("abcdef")
    assert result.vs["age"] == pytest.approx([1.5, 2.5, 3.5, 2.25, 3.125, 4.0])


def test_weights_of_edges_are_used():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=9.0)
    graph.add_edge("b", "c", weight=1.0)
    nx.set_node_attributes(graph, {"a": 1.5, "c": 2.5, "d": 2.25, "b": None}, "x")
    graph.add_node("d", x=7.25)
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert result.nodes["b"]["x"] == pytest.approx(0.9 * 1.5 + 0.1 * 2.5)
    result = gf.fill(graph, method=METHOD, weight="none", quiet=True).nodes
    assert result.nodes["b"]["x"] == pytest.approx(2.0)


def test_isolated_nodes_self_loops_and_tuples_as_nodes():
    graph = nx.grid_2d_graph(4, 4)
    graph.add_edge((0, 0), (0, 0))
    graph.add_node("alone")
    for at, node in enumerate(graph):
        graph.nodes[node]["x"] = at + 0.5 if at % 4 else None
    result = gf.fill(graph, method="fp", quiet=True).nodes
    values = nx.get_node_attributes(result, "x")
    assert len(values) == 17
    assert not any(value is None or np.isnan(value) for value in values.values())


def test_a_graph_has_its_own_edges():
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: 1.5, 1: 3.5, 2: 10.25}, "x")
    with pytest.raises(gf.CallError, match="the nodes are a graph with edges of its own"):
        gf.fill(graph, [(3, 0), (3, 1)], method=METHOD, quiet=True)


def test_vectors_are_blocks():
    graph = nx.cycle_graph(8)
    for node in graph:
        if node % 3:
            graph.nodes[node]["place"] = (float(node), 2.0 * node)
            graph.nodes[node]["array"] = np.array([node, 1.5, 2], dtype=np.float32)
            graph.nodes[node]["list"] = [node, None if node == 4 else node + 1]
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert isinstance(result.nodes[3]["place"], tuple)
    assert result.nodes[3]["place"] == pytest.approx((3.0, 6.0))
    assert result.nodes[3]["array"].dtype == np.float32
    assert result.nodes[1]["place"] is graph.nodes[1]["place"]
    assert isinstance(result.nodes[3]["list"], list)
    assert result.nodes[4]["list"][0] == 4
    assert result.nodes[4]["list"][1] is not None


def test_values_of_other_types_stay_with_a_warning():
    graph = nx.path_graph(4)
    nx.set_node_attributes(graph, {0: 1.5, 2: 3.5, 3: 2.25}, "x")
    nx.set_node_attributes(graph, {0: {"a": 1}, 1: {"b": 2}}, "extra")
    with pytest.warns(gf.GraphfillWarning, match="extra.*dict"):
        result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert result.nodes[0]["extra"] == {"a": 1}
    assert "extra" not in result.nodes[2]
    assert result.nodes[1]["x"] == pytest.approx(2.5)


def test_graph_without_attributes_says_so():
    for graph in (nx.path_graph(3), igraph.Graph.Ring(3)):
        with pytest.raises(gf.DataError, match="expected a graph whose nodes have attributes, found none"):
            gf.fill(graph)


def test_nothing_missing_comes_back_equal():
    graph = nx.path_graph(6)
    nx.set_node_attributes(graph, {node: node + 0.5 for node in graph}, "x")
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    assert nx.utils.graphs_equal(result, graph)


def test_intervals_become_attributes():
    rng = np.random.default_rng(0)
    graph = nx.random_geometric_graph(150, 0.2, seed=1)
    for node in graph:
        graph.nodes[node]["x"] = graph.nodes[node].pop("pos")[0] + rng.normal(0, 0.05)
    for node in range(0, 150, 4):
        graph.nodes[node]["x"] = None
    result = gf.fill(graph, method="fp", intervals=0.9, quiet=True).nodes
    low, high = (nx.get_node_attributes(result, f"x__{side}") for side in ("lower", "upper"))
    assert set(low) == set(high) == set(range(0, 150, 4))
    assert all(low[node] <= result.nodes[node]["x"] <= high[node] for node in low)


def test_uncertainty_names_nodes():
    graph = nx.relabel_nodes(nx.random_geometric_graph(150, 0.2, seed=1), lambda node: f"n{node}")
    for node in graph:
        graph.nodes[node]["x"] = graph.nodes[node].pop("pos")[0]
    graph.nodes["n3"]["x"] = None
    found = gf.fill(graph, method="fp", intervals=0.9, quiet=True).uncertainty
    assert isinstance(found, pd.DataFrame)
    assert list(found["node"]) == ["n3"]
    assert list(found["column"]) == ["x"]


def test_models_fill_later_graphs():
    graph = town()
    model = gf.FeaturePropagation(seed=0).fit(graph)
    later = town()
    later.add_edge(0, "new")
    result = model.transform(later).nodes
    assert type(result.nodes["new"]["age"]) is int
    assert type(result.nodes["new"]["club"]) is str


@pytest.mark.parametrize(
    ("values", "kind", "estimate", "wanted"),
    [
        ([True, None], "boolean", 1, True),
        ([np.bool_(True), None], "boolean", 0, np.bool_(False)),
        ([1, 2, None], "integer", 1.6, 2),
        ([np.int16(1), None], "integer", 7, np.int16(7)),
        ([1, 2.5], "float", 2.0, 2.0),
        ([np.float32(1.5), float("nan")], "float", 2.5, np.float32(2.5)),
        ([Decimal("1.5"), None], "float", 2.5, Decimal("2.5")),
        ([2**70, 1], "float", 3.0, 3),
        (["a", None, pd.NA], "text", "b", "b"),
        ([dt.date(1970, 1, 2), None], "date", 86_400_000_000 * 2, dt.date(1970, 1, 3)),
        ([dt.datetime(1970, 1, 1, 0, 0, 1)], "datetime", 5, dt.datetime(1970, 1, 1, 0, 0, 0, 5)),
        ([[1.0, 2.0], None], "vector", [3.0, 4.0], [3.0, 4.0]),
        ([(1, 2), None], "vector", [3.2, 4.0], (3, 4)),
        ([array("d", [1.0]), None], "vector", [3.0], array("d", [3.0])),
    ],
)
def test_estimates_have_the_type_of_observed_values(values, kind, estimate, wanted):
    attribute = attribute_of("x", values)
    assert attribute.kind == kind
    value = attribute.value(estimate)
    assert value == wanted
    assert type(value) is type(wanted)


def test_time_zones_stay():
    zone = dt.timezone(dt.timedelta(hours=5))
    attribute = attribute_of("x", [dt.datetime(2020, 1, 1, 5, tzinfo=zone), None])
    moment = int(dt.datetime(2020, 1, 1, tzinfo=dt.UTC).timestamp() * 1e6)
    assert attribute.value(moment) == dt.datetime(2020, 1, 1, 5, tzinfo=zone)
    assert attribute.value(moment).tzinfo is zone


@pytest.mark.parametrize(
    "values", [[1, "a"], [{}, None], [[1], [1, 2]], [dt.date(2020, 1, 1), dt.datetime(2020, 1, 1)], [b"x"]]
)
def test_mixed_values_are_no_column(values):
    assert attribute_of("x", values).kind == "other"


CELLS = {
    "whole": st.integers(-50, 50),
    # Thousandths: of values that differ by many orders of magnitude, the largest would be taken for a mistake.
    "real": st.integers(-5000, 5000).map(lambda thousandths: thousandths / 1000),
    "text": st.sampled_from(["red", "green", "blue"]),
    "flag": st.booleans(),
}


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_observed_values_are_never_changed(data):
    graph = nx.cycle_graph(12)
    for key, cell in CELLS.items():
        for node in graph:
            value = data.draw(st.one_of(st.none(), cell))
            if value is not None or data.draw(st.booleans()):
                graph.nodes[node][key] = value
    # A column that can be estimated.
    nx.set_node_attributes(graph, {0: 0.5, 1: -2.25, 2: None}, "sure")
    result = gf.fill(graph, method=METHOD, quiet=True).nodes
    for node, values in graph.nodes(data=True):
        for key, value in values.items():
            if value is not None:
                assert result.nodes[node][key] is value
