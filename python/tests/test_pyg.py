"""Transforms of PyTorch Geometric: FillMissing and the drop-in FeaturePropagation."""

from __future__ import annotations

import copy
import doctest
import pickle
import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")

import torch_geometric.transforms as T  # noqa: E402
from torch_geometric.data import Batch, Data, HeteroData, InMemoryDataset  # noqa: E402
from torch_geometric.loader import DataLoader  # noqa: E402

import graphfill as gf  # noqa: E402
from graphfill import pyg  # noqa: E402
from graphfill.errors import CallError, DataError, GuessWarning  # noqa: E402
from graphfill.pyg import FeaturePropagation, FillMissing  # noqa: E402

NAN = float("nan")
PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def path(*values: float, **attributes: object) -> Data:
    """A path with one column."""
    ends = torch.arange(len(values) - 1)
    forth = torch.stack([ends, ends + 1])
    edge_index = torch.cat([forth, forth.flip(0)], dim=1)
    x = torch.tensor(values, dtype=torch.float32).view(-1, 1)
    return Data(x=x, edge_index=edge_index, **attributes)


def random_data(seed: int, nodes: int = 60, columns: int = 5, weighted: bool = False) -> Data:
    """A random graph with isolated nodes and repeated edges; the last node has incoming edges."""
    generator = torch.Generator().manual_seed(seed)
    edge_index = torch.randint(nodes - 5, (2, 4 * nodes), generator=generator)
    last = torch.tensor([[0, nodes - 1], [nodes - 1, 0]])
    edge_index = torch.cat([edge_index, last, edge_index[:, :9]], dim=1)
    data = Data(x=torch.randn(nodes, columns, generator=generator), edge_index=edge_index)
    if weighted:
        data.edge_weight = torch.rand(edge_index.size(1), generator=generator)
    return data


# FillMissing


def test_nan_is_filled_and_the_argument_stays() -> None:
    data = path(1, NAN, 3)
    filled = FillMissing("neighbour-mean")(data)
    assert filled.x.flatten().tolist() == [1, 2, 3]
    assert torch.isnan(data.x[1]).all()
    assert filled.edge_index is data.edge_index


def test_forward_works_in_place() -> None:
    data = path(1, NAN, 3)
    assert FillMissing("neighbour-mean").forward(data) is data
    assert data.x.flatten().tolist() == [1, 2, 3]


def test_the_numbers_are_those_of_fill() -> None:
    data = random_data(0)
    data.x[::3, 1] = NAN
    expected = gf.fill(data.x.numpy(), data.edge_index.numpy(), method="arb", seed=3, device="cpu").nodes
    filled = FillMissing("arb", seed=3, device="cpu")(data).x
    assert torch.equal(filled, torch.as_tensor(expected))


@pytest.mark.parametrize("form", ["row", "cell", "numpy", "name"])
def test_masks(form: str) -> None:
    data = path(1, 9, 3)
    rows = torch.tensor([False, True, False])
    mask: object = {"row": rows, "cell": rows.view(-1, 1), "numpy": rows.numpy(), "name": "hidden"}[form]
    data.hidden = rows
    filled = FillMissing("neighbour-mean", missing_mask=mask)(data)
    assert filled.x.flatten().tolist() == [1, 2, 3]
    assert data.x.flatten().tolist() == [1, 9, 3]


def test_cells_of_a_mask_and_nan_are_both_missing_and_others_keep_their_bits() -> None:
    data = random_data(1)
    mask = torch.rand(data.x.shape) < 0.2
    data.x[5, 2] = NAN
    mask[5, 2] = False
    filled = FillMissing("neighbour-mean", missing_mask=mask)(data).x
    missing = mask | torch.isnan(data.x)
    assert not torch.isnan(filled).any()
    assert torch.equal(filled[~missing].view(torch.int32), data.x[~missing].view(torch.int32))
    assert (filled[mask] != data.x[mask]).all()


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool]
)
def test_dtype_stays(dtype: torch.dtype) -> None:
    data = path(1, 0, 1, 1)
    data.x = data.x.to(dtype)
    mask = torch.tensor([False, False, False, True])
    filled = FillMissing("neighbour-mean", missing_mask=mask)(data).x
    assert filled.dtype == dtype
    assert filled.shape == (4, 1)
    assert filled[:3].flatten().tolist() == [1, 0, 1]
    assert filled[3].item() == 1


def test_whole_numbers_are_rounded() -> None:
    data = path(10, 0, 13)
    data.x = data.x.long()
    filled = FillMissing("neighbour-mean", missing_mask=torch.tensor([False, True, False]))(data).x
    assert filled.flatten().tolist()[1] in (11, 12)


def test_one_dimension_and_another_attribute() -> None:
    data = path(0, 0, 0)
    data.age = torch.tensor([20.0, NAN, 40.0])
    filled = FillMissing("neighbour-mean", attr="age")(data)
    assert filled.age.tolist() == [20, 30, 40]
    assert filled.age.shape == (3,)


def test_a_tensor_that_requires_grad() -> None:
    data = path(1, NAN, 3)
    data.x.requires_grad_()
    filled = FillMissing("neighbour-mean")(data).x
    assert filled.flatten().tolist() == [1, 2, 3]


def test_strided_views_are_read_in_order() -> None:
    data = random_data(2)
    wide = torch.randn(10, data.num_nodes)
    data.x = wide.t()[:, ::2]
    mask = torch.zeros(data.x.shape, dtype=torch.bool)
    mask[3, 1] = True
    one = FillMissing("neighbour-mean", missing_mask=mask)(data).x
    data.x = data.x.contiguous()
    assert torch.equal(one, FillMissing("neighbour-mean", missing_mask=mask)(data).x)


def test_nothing_missing_changes_nothing() -> None:
    data = path(1, 2, 3)
    assert FillMissing()(data).x is data.x


def test_a_fitted_model_fills_other_graphs() -> None:
    known, later = random_data(5), random_data(6)
    known.x[::4, 0] = NAN
    later.x[::5, 0] = NAN
    model = gf.Arb().fit(known.x.numpy(), known.edge_index.numpy())
    transform = FillMissing(model)
    filled = pickle.loads(pickle.dumps(transform))(later).x
    expected = model.transform(later.x.numpy(), later.edge_index.numpy()).nodes
    assert torch.equal(filled, torch.as_tensor(expected))
    assert "Model(arb" in repr(transform)


def test_wrong_keywords_are_refused_at_once() -> None:
    with pytest.raises(TypeError, match="epochs"):
        FillMissing("svga-p", epochs=3)
    with pytest.raises(CallError, match=r"graphfill.fill\(data, intervals"):
        FillMissing("arb", intervals=0.9)


# Edges and weights


def weighted_path(name: str, values: torch.Tensor) -> Data:
    data = path(0, NAN, 4)  # arcs 0→1, 1→2, 1→0, 2→1
    data[name] = values
    return data


def test_edge_weight_counts() -> None:
    data = weighted_path("edge_weight", torch.tensor([1.0, 3, 1, 3]))
    assert FillMissing("neighbour-mean")(data).x[1].item() == pytest.approx(3)
    assert FillMissing("neighbour-mean", edge_weight=None)(data).x[1].item() == pytest.approx(2)


@pytest.mark.parametrize("shape", [(4,), (4, 1)])
def test_one_column_of_edge_attr_is_a_weight_and_that_is_said(shape: tuple[int, ...]) -> None:
    data = weighted_path("edge_attr", torch.tensor([1.0, 3, 1, 3]).view(shape))
    with pytest.warns(GuessWarning, match="edge_attr is one column"):
        assert FillMissing("neighbour-mean")(data).x[1].item() == pytest.approx(3)


@pytest.mark.parametrize(
    "values",
    [torch.ones(4, 2), torch.tensor([0, 1, 0, 1]), torch.tensor([-1.0, 2, -1, 2]), torch.tensor([NAN, 1, 1, 1])],
)
def test_other_edge_attr_is_no_weight(values: torch.Tensor) -> None:
    data = weighted_path("edge_attr", values)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GuessWarning)
        assert FillMissing("neighbour-mean")(data).x[1].item() == pytest.approx(2)


def test_a_named_weight() -> None:
    data = weighted_path("traffic", torch.tensor([1, 3, 1, 3]))
    assert FillMissing("neighbour-mean", edge_weight="traffic")(data).x[1].item() == pytest.approx(3)
    with pytest.raises(DataError, match="no attribute 'flow'"):
        FillMissing("neighbour-mean", edge_weight="flow")(data)
    data.traffic = torch.ones(4, 2)
    with pytest.raises(DataError, match=r"one weight per edge \(4\)"):
        FillMissing("neighbour-mean", edge_weight="traffic")(data)


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_coo])
def test_sparse_adjacency_instead_of_edge_index(layout: torch.layout) -> None:
    data = weighted_path("edge_weight", torch.tensor([1.0, 3, 1, 3]))
    expected = FillMissing("neighbour-mean")(data).x
    sparse = T.ToSparseTensor(layout=layout)(copy.copy(data))
    assert sparse.edge_index is None
    filled = FillMissing("neighbour-mean")(sparse)
    assert torch.equal(filled.x, expected)
    assert filled.adj_t is sparse.adj_t


def test_direction_of_sparse_adjacency() -> None:
    data = Data(x=torch.zeros(3, 1), edge_index=torch.tensor([[0, 1], [2, 2]]))
    sparse = T.ToSparseTensor()(copy.copy(data))
    sources, targets, weights = pyg._arcs(sparse, 3, "auto")
    assert sources.tolist() == [0, 1]
    assert targets.tolist() == [2, 2]
    assert weights is None


# A transform among transforms


class Paths(InMemoryDataset):
    """Two small graphs with missing cells."""

    def __init__(self, **keywords: object) -> None:
        super().__init__(None, **keywords)
        self.data, self.slices = self.collate([path(1, NAN, 3), path(5, NAN, NAN, 8)])


def test_compose_and_datasets() -> None:
    transform = T.Compose([T.ToUndirected(), FillMissing("neighbour-mean"), T.AddSelfLoops()])
    data = Data(x=torch.tensor([[1.0], [NAN], [3.0]]), edge_index=torch.tensor([[0, 1], [1, 2]]))
    assert transform(data).x.flatten().tolist() == [1, 2, 3]
    assert "FillMissing('neighbour-mean')" in repr(transform)
    dataset = Paths(transform=FillMissing("neighbour-mean"))
    assert dataset[0].x.flatten().tolist() == [1, 2, 3]
    assert not torch.isnan(dataset[1].x).any()


def test_workers_of_a_loader_fill_after_their_parent_did() -> None:
    # Workers are forked: threads of the parent do not exist in them.
    dataset = Paths(transform=FillMissing("neighbour-mean"))
    big = random_data(7, nodes=5000, columns=40)
    big.x[::3] = NAN
    FillMissing("fp", threads=2)(big)
    loader = DataLoader(dataset, batch_size=2, num_workers=1, timeout=60)
    (batch,) = list(loader)
    assert not torch.isnan(batch.x).any()


def test_a_batch_is_filled_as_one_graph() -> None:
    batch = Batch.from_data_list([path(1, NAN, 3), path(5, NAN, 7)])
    filled = FillMissing("neighbour-mean")(batch)
    assert filled.x.flatten().tolist() == [1, 2, 3, 5, 6, 7]
    assert filled.num_graphs == 2
    assert filled[1].x.flatten().tolist() == [5, 6, 7]


@pytest.mark.parametrize("transform", [FillMissing("neighbour-mean", missing_mask="m"), FeaturePropagation("m", 7)])
def test_instances_pickle_and_are_transforms(transform: object) -> None:
    assert isinstance(transform, T.BaseTransform)
    again = pickle.loads(pickle.dumps(transform))
    assert repr(again) == repr(transform) == repr(copy.deepcopy(transform))
    assert vars(again) == vars(transform)


def test_an_unpickled_transform_is_one_in_a_new_process() -> None:
    pickled = pickle.dumps(FillMissing("fp"))
    program = (
        "import pickle, sys; t = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "import torch_geometric.transforms as T; assert isinstance(t, T.BaseTransform); print(t)"
    )
    done = subprocess.run([sys.executable, "-c", program, pickled.hex()], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "FillMissing('fp')"


def test_repr() -> None:
    mask = torch.tensor([True, False, False, False])
    shown = repr(FillMissing("arb", missing_mask=mask, attr="pos", seed=2, param={"arb.alpha": 0.9}, quiet=True))
    assert shown == (
        "FillMissing('arb', missing_mask=25.0%, attr='pos', seed=2, param={'arb.alpha': 0.9}, quiet=True)"
    )


def test_importing_the_module_imports_no_torch() -> None:
    program = (
        "import sys, graphfill.pyg; assert 'torch' not in sys.modules; graphfill.pyg.FillMissing();"
        "assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# Errors


def test_hetero_data_is_refused() -> None:
    data = HeteroData()
    data["movie"].x = torch.tensor([[NAN], [1.0]])
    for transform in (FillMissing(), FeaturePropagation()):
        with pytest.raises(DataError, match="HeteroData with the node types movie, which is not yet supported"):
            transform(data)


def test_errors_say_what_to_do() -> None:
    with pytest.raises(DataError, match="found none; to fix it"):
        FillMissing()(Data(edge_index=PATH, num_nodes=3))
    with pytest.raises(DataError, match="found neither"):
        FillMissing()(Data(x=torch.tensor([[NAN]])))
    with pytest.raises(DataError, match=r"found \(2,\)"):
        FillMissing(missing_mask=torch.tensor([True, False]))(path(1, NAN, 3))
    with pytest.raises(DataError, match="expected booleans"):
        FillMissing(missing_mask=torch.tensor([1, 0, 0]))(path(1, NAN, 3))
    with pytest.raises(DataError, match="no attribute 'm'"):
        FillMissing(missing_mask="m")(path(1, NAN, 3))
    with pytest.raises(DataError, match="dense tensor"):
        FillMissing()(Data(x=torch.eye(3).to_sparse(), edge_index=PATH))
    with pytest.raises(DataError, match="found node 2"):
        FillMissing()(Data(x=torch.tensor([[NAN], [1.0]]), edge_index=PATH))
    with pytest.raises(DataError, match="to_dense|flatten"):
        FillMissing()(Data(x=torch.full((3, 1, 1), NAN), edge_index=PATH))


# FeaturePropagation


def theirs(data: Data, mask: torch.Tensor, rounds: int = 40) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return T.FeaturePropagation(mask, rounds)(data).x


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rounds", [0, 1, 7, 40])
@pytest.mark.parametrize("rows", [False, True])
def test_feature_propagation_gives_their_numbers(weighted: bool, rounds: int, rows: bool) -> None:
    for seed in range(5):
        data = random_data(seed, weighted=weighted)
        generator = torch.Generator().manual_seed(seed)
        mask = torch.rand(data.x.shape, generator=generator) < 0.4
        if rows:
            mask = mask[:, :1].expand_as(mask).contiguous()
        ours = FeaturePropagation(mask, rounds)(data).x
        torch.testing.assert_close(ours, theirs(data, mask, rounds), rtol=0, atol=1e-5)


def test_feature_propagation_on_undirected_graphs_edge_attr_and_adj_t() -> None:
    data = T.ToUndirected()(random_data(3))
    mask = torch.rand(data.x.shape) < 0.5
    torch.testing.assert_close(FeaturePropagation(mask)(data).x, theirs(data, mask), rtol=0, atol=1e-5)
    data.edge_attr = torch.rand(data.num_edges)
    torch.testing.assert_close(FeaturePropagation(mask)(data).x, theirs(data, mask), rtol=0, atol=1e-5)
    sparse = T.ToSparseTensor(attr="edge_attr", layout=torch.sparse_csr)(copy.copy(data))
    torch.testing.assert_close(FeaturePropagation(mask)(sparse).x, theirs(sparse, mask), rtol=0, atol=1e-5)


def test_feature_propagation_on_a_path_and_an_isolated_node() -> None:
    data = path(1, NAN, 3)
    assert FeaturePropagation(torch.isnan(data.x))(data).x[1].item() == pytest.approx(8**0.5)
    data.x = torch.cat([data.x, torch.tensor([[NAN]])])
    assert FeaturePropagation()(data).x[3].item() == 0


def test_feature_propagation_beyond_theirs() -> None:
    # The last node has no incoming edge: theirs fails with an IndexError.
    data = Data(x=torch.tensor([[NAN], [2.0], [4.0]]), edge_index=torch.tensor([[1, 2, 0], [0, 0, 1]]))
    assert FeaturePropagation()(data).x[0].item() == pytest.approx(2 / 2**0.5)
    # One boolean per node, or the name of an attribute.
    data = path(1, 9, 3, hidden=torch.tensor([False, True, False]))
    assert FeaturePropagation("hidden")(data).x[1].item() == pytest.approx(8**0.5)
    assert FeaturePropagation(data.hidden)(data).x[1].item() == pytest.approx(8**0.5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_feature_propagation_keeps_dtypes(dtype: torch.dtype) -> None:
    data = path(1, NAN, 3)
    data.x = data.x.to(dtype)
    filled = FeaturePropagation()(data).x
    assert filled.dtype == dtype
    assert filled[1].item() == pytest.approx(8**0.5, rel=1e-2)


def test_feature_propagation_repr_is_theirs() -> None:
    mask = torch.tensor([[True, False], [False, False]])
    assert repr(FeaturePropagation(mask, 3)) == repr(T.FeaturePropagation(mask, 3))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_data_on_a_gpu() -> None:
    data = random_data(4).to("cuda")
    data.x[::4] = NAN
    filled = FillMissing("arb")(data).x
    assert filled.device == data.x.device
    assert not torch.isnan(filled).any()
    ours = FeaturePropagation()(data).x.cpu()
    torch.testing.assert_close(ours, FeaturePropagation()(data.cpu()).x, rtol=0, atol=1e-5)


def test_examples() -> None:
    assert doctest.testmod(pyg).failed == 0
