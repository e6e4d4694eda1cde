//! Formats that are folders of text files: OGB's and Steam's.

use std::fmt::Write;

use proptest::prelude::*;

use crate::{Folder, changed, changes, random_bytes, read, table_like};

fn shop() -> [(&'static str, String); 2] {
    let mut purchases = "|user_id|product_id|date\n".to_owned();
    for user in 0..11 {
        for product in [30, 20, 10] {
            writeln!(purchases, "0|u{user}|{product}|2018-01-01").expect("text grows");
        }
    }
    let tags = "product_id|app_name|tags|n_reviews\n30|A|[Indie, RPG]|2.0\n10|Z|[Action]|\n";
    [("user_product_date.csv", purchases), ("product_tags.csv", tags.to_owned())]
}

fn benchmark() -> [(&'static str, String); 4] {
    [
        ("edge.csv", "0,1\n1,2\n2,0\n".to_owned()),
        ("node-feat.csv", "0.5,-1\n1e-3,nan\n0,2\n".to_owned()),
        ("node-label.csv", "0\n1.0\nnan\n".to_owned()),
        ("num-node-list.csv", "3\n".to_owned()),
    ]
}

proptest! {
    #[test]
    fn ogb(
        which in 0..4usize,
        random in prop_oneof![random_bytes(), table_like()],
        changes in changes(),
    ) {
        let folder = Folder::new();
        for (name, content) in benchmark() {
            folder.write(name, content.as_bytes());
        }
        let (name, good) = &benchmark()[which];
        for content in [random, changed(good.as_bytes(), &changes)] {
            folder.write(name, &content);
            read(folder.0.path(), None);
        }
    }

    #[test]
    fn steam(
        which in 0..2usize,
        random in prop_oneof![random_bytes(), table_like()],
        changes in changes(),
    ) {
        let folder = Folder::new();
        for (name, content) in shop() {
            folder.write(name, content.as_bytes());
        }
        let (name, good) = &shop()[which];
        for content in [random, changed(good.as_bytes(), &changes)] {
            folder.write(name, &content);
            read(folder.0.path(), None);
        }
    }
}
