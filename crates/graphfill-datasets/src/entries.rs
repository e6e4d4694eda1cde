//! The table of the eight data sets.
//!
//! Counts are the paper's, but edges are counted in the simple undirected graph. Every file but
//! arxiv's is pinned by the git blob id that it has in the named commit of its publisher's
//! repository, and by its SHA-256 where that is known.

use graphfill_data::BlockKind;

use crate::registry::{DatasetInfo, RemoteFile, SourceFormat};

const PLANETOID: &str = "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data";
const GNN_BENCHMARK: &str = "https://raw.githubusercontent.com/shchur/gnn-benchmark/1e72912a0810cdf27ae54fd589a3b43358a2b161/data/npz";
const STEAM: &str = "https://raw.githubusercontent.com/xuChenSJTU/SAT-master-online/39801fadd051198928d670095bd83fe4566ea650/data/steam";
const OPEN_GRAPH_BENCHMARK: &str = "https://snap.stanford.edu/ogb/data/nodeproppred";

const MIT_REPOSITORY: &str = "the publisher's repository is under the MIT licence; no licence is stated for the data itself; cite the source";
const NOT_STATED: &str = "no licence stated by the publisher; cite the source";

const SEN: &str = "Sen, Namata, Bilgic, Getoor, Gallagher, Eliassi-Rad: Collective Classification in Network Data, AI Magazine 29(3), 2008. Files: Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016";
const NAMATA: &str = "Namata, London, Getoor, Huang: Query-driven Active Surveying for Collective Classification, MLG 2012. Files: Yang, Cohen, Salakhutdinov: Revisiting Semi-Supervised Learning with Graph Embeddings, ICML 2016";
const MCAULEY: &str = "McAuley, Targett, Shi, van den Hengel: Image-based Recommendations on Styles and Substitutes, SIGIR 2015. Files: Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018";
const SHCHUR: &str = "Shchur, Mumme, Bojchevski, Günnemann: Pitfalls of Graph Neural Network Evaluation, 2018 (from the Microsoft Academic Graph)";
const CHEN: &str = "Chen, Chen, Yao, Zheng, Zhang, Tsang: Learning on Attribute-Missing Graphs, IEEE Transactions on Pattern Analysis and Machine Intelligence 44(2), 2022";
const HU: &str = "Hu, Fey, Zitnik, Dong, Ren, Liu, Catasta, Leskovec: Open Graph Benchmark: Datasets for Machine Learning on Graphs, NeurIPS 2020";

/// A file with known content.
const fn pinned(
    folder_url: &'static str,
    name: &'static str,
    git_blob_id: &'static str,
    sha256: Option<&'static str>,
) -> RemoteFile {
    RemoteFile { name, folder_url, git_blob_id: Some(git_blob_id), sha256, members: &[] }
}

#[rustfmt::skip] // One line per file.
const CORA: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.cora.allx", "44d53b1fece343538e45592caac521d73c6f98d6", Some("9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543")),
    pinned(PLANETOID, "ind.cora.ally", "04fbd0b083d09341fcf16b395c642329637f0542", Some("2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71")),
    pinned(PLANETOID, "ind.cora.graph", "4d3bf85dfc8b1c105a2c995597a1b3eed6947925", Some("58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d")),
    pinned(PLANETOID, "ind.cora.test.index", "ded8092db4cd767a367eebe09003b954a5316f24", Some("297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875")),
    pinned(PLANETOID, "ind.cora.tx", "6e856d777401ee15dc8619db76c97d0a40ba2d60", Some("b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a")),
    pinned(PLANETOID, "ind.cora.ty", "da1734ab670b5c8ecee78a9c30b35566df916f4b", Some("41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad")),
    pinned(PLANETOID, "ind.cora.x", "c4a91d008245403e7f26aa616b437191509793c0", Some("23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab")),
    pinned(PLANETOID, "ind.cora.y", "58e30ef120d3553cfaac33ff28c6b5436dbef661", Some("94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1")),
];

#[rustfmt::skip] // One line per file.
const CITESEER: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.citeseer.allx", "592091071ac35b78599c722d0e60b1c655711728", Some("2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668")),
    pinned(PLANETOID, "ind.citeseer.ally", "7503f81a0b6ac1cc21cb5a97073542a6b1dfe99c", Some("f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95")),
    pinned(PLANETOID, "ind.citeseer.graph", "a01dca663d0103c130f525017a4a9c313037e286", Some("d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7")),
    pinned(PLANETOID, "ind.citeseer.test.index", "62d9e3d5ed53c66b069125af98529d76c70d9b3e", Some("2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4")),
    pinned(PLANETOID, "ind.citeseer.tx", "b2aff18aa1fc6f4f5e8c64db7643b59b24e42584", Some("539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21")),
    pinned(PLANETOID, "ind.citeseer.ty", "3795f79df0cd1123f4478b77c148a5fbacc4cefb", Some("55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce")),
    pinned(PLANETOID, "ind.citeseer.x", "f094104a66f2689ffbd01085fe6a856689e9db9e", Some("d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6")),
    pinned(PLANETOID, "ind.citeseer.y", "e857ac49b611da98e101a068cf4855350274f68a", Some("8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924")),
];

#[rustfmt::skip] // One line per file.
const PUBMED: [RemoteFile; 8] = [
    pinned(PLANETOID, "ind.pubmed.allx", "3b86bccf08111c37c632a9dd8ab63db25ea76361", Some("508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e")),
    pinned(PLANETOID, "ind.pubmed.ally", "4c8bcdc80882dd225fe4dd4fafd723baa616ac97", Some("0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e")),
    pinned(PLANETOID, "ind.pubmed.graph", "76eb87e628a6b9d43fc31ea42c8c6c8f3e52b404", Some("5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9")),
    pinned(PLANETOID, "ind.pubmed.test.index", "41f6befcb7750cc4858cb852f2b349a9598cb2f4", Some("b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5")),
    pinned(PLANETOID, "ind.pubmed.tx", "eee4f3c988fde0da87a9ec7b01ca5e7863c1b1f1", Some("4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d")),
    pinned(PLANETOID, "ind.pubmed.ty", "225a0bb9bb6430e3925d04688daf6a0da964c07a", Some("ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd")),
    pinned(PLANETOID, "ind.pubmed.x", "16c0eca8d2b3297014ff80327416f9332eda10d7", Some("fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33")),
    pinned(PLANETOID, "ind.pubmed.y", "e86670576c85340eeb2271b3c918bfa89322b2cf", Some("e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3")),
];

#[rustfmt::skip]
const PHOTO: [RemoteFile; 1] = [
    pinned(GNN_BENCHMARK, "amazon_electronics_photo.npz", "97323743cb56aca9dd611f5b4b46862c1c9c6bd9", None),
];

#[rustfmt::skip]
const COMPUTERS: [RemoteFile; 1] = [
    pinned(GNN_BENCHMARK, "amazon_electronics_computers.npz", "8120e4148a330b3fafe37c4476823302d9d834b9", None),
];

#[rustfmt::skip]
const COAUTHOR: [RemoteFile; 1] = [
    pinned(GNN_BENCHMARK, "ms_academic_cs.npz", "9bdd7da943d86b74297e8d32e99eb64245b52835", None),
];

#[rustfmt::skip]
const STEAM_TABLES: [RemoteFile; 2] = [
    pinned(STEAM, "product_tags.csv", "88342038f997bda4f1c883b5986f195e52346f75", Some("bd48e6208ff0590f9e9f898d2647086f636ccc4fcb651bdab0e3b5faeabdba2e")),
    pinned(STEAM, "user_product_date.csv", "37873e7f3b44ba186ce7316925210aa51959ad6c", None),
];

const ARXIV: [RemoteFile; 1] = [RemoteFile {
    name: "arxiv.zip",
    folder_url: OPEN_GRAPH_BENCHMARK,
    git_blob_id: None,
    sha256: None,
    members: &["raw/edge.csv.gz", "raw/node-feat.csv.gz", "raw/node-label.csv.gz"],
}];

pub(crate) static ENTRIES: [DatasetInfo; 8] = [
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
