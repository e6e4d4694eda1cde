//! The table of the eight data sets.
//!
//! Counts are the paper's, but edges are counted in the simple undirected graph. Most files are
//! pinned by the git blob id that they have in their publisher's repository.

use super::{DatasetInfo, RemoteFile, SourceFormat};
use crate::kind::BlockKind;

const PLANETOID: &str = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data";
const GNN_BENCHMARK: &str =
    "https://raw.githubusercontent.com/shchur/gnn-benchmark/master/data/npz";
const STEAM: &str =
    "https://raw.githubusercontent.com/xuChenSJTU/SAT-master-online/master/data/steam";
const OPEN_GRAPH_BENCHMARK: &str = "http://snap.stanford.edu/ogb/data/nodeproppred";

const MIT_REPOSITORY: &str = "the publisher's repository is under the MIT licence; no licence is stated for the data itself; cite the source";
const NOT_STATED: &str = "no licence stated by the publisher; cite the source";

const SEN: &str = "Sen, Namata, Bilgic, Getoor, Gallagher, Eliassi-Rad: Collective Classification in Network Data, AI Magazine 29(3), 2008. Files: Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016";
const NAMATA: &str = "Namata, London, Getoor, Huang: Query-driven Active Surveying for Collective Classification, MLG 2012. Files: Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016";
const MCAULEY: &str = "McAuley, Targett, Shi, van den Hengel: Image-based Recommendations on Styles and Substitutes, SIGIR 2015. Files: Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018";
const SHCHUR: &str = "Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018 (from the Microsoft Academic Graph)";
const CHEN: &str = "Chen, Chen, Yao, Zheng, Zhang, Tsang: Learning on Attribute-Missing Graphs, IEEE Transactions on Pattern Analysis and Machine Intelligence 44(2), 2022";
const HU: &str = "Hu, Fey, Zitnik, Dong, Ren, Liu, Catasta, Leskovec: Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020";

/// A file whose bytes are pinned.
const fn pinned(
    folder_url: &'static str,
    name: &'static str,
    git_blob_id: &'static str,
) -> RemoteFile {
    RemoteFile { name, folder_url, git_blob_id: Some(git_blob_id), members: &[] }
}

const CORA: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.cora.allx", "44d53b1fece343538e45592caac521d73c6f98d6"),
    pinned(PLANETOID, "ind.cora.ally", "04fbd0b083d09341fcf16b395c642329637f0542"),
    pinned(PLANETOID, "ind.cora.graph", "4d3bf85dfc8b1c105a2c995597a1b3eed6947925"),
    pinned(PLANETOID, "ind.cora.test.index", "ded8092db4cd767a367eebe09003b954a5316f24"),
    pinned(PLANETOID, "ind.cora.tx", "6e856d777401ee15dc8619db76c97d0a40ba2d60"),
    pinned(PLANETOID, "ind.cora.ty", "da1734ab670b5c8ecee78a9c30b35566df916f4b"),
    pinned(PLANETOID, "ind.cora.x", "c4a91d008245403e7f26aa616b437191509793c0"),
    pinned(PLANETOID, "ind.cora.y", "58e30ef120d3553cfaac33ff28c6b5436dbef661"),
];

const CITESEER: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.citeseer.allx", "592091071ac35b78599c722d0e60b1c655711728"),
    pinned(PLANETOID, "ind.citeseer.ally", "7503f81a0b6ac1cc21cb5a97073542a6b1dfe99c"),
    pinned(PLANETOID, "ind.citeseer.graph", "a01dca663d0103c130f525017a4a9c313037e286"),
    pinned(PLANETOID, "ind.citeseer.test.index", "62d9e3d5ed53c66b069125af98529d76c70d9b3e"),
    pinned(PLANETOID, "ind.citeseer.tx", "b2aff18aa1fc6f4f5e8c64db7643b59b24e42584"),
    pinned(PLANETOID, "ind.citeseer.ty", "3795f79df0cd1123f4478b77c148a5fbacc4cefb"),
    pinned(PLANETOID, "ind.citeseer.x", "f094104a66f2689ffbd01085fe6a856689e9db9e"),
    pinned(PLANETOID, "ind.citeseer.y", "e857ac49b611da98e101a068cf4855350274f68a"),
];

const PUBMED: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.pubmed.allx", "3b86bccf08111c37c632a9dd8ab63db25ea76361"),
    pinned(PLANETOID, "ind.pubmed.ally", "4c8bcdc80882dd225fe4dd4fafd723baa616ac97"),
    pinned(PLANETOID, "ind.pubmed.graph", "76eb87e628a6b9d43fc31ea42c8c6c8f3e52b404"),
    pinned(PLANETOID, "ind.pubmed.test.index", "41f6befcb7750cc4858cb852f2b349a9598cb2f4"),
    pinned(PLANETOID, "ind.pubmed.tx", "eee4f3c988fde0da87a9ec7b01ca5e7863c1b1f1"),
    pinned(PLANETOID, "ind.pubmed.ty", "225a0bb9bb6430e3925d04688daf6a0da964c07a"),
    pinned(PLANETOID, "ind.pubmed.x", "16c0eca8d2b3297014ff80327416f9332eda10d7"),
    pinned(PLANETOID, "ind.pubmed.y", "e86670576c85340eeb2271b3c918bfa89322b2cf"),
];

const PHOTO: [RemoteFile; 1] = [pinned(
    GNN_BENCHMARK,
    "amazon_electronics_photo.npz",
    "97323743cb56aca9dd611f5b4b46862c1c9c6bd9",
)];

const COMPUTERS: [RemoteFile; 1] = [pinned(
    GNN_BENCHMARK,
    "amazon_electronics_computers.npz",
    "8120e4148a330b3fafe37c4476823302d9d834b9",
)];

const COAUTHOR: [RemoteFile; 1] =
    [pinned(GNN_BENCHMARK, "ms_academic_cs.npz", "9bdd7da943d86b74297e8d32e99eb64245b52835")];

const STEAM_TABLES: [RemoteFile; 2] = [
    pinned(STEAM, "product_tags.csv", "88342038f997bda4f1c883b5986f195e52346f75"),
    pinned(STEAM, "user_product_date.csv", "37873e7f3b44ba186ce7316925210aa51959ad6c"),
];

const ARXIV: [RemoteFile; 1] = [RemoteFile {
    name: "arxiv.zip",
    folder_url: OPEN_GRAPH_BENCHMARK,
    git_blob_id: None,
    members: &["raw/edge.csv.gz", "raw/node-feat.csv.gz", "raw/node-label.csv.gz"],
}];

pub(super) static ENTRIES: [DatasetInfo; 8] = [
    DatasetInfo {
        name: "cora",
        title: "Papers on machine learning, cited by each other; words",
        nodes: 2_708,
        edges: 5_278,
        paper_edges: 5_429,
        features: 1_433,
        kind: BlockKind::Binary,
        classes: Some(7),
        format: SourceFormat::Planetoid,
        files: &CORA,
        licence: MIT_REPOSITORY,
        citation: SEN,
    },
    DatasetInfo {
        name: "citeseer",
        title: "Papers on computer science, cited by each other; words",
        nodes: 3_327,
        edges: 4_552,
        paper_edges: 4_732,
        features: 3_703,
        kind: BlockKind::Binary,
        classes: Some(6),
        format: SourceFormat::Planetoid,
        files: &CITESEER,
        licence: MIT_REPOSITORY,
        citation: SEN,
    },
    DatasetInfo {
        name: "photo",
        title: "Photo goods at Amazon, bought together; words of reviews",
        nodes: 7_650,
        edges: 119_081,
        paper_edges: 119_081,
        features: 745,
        kind: BlockKind::Binary,
        classes: Some(8),
        format: SourceFormat::GnnBenchmark,
        files: &PHOTO,
        licence: MIT_REPOSITORY,
        citation: MCAULEY,
    },
    DatasetInfo {
        name: "computers",
        title: "Computers at Amazon, bought together; words of reviews",
        nodes: 13_752,
        edges: 245_861,
        paper_edges: 245_861,
        features: 767,
        kind: BlockKind::Binary,
        classes: Some(10),
        format: SourceFormat::GnnBenchmark,
        files: &COMPUTERS,
        licence: MIT_REPOSITORY,
        citation: MCAULEY,
    },
    DatasetInfo {
        name: "steam",
        title: "Games at Steam, bought by the same users; tags",
        nodes: 9_944,
        edges: 266_981,
        paper_edges: 266_981,
        features: 352,
        kind: BlockKind::Binary,
        classes: None,
        format: SourceFormat::Steam,
        files: &STEAM_TABLES,
        licence: NOT_STATED,
        citation: CHEN,
    },
    DatasetInfo {
        name: "pubmed",
        title: "Papers on diabetes, cited by each other; weighted words",
        nodes: 19_717,
        edges: 44_324,
        paper_edges: 44_324,
        features: 500,
        kind: BlockKind::Numeric,
        classes: Some(3),
        format: SourceFormat::Planetoid,
        files: &PUBMED,
        licence: MIT_REPOSITORY,
        citation: NAMATA,
    },
    DatasetInfo {
        name: "coauthor",
        title: "Authors in computer science, of papers together; keywords",
        nodes: 18_333,
        edges: 81_894,
        paper_edges: 81_894,
        features: 6_805,
        kind: BlockKind::Numeric,
        classes: Some(15),
        format: SourceFormat::GnnBenchmark,
        files: &COAUTHOR,
        licence: MIT_REPOSITORY,
        citation: SHCHUR,
    },
    DatasetInfo {
        name: "arxiv",
        title: "Computer science at arXiv, cited by each other; word embeddings",
        nodes: 169_343,
        edges: 1_157_799,
        paper_edges: 1_157_799,
        features: 128,
        kind: BlockKind::Numeric,
        classes: Some(40),
        format: SourceFormat::OpenGraphBenchmark,
        files: &ARXIV,
        licence: "ODC-BY (Open Data Commons Attribution), as stated by the Open Graph Benchmark",
        citation: HU,
    },
];
