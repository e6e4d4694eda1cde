//! Arbitrary bytes are read or refused: no reader panics or hangs.

mod archive;

use std::fmt::Write;
use std::path::Path;

use graphfill_data::NoProgress;
use graphfill_data::formats::ReadOptions;
use graphfill_datasets::Source;
use proptest::prelude::*;
use proptest::sample::Index;

use archive::{archive, benchmark_arrays};

/// Reads the path; both a data set and an error are fine.
fn read(path: &Path) {
    let options = ReadOptions { memory_limit: 1 << 24, ..ReadOptions::default() };
    if let Ok(dataset) = Source::detect(path, None).and_then(|s| s.read(&options, &NoProgress)) {
        dataset.graph.undirected();
    }
}

/// Replaces some bytes and cuts the end.
#[derive(Debug, Clone)]
struct Damage {
    bytes: Vec<(Index, u8)>,
    cut: Option<Index>,
}

impl Damage {
    fn apply(&self, mut content: Vec<u8>) -> Vec<u8> {
        for (position, byte) in &self.bytes {
            if !content.is_empty() {
                *position.get_mut(&mut content) = *byte;
            }
        }
        if let Some(cut) = self.cut {
            content.truncate(cut.index(content.len() + 1));
        }
        content
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let bytes = prop::collection::vec((any::<Index>(), any::<u8>()), 1..6);
    let cut = prop::option::weighted(0.2, any::<Index>());
    (bytes, cut).prop_map(|(bytes, cut)| Damage { bytes, cut })
}

/// Text of characters that have a meaning in one of the formats.
fn table_like() -> impl Strategy<Value = Vec<u8>> {
    let characters = b"ab01 .,;\n\r\"-+eninf|[]\xc3\xbc\0";
    prop::collection::vec(prop::sample::select(&characters[..]), 0..200)
}

fn steam() -> Vec<(&'static str, String)> {
    let mut purchases = "|user_id|product_id|date\n".to_owned();
    for user in 0..11 {
        for product in [30, 20, 10] {
            writeln!(purchases, "0|u{user}|{product}|2018-01-01").expect("text grows");
        }
    }
    let tags = "product_id|app_name|tags|n_reviews\n30|A|[Indie, RPG]|2.0\n10|Z|[Action]|\n";
    vec![("user_product_date.csv", purchases), ("product_tags.csv", tags.to_owned())]
}

fn ogb() -> Vec<(&'static str, String)> {
    vec![
        ("edge.csv", "0,1\n1,2\n2,0\n".to_owned()),
        ("node-feat.csv", "0.5,-1\n1e-3,nan\n0,2\n".to_owned()),
        ("node-label.csv", "0\n1.0\nnan\n".to_owned()),
        ("num-node-list.csv", "3\n".to_owned()),
    ]
}

proptest! {
    #[test]
    fn folders_of_text_files(which in any::<Index>(), random in table_like(), damage in damage()) {
        for files in [steam(), ogb()] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let write = |name: &str, content: &[u8]| {
                std::fs::write(folder.path().join(name), content).expect("a written file");
            };
            files.iter().for_each(|(name, content)| write(name, content.as_bytes()));
            let (name, good) = which.get(&files);
            for content in [random.clone(), damage.apply(good.clone().into_bytes())] {
                write(name, &content);
                read(folder.path());
            }
        }
    }

    /// Arrays are damaged before they are packed, since a checksum stops most other changes.
    #[test]
    fn gnn_benchmark_archives(
        which in any::<Index>(),
        header in any::<bool>(),
        damage in damage(),
    ) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("graph.npz");
        let mut arrays = benchmark_arrays();
        let array = which.get_mut(&mut arrays);
        if header {
            let text = damage.apply(array.header.clone().into_bytes());
            array.header = String::from_utf8_lossy(&text).into_owned();
        } else {
            array.data = damage.apply(array.data.clone());
            array.header = array.header.replace("shape': (3,", &format!("shape': ({},", array.data.len() / 8));
        }
        for content in [archive(&arrays), damage.apply(archive(&benchmark_arrays()))] {
            std::fs::write(&path, content).expect("a written file");
            read(&path);
        }
    }
}
