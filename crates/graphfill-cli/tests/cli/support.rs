//! Runs the program in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use graphfill::data::formats;
use graphfill::data::generator::{GeneratorConfig, generate};
use tempfile::TempDir;

/// A folder with files, and the program to run in it.
pub(crate) struct Place {
    folder: TempDir,
}

/// What the program left behind.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        Place { folder: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        std::fs::write(self.path(name), content).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The names of the files in the folder, sorted.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Runs the program with arguments separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Done {
        done(&self.command(arguments).output().expect("run"))
    }

    /// Runs the program with these arguments, which may have spaces.
    pub(crate) fn run_words(&self, words: &[&str]) -> Done {
        done(&self.command("").args(words).output().expect("run"))
    }

    /// Runs the program with a variable of the environment.
    pub(crate) fn run_with(&self, (name, value): (&str, &str), arguments: &str) -> Done {
        done(&self.command(arguments).env(name, value).output().expect("run"))
    }

    /// Runs the program, and fails where it does not end well.
    pub(crate) fn succeed(&self, arguments: &str) -> Done {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments}: {}", done.err);
        done
    }

    /// Starts the program and lets it run.
    pub(crate) fn start(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("a process")
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("graphfill"));
        command.current_dir(self.folder.path()).env("NO_COLOR", "1").env_remove("GRAPHFILL_DATA");
        command.env_remove("GRAPHFILL_MIRROR").env_remove("GRAPHFILL_DEVICE").env("COLUMNS", "100");
        command.args(arguments.split_whitespace());
        command
    }

    /// A ring of twelve people, two of them unknown, one with a hole.
    pub(crate) fn with_ring() -> Self {
        let place = Place::new();
        let mut nodes = String::from("id,age,colour,keen,joined\n");
        let mut edges = String::from("source,target\n");
        for node in 0..12 {
            let (age, colour, keen) = match node {
                3 => (String::new(), "", ""),
                7 => (String::new(), "blue", "no"),
                0..=6 => (format!("{}.50", 30 + node), "red", "yes"),
                _ => (format!("{}.50", 50 + node), "blue", "no"),
            };
            nodes += &format!("p{node},{age},{colour},{keen},spring {}\n", node + 1);
            edges += &format!("p{node},p{}\n", (node + 1) % 12);
        }
        place.write("nodes.csv", &nodes);
        place.write("edges.csv", &edges);
        place
    }
}

/// A small generated town with holes: nodes.csv, nodes.edges.csv and nodes.types.toml.
pub(crate) fn town(config: &GeneratorConfig) -> Place {
    let place = Place::new();
    let town = generate(config).expect("a town");
    formats::write(&town.dataset, &place.path("nodes.csv")).expect("written");
    // Without commas in cells, the tests can take lines apart.
    place.write("nodes.csv", &place.read("nodes.csv").replace(", ", "; ").replace('"', ""));
    place
}

/// Whether every cell of a CSV file has something in it.
pub(crate) fn is_complete(csv: &str) -> bool {
    csv.lines().all(|line| line.split(',').all(|cell| !cell.is_empty()))
}

pub(crate) fn done(output: &Output) -> Done {
    Done {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The folder of real graphs, where there is one; says that a test was skipped otherwise.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn real_data(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GRAPHFILL_DATA").map(PathBuf::from);
    if folder.as_deref().is_none_or(|folder| !Path::new(folder).is_dir()) {
        eprintln!("skipped: {test}, since GRAPHFILL_DATA names no folder of real graphs");
        return None;
    }
    folder
}
