//! Text tables, Parquet tables and types files.

use std::sync::OnceLock;

use graphfill_data::TypesFile;
use graphfill_data::formats;
use graphfill_data::generator::{GeneratorConfig, generate};
use proptest::prelude::*;

use crate::{Folder, changed, changes, random_bytes, read, table_like};

const NODES: &[u8] =
    b"id,x,colour,note\na,0.5,red,\"one, two\"\nb,1e3,blue,\n#c,NaN,red,\"\"\"q\"\"\"\n\
    d,-2,,\xc3\xbc\n7,inf,blue,z\n";
const EDGES: &[u8] = b"# comment\nsource,target,weight\na,b,1.5\n\"#c\",d,0\n7,a,2e3\n";
const TYPES: &[u8] =
    b"[types]\nx = \"number\"\n\"a b\" = \"unused\"\n[blocks]\nw = [\"p\", \"q\"]\n\
    [graph]\ndirected = true\n";

/// Parquet files of a small town: nodes, then edges.
fn parquet() -> &'static [Vec<u8>; 2] {
    static FILES: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
    FILES.get_or_init(|| {
        let town = generate(&GeneratorConfig {
            nodes: 12,
            topics: 5,
            words_per_node: 2.0,
            mean_degree: 3.0,
            ..GeneratorConfig::default()
        });
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("town.parquet");
        formats::write(&town.expect("a good config").dataset, &path).expect("a written town");
        let bytes = |name: &str| std::fs::read(folder.path().join(name)).expect("a file");
        [bytes("town.parquet"), bytes("town.edges.parquet")]
    })
}

proptest! {
    #[test]
    fn text_nodes(
        random in prop_oneof![random_bytes(), table_like()],
        changes in changes(),
    ) {
        let folder = Folder::new();
        for content in [random, changed(NODES, &changes)] {
            read(&folder.write("nodes.csv", &content), None);
            read(&folder.write("other.tsv.gz", &content), None);
        }
    }

    #[test]
    fn text_edges(
        random in prop_oneof![random_bytes(), table_like()],
        changes in changes(),
    ) {
        let folder = Folder::new();
        let nodes = folder.write("n.csv", b"id,x\na,1\nb,2\n#c,3\nd,4\n7,5\n");
        for content in [random, changed(EDGES, &changes)] {
            let edges = folder.write("e.csv", &content);
            read(&nodes, Some(&edges));
            read(&edges, None);
        }
    }

    #[test]
    fn types_files(random in prop_oneof![random_bytes(), table_like()], changes in changes()) {
        let folder = Folder::new();
        let nodes = folder.write("n.csv", b"id,x,a b,p,q\na,1,2,3,4\nb,2,5,6,7\n");
        for content in [random, changed(TYPES, &changes)] {
            let _ = TypesFile::read(&folder.write("n.types.toml", &content));
            read(&nodes, None);
        }
    }
}

proptest! {
    #[test]
    fn parquet_tables(random in random_bytes(), changes in changes()) {
        let folder = Folder::new();
        let [nodes, edges] = parquet();
        let random = [&b"PAR1"[..], &random, b"PAR1"].concat();
        read(&folder.write("random.parquet", &random), None);
        let nodes = folder.write("nodes.parquet", &changed(nodes, &changes));
        read(&nodes, None);
        let edges = folder.write("edges.parquet", &changed(edges, &changes));
        read(&nodes, Some(&edges));
        read(&edges, None);
    }
}
