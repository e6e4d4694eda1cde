//! What is written beside the named output, and what is never written over.

use graphfill_data::formats::{self, Input, Replace};

use crate::Files;

const NODES: &str = "id,v\na,1.5\nb,2.5\nc,4\n";
const EDGES: &str = "source,target\na,b\nb,c\n";

#[test]
fn files_beside_the_output_are_kept_unless_they_are_ours() {
    let files = Files::new(NODES, EDGES);
    let dataset = files.read();
    for (beside, text) in
        [("keep.types.toml", "[types]\nv = \"number\"\n"), ("keep.edges.csv", "von,nach\na,b\n")]
    {
        std::fs::write(files.path(beside), text).expect("written");
        let error = formats::write(&dataset, &files.path("keep.csv")).expect_err("replaced");
        assert!(error.to_string().contains(beside), "{error}");
        assert_eq!(std::fs::read_to_string(files.path(beside)).expect("read"), text);
        let allowed = formats::write_replacing(&dataset, &files.path("keep.csv"), Replace::AnyFile);
        allowed.expect("written");
        // Now the files are ours, and may be written again.
        formats::write(&dataset, &files.path("keep.csv")).expect("written again");
        for name in ["keep.csv", "keep.edges.csv", "keep.types.toml"] {
            std::fs::remove_file(files.path(name)).expect("removed");
        }
    }
}

#[test]
fn every_file_that_is_read_is_an_input() {
    let files = Files::new(NODES, EDGES);
    std::fs::write(files.path("nodes.types.toml"), "[types]\nv = \"number\"\n").expect("written");
    let input = Input::detect(&files.path("nodes.csv"), Some(&files.path("edges.csv")));
    let input = input.expect("an input");
    for name in ["nodes.csv", "edges.csv", "nodes.types.toml"] {
        assert!(input.files().contains(&files.path(name)), "{name}: {:?}", input.files());
    }
}

#[test]
fn unused_columns_of_edges_and_rounded_weights_are_said() {
    let dataset =
        Files::new(NODES, "source,target,weight,day\na,b,0.123456789,1\nb,c,1,2\n").read();
    let notes = crate::notes(&dataset);
    assert!(notes.contains("'day'") && notes.contains("single precision"), "{notes}");
    let dataset = Files::new(NODES, "source,target,weight\na,b,0.1\nb,c,1\n").read();
    assert!(dataset.notes.is_empty(), "{}", crate::notes(&dataset));
}
