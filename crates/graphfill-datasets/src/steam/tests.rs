//! Edges between products with ten shared users, tags as columns, errors with file and line.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use graphfill_data::block::BlockLayout;
use graphfill_data::{BlockKind, ColumnData, Dataset, Kind, NoProgress, Result};

fn read(folder: &Path) -> Result<Dataset> {
    super::read(folder, 1 << 20, &NoProgress)
}

const TAGS: &str = "product_id|app_name|tags|n_reviews\n\
    30|A | B|[Indie, RPG]|2.0\n\
    99|Unsold|[Never Seen]|1.0\n\
    10|Zed|[Action, Free to Play]|\n\
    30|A again|[1990's]|2.0\n";

/// Ten users have 30 and 20, nine of them 10 too; one has everything twice.
fn purchases() -> String {
    let mut text = "|user_id|product_id|date\n".to_owned();
    for user in 0..10 {
        let products: &[u32] = if user < 9 { &[30, 20, 10, 30] } else { &[30, 20] };
        for product in products {
            writeln!(text, "0|u{user}|{product}|2018-01-01").expect("text grows");
        }
    }
    text
}

fn shop(purchases: &str, tags: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("user_product_date.csv"), purchases).expect("a file");
    fs::write(folder.path().join("product_tags.csv"), tags).expect("a file");
    folder
}

#[test]
fn joins_products_that_ten_users_share() {
    let folder = shop(&purchases(), TAGS);
    let dataset = read(folder.path()).expect("a good shop");
    let ids: Vec<String> = (0..3).map(|row| dataset.table.ids().text(row)).collect();
    assert_eq!(ids, ["30", "20", "10"]);
    let arcs: Vec<_> = dataset.graph.iter().collect();
    assert_eq!(arcs, [(0, 1, 1.0)]);
    let column = &dataset.table.columns()[0];
    assert_eq!(column.kind(), &Kind::Block(BlockKind::Binary));
    let ColumnData::Block(block) = column.data() else { panic!("a block") };
    let names = ["1990's", "Action", "Free to Play", "Indie", "RPG"].map(str::to_owned);
    assert_eq!(block.layout(), &BlockLayout::Columns(names.to_vec()));
    let rows: Vec<&[u32]> = (0..3).map(|row| block.columns(row)).collect();
    assert_eq!(rows, [&[0, 3, 4][..], &[], &[1, 2]]);
    assert_eq!(dataset.notes[0].text, "products without tags, left with zero features: 1");
}

#[test]
fn names_the_file_and_line_of_a_fault() {
    let cases = [
        ("a|b|c\n0|u\n", TAGS, "user_product_date.csv, line 2: the line has fewer than 3 fields"),
        ("a|b|c\n0||7\n", TAGS, "line 2: the user or the product is empty"),
        ("a,b,c\n", TAGS, "line 1: the line has fewer than 3 fields"),
        (
            "a|b|c\n0|u|10\n",
            "h|h|h|h\n10|Zed|[A]\n",
            "product_tags.csv, line 2: the line has fewer",
        ),
        ("a|b|c\n0|u|7\n", TAGS, "no product of user_product_date.csv has a tag"),
    ];
    for (purchases, tags, found) in cases {
        let error = read(shop(purchases, tags).path()).expect_err("a fault").to_string();
        assert!(error.contains(found), "{purchases:?}: {error}");
    }
}

#[test]
fn says_which_file_is_missing() {
    let folder = shop(&purchases(), TAGS);
    fs::remove_file(folder.path().join("product_tags.csv")).expect("a removed file");
    let error = read(folder.path()).expect_err("a missing file").to_string();
    assert!(error.contains("product_tags.csv"), "{error}");
}

#[test]
fn large_files_stay_within_the_memory_limit() {
    let mut many = "|user_id|product_id|date\n".to_owned();
    (0..30_000).for_each(|user| writeln!(many, "0|user {user}|30|").expect("text grows"));
    let repeated = format!("h|h|h|h\n30|A|[{}]|1\n", "RPG, ".repeat(40_000));
    for (purchases, tags, what) in [
        (many, TAGS.to_owned(), "user_product_date.csv: the purchases would need"),
        (purchases(), repeated, "product_tags.csv: the tags would need"),
    ] {
        let error = read(shop(&purchases, &tags).path()).expect_err("too large").to_string();
        assert!(error.contains(what), "{error}");
    }
}
