//! The table of data sets: complete, consistent, and true to the published files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::registry::{SourceFormat, all, find, git_blob_id};

#[test]
fn names_and_counts_are_those_of_the_paper() {
    let names: Vec<_> = all().iter().map(|info| info.name).collect();
    assert_eq!(
        names,
        ["cora", "citeseer", "photo", "computers", "steam", "pubmed", "coauthor", "arxiv"]
    );
    let cora = find("Cora").expect("the case doesn't matter");
    assert_eq!((cora.nodes, cora.edges, cora.paper_edges), (2708, 5278, 5429));
    assert!(all().iter().all(|info| info.edges <= info.paper_edges));
}

#[test]
fn files_are_pinned_and_lie_under_safe_names() {
    for info in all() {
        let files = match info.format {
            SourceFormat::Planetoid => 8,
            SourceFormat::Steam => 2,
            SourceFormat::GnnBenchmark | SourceFormat::OpenGraphBenchmark => 1,
        };
        assert_eq!(info.files.len(), files, "{}", info.name);
        let ids: HashSet<_> = info.files.iter().map(|file| file.git_blob_id).collect();
        assert_eq!(ids.len(), files, "{}: no id stands twice", info.name);
        for file in info.files {
            let pinned = file.git_blob_id.is_some_and(|id| id.len() == 40);
            assert!(pinned || info.name == "arxiv", "{}", file.name);
            let plain = |name: &&str| !name.contains("..") && !name.starts_with('/');
            assert!(file.kept_names().iter().all(plain), "{}", file.name);
        }
    }
    let url = find("cora").expect("cora is a data set").files[6].url();
    assert_eq!(url, "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/ind.cora.x");
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let message = find("pubmedd").expect_err("there is no such data set").to_string();
    assert!(message.contains("did you mean 'pubmed'?"), "{message}");
    assert!(message.contains("cora, citeseer, photo"), "{message}");
    let message = find("karate").expect_err("there is no such data set").to_string();
    assert!(!message.contains("did you mean"), "{message}");
}

/// The folder of original files, where this machine has one.
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn original_files() -> Option<PathBuf> {
    let folder = std::env::var_os("GRAPHFILL_DATA").map(|data| Path::new(&data).join("raw"));
    if folder.is_none() {
        eprintln!("skipped: GRAPHFILL_DATA is not set, so there are no original files to check");
    }
    folder
}

// Only the planetoid copies are checked: a copy of an npz file may have been packed anew, with
// the same arrays in other bytes.
#[test]
fn ids_are_those_of_the_published_files() {
    let Some(folder) = original_files() else { return };
    let mut checked = 0;
    for name in ["cora", "pubmed"] {
        for file in find(name).expect("both are data sets").files {
            let path = folder.join("planetoid").join(file.name);
            let id = git_blob_id(&path).expect("the folder has the original files");
            assert_eq!(Some(id.as_str()), file.git_blob_id, "{}", path.display());
            checked += 1;
        }
    }
    assert_eq!(checked, 16);
}
