//! Words that mean "missing".

use graphfill_data::formats::ReadOptions;
use graphfill_data::{Kind, MissingWords};

use crate::{Files, column_of, kind, notes, ring};

#[test]
fn usual_words_are_missing_and_counted() {
    let words = ["NA", "N/A", "NaN", "null", "NULL", "None", "-", "?", ".", "#N/A", " "];
    for level in [["1.5", "2.5"], ["3", "7"], ["yes", "no"], ["red", "blue"]] {
        let mut cells: Vec<&str> = level.iter().copied().cycle().take(22).collect();
        cells.extend(words);
        let dataset = Files::new(column_of(&cells), ring(cells.len())).read();
        let column = dataset.table.column("v").expect("the column");
        assert!(column.kind().is_used(), "{level:?}: {:?}", column.kind());
        assert_eq!(column.missing_count(), words.len(), "{level:?}");
        assert_eq!(column.levels().names.len(), 2, "{level:?}");
        // The blank cell needs no word.
        assert!(notes(&dataset).contains("10 cells were read as missing"), "{}", notes(&dataset));
    }
}

#[test]
fn names_ids_and_labels_keep_their_words() {
    let nodes = "id,name,class,v\nNA,Nan,None,1.5\nnull,Null,None,2.5\n-,Ann,x,3.5\n?,NA,x,4\n";
    let files = Files::new(nodes, "source,target\nNA,null\n-,?\n");
    let options = ReadOptions { label: Some("class".into()), ..ReadOptions::default() };
    let dataset = files.try_read(&options).expect("read");
    assert_eq!(dataset.table.ids().text(0), "NA");
    assert_eq!(dataset.table.column("name").expect("names").missing_count(), 0);
    assert_eq!(dataset.table.labels().expect("labels").classes, ["None", "x"]);
    assert_eq!(files.written(&dataset, "out.csv"), nodes.as_bytes());
}

#[test]
fn the_caller_decides_on_the_words() {
    let cells = ["1.5", "2.5", "-999", "3.5", "unknown", "4.5", "5", "6", "7", "8"];
    let files = Files::new(column_of(&cells), ring(cells.len()));
    let words = MissingWords::Only(vec!["-999".into(), "unknown".into()]);
    let options = ReadOptions { missing_words: words, ..ReadOptions::default() };
    let dataset = files.try_read(&options).expect("read");
    assert_eq!(dataset.table.column("v").expect("the column").missing_count(), 2);
    let cells = ["NA", "NA", "EU", "EU", "AF", "AF"];
    let files = Files::new(column_of(&cells), ring(cells.len()));
    let options = ReadOptions { missing_words: MissingWords::none(), ..ReadOptions::default() };
    let dataset = files.try_read(&options).expect("read");
    assert_eq!(kind(&dataset, "v"), Kind::Category);
    assert_eq!(dataset.table.column("v").expect("the column").levels().names.len(), 3);
}
