"""One class per method, its parameters as keywords. Written by python/generate_methods.py."""

from __future__ import annotations

from typing import Literal, Unpack

from graphfill._keywords import FillKeywords
from graphfill._model import Method

__all__ = [
    "Arb",
    "Arwmf",
    "Auto",
    "ColumnMean",
    "FeaturePropagation",
    "Gat",
    "Gcn",
    "Gmrf",
    "Gnn",
    "Grape",
    "GraphRna",
    "NeighbourMean",
    "Pcfi",
    "Sage",
    "Sat",
    "Svga",
    "SvgaP",
    "SvgaR",
    "SvgaU",
    "Vae",
]


class ColumnMean(Method):
    """Column mean.

    The mean of each column (the most frequent level of a category); ignores the graph.
    """

    name = "column-mean"

    def __init__(
        self,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({}, dict(keywords))


class NeighbourMean(Method):
    """Neighbour mean.

    The mean of the neighbours whose value is known; the column mean where there is none.

    Şimşek and Jensen, PNAS 2008 (NeighAgg)

    Args:
        in_share: share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed
            graphs only: a number from 0 to 1. By default 0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5.
    """

    name = "neighbour-mean"

    def __init__(
        self,
        *,
        in_share: float | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({"in_share": in_share}, dict(keywords))


class FeaturePropagation(Method):
    """Feature propagation.

    Spreads known values along edges and resets them after every round.

    Rossi et al., LoG 2022, arXiv 2111.12128

    Args:
        in_share: share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed
            graphs only: a number from 0 to 1. By default 0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5.
        rounds: number of rounds: a whole number from 1 to 10000. By default 1 to 40 by validation, else 40.
    """

    name = "fp"

    def __init__(
        self,
        *,
        in_share: float | None = None,
        rounds: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({"in_share": in_share, "rounds": rounds}, dict(keywords))


class Arb(Method):
    """ARB.

    Propagation with a virtual edge between all nodes and observed rows that may move.

    AttriReBoost, arXiv 2501.00743

    Args:
        alpha: share that comes from the neighbours, the rest from the mean of all: a number from 0 to 1. By
            default by validation, else 0.98 (1 for numbers).
        beta: how far a known value may move towards its surroundings: a number from 0 to 1. By default by
            validation, else 0.9 (0.6 for numbers).
        in_share: share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed
            graphs only: a number from 0 to 1. By default 0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5.
        rounds: number of rounds: a whole number from 1 to 10000. By default 1 to 30 by validation, else 10 (14
            for numbers).
    """

    name = "arb"

    def __init__(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        in_share: float | None = None,
        rounds: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({"alpha": alpha, "beta": beta, "in_share": in_share, "rounds": rounds}, dict(keywords))


class Pcfi(Method):
    """PCFI.

    Propagation in which a value counts less the farther it is from an observed one.

    Um et al., ICLR 2023, arXiv 2305.16618

    Args:
        alpha: how much of its weight a value keeps with each hop: a number from 0.01 to 1. By default by
            validation, else 0.9.
        beta: how much the other columns of a node say where few values reach; 0: nothing: a number from 0 to
            100. By default 0.
        in_share: share of in-neighbours: 0 out-neighbours only, 0.5 both alike, 1 in-neighbours only; directed
            graphs only: a number from 0 to 1. By default 0, 0.25, 0.5, 0.75 or 1 by validation, else 0.5.
        rounds: number of rounds: a whole number from 1 to 10000. By default 1 to 100 by validation, else 100.
    """

    name = "pcfi"

    def __init__(
        self,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        in_share: float | None = None,
        rounds: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({"alpha": alpha, "beta": beta, "in_share": in_share, "rounds": rounds}, dict(keywords))


class Gmrf(Method):
    """GMRF regression.

    Known values as noisy observations of a Gaussian Markov random field over the graph, as in kriging.

    Rue and Held, Gaussian Markov Random Fields, 2005

    Args:
        nu: ν, smoothness of the field: a whole number from 1 to 8. By default 1 to 3 by validation, else 1.
        kappa: κ, pull of every value towards the column's mean: a number from 0.0001 to 1000. By default by
            validation, else 0.1.
        noise: σ², variance of what is a value's own: a number from 0.0001 to 1000. By default by validation,
            else 0.3.
    """

    name = "gmrf"

    def __init__(
        self,
        *,
        nu: int | None = None,
        kappa: float | None = None,
        noise: float | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({"nu": nu, "kappa": kappa, "noise": noise}, dict(keywords))


class Vae(Method):
    """Variational autoencoder.

    Learns to encode and decode the rows that are known; a node of which nothing is known is decoded from the
    mean of its neighbours' codes.

    Kingma and Welling: Auto-Encoding Variational Bayes, ICLR 2014

    Args:
        hidden: width of the hidden layers: a whole number from 1 to 16384. By default 200.
        latent: width of a node's latent: a whole number from 1 to 16384. By default 64.
        kl_weight: weight of the KL divergence of latents from the prior: a number from 0 to 1000000000. By
            default 1 / number of features.
        kl_reduction: how the KL divergences of the rows are combined: one of mean, sum. By default mean.
        no_observed_neighbours: what nodes without observed neighbours get: what the mean of the prior decodes
            to, or zeros: one of prior, zeros. By default prior.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.001.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "vae"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        latent: int | None = None,
        kl_weight: float | None = None,
        kl_reduction: Literal["mean", "sum"] | None = None,
        no_observed_neighbours: Literal["prior", "zeros"] | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "latent": latent,
            "kl_weight": kl_weight,
            "kl_reduction": kl_reduction,
            "no_observed_neighbours": no_observed_neighbours,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Gcn(Method):
    """Graph convolutional network.

    Learns a row for every node, averages over neighbours twice, and decodes the result to all columns.

    Kipf and Welling: Semi-Supervised Classification with Graph Convolutional Networks, ICLR 2017

    Args:
        hidden: width of the graph layers: a whole number from 1 to 16384. By default 64.
        decoder_hidden: width of the layer between them and the columns: a whole number from 1 to 16384. By
            default 200.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.005.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "gcn"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        decoder_hidden: int | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "decoder_hidden": decoder_hidden,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Sage(Method):
    """GraphSAGE.

    Like gcn, but a node's own row stays apart from the mean of its neighbours'.

    Hamilton, Ying and Leskovec: Inductive Representation Learning on Large Graphs, NeurIPS 2017

    Args:
        hidden: width of the graph layers: a whole number from 1 to 16384. By default 64.
        decoder_hidden: width of the layer between them and the columns: a whole number from 1 to 16384. By
            default 200.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.005.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "sage"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        decoder_hidden: int | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "decoder_hidden": decoder_hidden,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Gat(Method):
    """Graph attention network.

    Like gcn, but how much a neighbour counts is learned.

    Veličković and others: Graph Attention Networks, ICLR 2018

    Args:
        hidden: width of the graph layers: a whole number from 1 to 16384. By default 64.
        decoder_hidden: width of the layer between them and the columns: a whole number from 1 to 16384. By
            default 200.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.005.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "gat"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        decoder_hidden: int | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "decoder_hidden": decoder_hidden,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Gnn(Method):
    """Best of three graph networks.

    Trains gcn, sage and gat, and takes the one that does best on values hidden from it.

    Args:
        hidden: width of the graph layers: a whole number from 1 to 16384. By default 64.
        decoder_hidden: width of the layer between them and the columns: a whole number from 1 to 16384. By
            default 200.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.005.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
        network: which network: one of the three, or the best of them on validation cells: one of best, gcn,
            sage, gat. By default best.
    """

    name = "gnn"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        decoder_hidden: int | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        network: Literal["best", "gcn", "sage", "gat"] | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "decoder_hidden": decoder_hidden,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
            "network": network,
        }
        super().__init__(parameters, dict(keywords))


class GraphRna(Method):
    """Graph recurrent network with attributed random walks.

    Walks at random over nodes and attributes, reads the walks of a node both ways with a recurrent network, and
    decodes the mean of what was read to all columns.

    Huang, Song, Li and Hu: Graph Recurrent Networks with Attributed Random Walks, KDD 2019

    Args:
        hidden: width of a recurrent state, in each direction: a whole number from 1 to 4096. By default 32.
        length: vertices of a walk: a whole number from 1 to 100. By default 5.
        paths: walks from each node in an update: a whole number from 1 to 1000. By default 5.
        alpha: probability of a step to a neighbour rather than to an attribute: a number from 0 to 1. By
            default 0.4.
        own_attributes: whether walks see the attributes of the node where they begin: one of seen, hidden. By
            default hidden.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.005.
        dropout: share of inputs and latents dropped: a number from 0 to 0.95. By default 0.5.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "graph-rna"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        length: int | None = None,
        paths: int | None = None,
        alpha: float | None = None,
        own_attributes: Literal["seen", "hidden"] | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "length": length,
            "paths": paths,
            "alpha": alpha,
            "own_attributes": own_attributes,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Arwmf(Method):
    """Attributed random walk as matrix factorisation.

    Takes attributes for further nodes and factorises how often random walks over both meet a pair of them.

    Chen and others: Attributed Random Walk as Matrix Factorization, 2019; the closed form as in Qiu and others:
    Network Embedding as Matrix Factorization, WSDM 2018

    Args:
        window: steps of a walk within which two vertices belong together: a whole number from 1 to 100. By
            default 5 or 10, by validation.
        negatives: negative samples: how much more often than by chance vertices must meet: a number from 0.001
            to 1000. By default 1 or 5, by validation.
        rank: length of the vectors of nodes and attributes: a whole number from 1 to 4096. By default 64, 32 or
            16, by validation.
        attribute_weight: weight of a node's link to an attribute; one to a neighbour has 1: a number from
            0.000001 to 1000000. By default 1.
    """

    name = "arwmf"

    def __init__(
        self,
        *,
        window: int | None = None,
        negatives: float | None = None,
        rank: int | None = None,
        attribute_weight: float | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "window": window,
            "negatives": negatives,
            "rank": rank,
            "attribute_weight": attribute_weight,
        }
        super().__init__(parameters, dict(keywords))


class Sat(Method):
    """Structure-attribute transformer.

    Encodes rows and positions in the graph into one latent space, held together by an adversary and by decoding
    each to what the other knows.

    Chen, Chen, Yao, Zheng, Zhang and Tsang: Learning on Attribute-Missing Graphs, TPAMI 2022

    Args:
        backbone: how a node's position in the graph is encoded: one of gcn, gat. By default gat for 0/1 blocks,
            gcn for other tables.
        hidden: width of the hidden layers: a whole number from 1 to 16384. By default 200.
        latent: width of the latent space: a whole number from 1 to 16384. By default 64.
        cross: weight of features decoded from positions and edges decoded from rows: a number from 0 to
            1000000. By default 10.
        generator_steps: steps of encoders and decoders for each step of the discriminator: a whole number from
            1 to 100. By default 2.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.001.
        dropout: share of hidden numbers dropped in training: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0.2 for other tables.
        weight_decay: weight of the penalty on squared weights: a number from 0 to 1. By default 0.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "sat"

    def __init__(
        self,
        *,
        backbone: Literal["gcn", "gat"] | None = None,
        hidden: int | None = None,
        latent: int | None = None,
        cross: float | None = None,
        generator_steps: int | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        weight_decay: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "backbone": backbone,
            "hidden": hidden,
            "latent": latent,
            "cross": cross,
            "generator_steps": generator_steps,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "weight_decay": weight_decay,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Grape(Method):
    """Graph of rows and features.

    Takes the table itself for a graph, whose edges are the known cells between rows and columns, and learns to
    estimate hidden cells with a graph network. For single missing cells only; the edges between nodes are not
    used.

    You, Ma, Ding, Kochenderfer and Leskovec: Handling Missing Data with Graph Representation Learning, NeurIPS
    2020, arXiv 2010.16418

    Args:
        hidden: width of rows, features and cells: a whole number from 1 to 4096. By default 64.
        depth: number of layers: a whole number from 1 to 16. By default 3.
        hidden_share: share of known cells that an update hides and learns to estimate: a number from 0.01 to
            0.95. By default 0.3.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.002.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 300.
    """

    name = "grape"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        depth: int | None = None,
        hidden_share: float | None = None,
        learning_rate: float | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "depth": depth,
            "hidden_share": hidden_share,
            "learning_rate": learning_rate,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class SvgaR(Method):
    """SVGA without regularisation.

    SVGA with λ = 0: what is left without the Gaussian Markov random field.

    Yoo, Jeon, Jung and Kang: Accurate Node Feature Estimation with Structured Variational Graph Autoencoder,
    KDD 2022

    Args:
        hidden: width of hidden and latent rows: a whole number from 1 to 16384. By default 256.
        encoder: how a node's latent is made of the graph: one of gcn, sage, gat, sgc, linear. By default gcn.
        depth: layers of the encoder: a whole number from 1 to 16. By default 2.
        normalisation: what latent rows are scaled to: one of unit, none. By default unit.
        bias: whether decoders have a bias: one of yes, no. By default no for 0/1 blocks and yes for other
            tables.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.001.
        dropout: share of latents dropped before the decoders: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks and 0.2 for other tables.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 2000.
    """

    name = "svga-r"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        encoder: Literal["gcn", "sage", "gat", "sgc", "linear"] | None = None,
        depth: int | None = None,
        normalisation: Literal["unit", "none"] | None = None,
        bias: bool | Literal["yes", "no"] | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "encoder": encoder,
            "depth": depth,
            "normalisation": normalisation,
            "bias": bias,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "scaling": scaling,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class SvgaU(Method):
    """SVGA without unified modelling.

    SVGA with stochastic inference: one encoder gives the mean of the latents, another one their covariance, and
    training draws from that Gaussian.

    Yoo, Jeon, Jung and Kang: Accurate Node Feature Estimation with Structured Variational Graph Autoencoder,
    KDD 2022

    Args:
        hidden: width of hidden and latent rows: a whole number from 1 to 16384. By default 256.
        encoder: how a node's latent is made of the graph: one of gcn, sage, gat, sgc, linear. By default gcn.
        depth: layers of the encoder: a whole number from 1 to 16. By default 2.
        normalisation: what latent rows are scaled to: one of unit, none. By default unit.
        bias: whether decoders have a bias: one of yes, no. By default no for 0/1 blocks and yes for other
            tables.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.001.
        dropout: share of latents dropped before the decoders: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks and 0.2 for other tables.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 2000.
        lambda_: λ, weight of the GMRF that keeps neighbours alike: a number from 0 to 1000000. By default 1 for
            0/1 blocks, 0.1 for others; svga-u: Algorithm 2's balance, 0.1 / hidden.
        beta: β, variance scale of the prior: larger values weaken the GMRF: a number from 0.000001 to 1000000.
            By default 0.1 for 0/1 blocks and 1 for other tables.
    """

    name = "svga-u"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        encoder: Literal["gcn", "sage", "gat", "sgc", "linear"] | None = None,
        depth: int | None = None,
        normalisation: Literal["unit", "none"] | None = None,
        bias: bool | Literal["yes", "no"] | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        lambda_: float | None = None,
        beta: float | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "encoder": encoder,
            "depth": depth,
            "normalisation": normalisation,
            "bias": bias,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "scaling": scaling,
            "patience": patience,
            "lambda": lambda_,
            "beta": beta,
        }
        super().__init__(parameters, dict(keywords))


class Svga(Method):
    """Structured variational graph autoencoder.

    Learns a latent for every node with a graph network and a Gaussian Markov random field that keeps neighbours
    alike, and decodes it to all columns.

    Yoo, Jeon, Jung and Kang: Accurate Node Feature Estimation with Structured Variational Graph Autoencoder,
    KDD 2022

    Args:
        hidden: width of hidden and latent rows: a whole number from 1 to 16384. By default 256.
        encoder: how a node's latent is made of the graph: one of gcn, sage, gat, sgc, linear. By default gcn.
        depth: layers of the encoder: a whole number from 1 to 16. By default 2.
        normalisation: what latent rows are scaled to: one of unit, none. By default unit.
        bias: whether decoders have a bias: one of yes, no. By default no for 0/1 blocks and yes for other
            tables.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.001.
        dropout: share of latents dropped before the decoders: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks and 0.2 for other tables.
        scaling: scaling of numeric blocks: one of none, standard. By default standard.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 2000.
        lambda_: λ, weight of the GMRF that keeps neighbours alike: a number from 0 to 1000000. By default 1 for
            0/1 blocks, 0.1 for others; svga-u: Algorithm 2's balance, 0.1 / hidden.
        beta: β, variance scale of the prior: larger values weaken the GMRF: a number from 0.000001 to 1000000.
            By default 0.1 for 0/1 blocks and 1 for other tables.
    """

    name = "svga"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        encoder: Literal["gcn", "sage", "gat", "sgc", "linear"] | None = None,
        depth: int | None = None,
        normalisation: Literal["unit", "none"] | None = None,
        bias: bool | Literal["yes", "no"] | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        scaling: Literal["none", "standard"] | None = None,
        patience: int | None = None,
        lambda_: float | None = None,
        beta: float | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "encoder": encoder,
            "depth": depth,
            "normalisation": normalisation,
            "bias": bias,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "scaling": scaling,
            "patience": patience,
            "lambda": lambda_,
            "beta": beta,
        }
        super().__init__(parameters, dict(keywords))


class SvgaP(Method):
    """SVGA on a propagation prior.

    Blends several propagations into a prior for every cell, as if it were unknown, and learns where the prior
    is wrong with a graph network and SVGA's Gaussian Markov random field. Needs a tenth of SVGA's updates.

    Args:
        hidden: width of hidden and latent rows: a whole number from 1 to 16384. By default 256; 128 where
            single cells are missing.
        lambda_: λ, weight of the GMRF that keeps neighbours alike: a number from 0 to 1000000. By default 0.1.
        beta: β, variance scale of the prior: larger values weaken the GMRF: a number from 0.000001 to 1000000.
            By default 0.1.
        learning_rate: of Adam: a number from 0.0000001 to 1. By default 0.002; 0.003 where single cells are
            missing.
        dropout: share of latents dropped before the decoders: a number from 0 to 0.95. By default 0.5 for 0/1
            blocks, 0 for other tables.
        models: models that are averaged: a whole number from 1 to 100. By default 3.
        patience: updates without a better validation score before training ends: a whole number from 1 to
            1000000000. By default 50; none where rows with missing cells are trained in batches.
    """

    name = "svga-p"

    def __init__(
        self,
        *,
        hidden: int | None = None,
        lambda_: float | None = None,
        beta: float | None = None,
        learning_rate: float | None = None,
        dropout: float | None = None,
        models: int | None = None,
        patience: int | None = None,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        parameters: dict[str, object] = {
            "hidden": hidden,
            "lambda": lambda_,
            "beta": beta,
            "learning_rate": learning_rate,
            "dropout": dropout,
            "models": models,
            "patience": patience,
        }
        super().__init__(parameters, dict(keywords))


class Auto(Method):
    """Automatic choice.

    Fits the propagation methods and SVGA-P, and gives each column the one that does best on values hidden from
    it.
    """

    name = "auto"

    def __init__(
        self,
        **keywords: Unpack[FillKeywords],
    ) -> None:
        super().__init__({}, dict(keywords))
