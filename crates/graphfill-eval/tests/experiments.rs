//! Grids of jobs: finished jobs are stored and not run again.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use graphfill_data::DataError;
use graphfill_data::generator::{GeneratorConfig, generate};
use graphfill_eval::experiments::find_method;
use graphfill_eval::experiments::{
    Benchmark, Experiment, Extent, Failure, GridOptions, GridProgress, GridState, Job, JobResult,
    JobStore, Outcome, Work, run,
};
use graphfill_eval::protocols::Protocol;
use graphfill_methods::{Context, Method, MethodError, ParamOverrides};

/// Records which jobs were run, and requests a stop after some.
#[derive(Default)]
struct Notes {
    finished: Mutex<Vec<String>>,
    stop_after: Option<usize>,
    stopped: AtomicBool,
}

impl GridProgress for Notes {
    fn update(&self, state: &GridState<'_>) {
        if let Some((job, _)) = state.finished {
            let mut finished = self.finished.lock().expect("nothing panicked");
            finished.push(job.to_owned());
            let enough = self.stop_after.is_some_and(|most| finished.len() >= most);
            self.stopped.fetch_or(enough, Ordering::SeqCst);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

impl Notes {
    fn count(&self) -> usize {
        self.finished.lock().expect("nothing panicked").len()
    }
}

fn town(nodes: usize) -> Benchmark {
    let made =
        generate(&GeneratorConfig { nodes, ..GeneratorConfig::default() }).expect("a small town");

    Benchmark::new("town", made.dataset, None).expect("a table with columns")
}

fn methods(names: &[&str]) -> Vec<&'static dyn Method> {
    names.iter().map(|name| find_method(name).expect("a method")).collect()
}

fn outcomes(ran: &[JobResult]) -> Vec<&Outcome> {
    ran.iter().map(|(_, outcome)| outcome.as_ref().expect("an outcome")).collect()
}

fn run_table(
    folder: &Path,
    benchmarks: &[Benchmark],
    jobs: &[Job],
    workers: usize,
    notes: &Notes,
) -> Result<Vec<JobResult>, MethodError> {
    let options = GridOptions {
        fixed: &ParamOverrides::default(),
        context: Context::default(),
        trials: 3,
        store: &JobStore::new(folder).expect("a folder"),
        jobs: workers,
        threads: 2,
        progress: notes,
    };
    run(benchmarks, jobs, &options)
}

fn grid(benchmarks: &[Benchmark], names: &[&str], seeds: &[u64]) -> Vec<Job> {
    jobs(Experiment::Table2, benchmarks, names, &[Protocol::Published], seeds, None)
}

fn jobs(
    experiment: Experiment,
    benchmarks: &[Benchmark],
    names: &[&str],
    protocols: &[Protocol],
    seeds: &[u64],
    max_updates: Option<u64>,
) -> Vec<Job> {
    let extent = |_: &Benchmark, _: &dyn Method| Extent { seeds: seeds.to_vec(), max_updates };
    let competitors = experiment.competitors(&methods(names)).expect("competitors");
    experiment.jobs(benchmarks, &competitors, protocols, &extent)
}

#[test]
fn finished_jobs_are_not_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let jobs = grid(&benchmarks, &["column-mean", "neighbour-mean"], &[0, 1]);
    let first = Notes::default();
    let ran = run_table(folder.path(), &benchmarks, &jobs, 2, &first).expect("it runs");
    assert_eq!((ran.len(), first.count()), (4, 4));
    // One seed more, and the others come as they were.
    let more = grid(&benchmarks, &["column-mean", "neighbour-mean"], &[0, 1, 2]);
    let second = Notes::default();
    let again = run_table(folder.path(), &benchmarks, &more, 1, &second).expect("it runs");
    assert_eq!((again.len(), second.count()), (6, 2));
    for outcome in outcomes(&ran) {
        assert!(outcomes(&again).contains(&outcome));
    }
    // Seeds are told apart, and so is other data under the same name.
    let by_seed: Vec<_> = outcomes(&again).iter().map(|outcome| outcome.metrics.clone()).collect();
    assert_ne!(by_seed[0], by_seed[2]);
    let third = Notes::default();
    let others = [town(130)];
    run_table(folder.path(), &others, &jobs, 1, &third).expect("it runs");
    assert_eq!(third.count(), 4);
    // So are limits.
    let mut limited = jobs;
    limited.iter_mut().for_each(|job| job.max_updates = Some(7));
    let fourth = Notes::default();
    run_table(folder.path(), &benchmarks, &limited, 1, &fourth).expect("it runs");
    assert_eq!(fourth.count(), 4);
}

#[test]
fn a_damaged_job_is_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let jobs = grid(&benchmarks, &["column-mean"], &[0]);
    let ran = run_table(folder.path(), &benchmarks, &jobs, 1, &Notes::default()).expect("it runs");
    let files: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").flatten().collect();
    assert_eq!(files.len(), 1);
    std::fs::write(files[0].path(), "{\"key\":").expect("to be written");
    let notes = Notes::default();
    let again = run_table(folder.path(), &benchmarks, &jobs, 1, &notes).expect("it runs");
    assert_eq!(notes.count(), 1);
    assert_eq!(outcomes(&ran)[0].metrics, outcomes(&again)[0].metrics);
}

#[test]
fn a_stopped_grid_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let jobs = grid(&benchmarks, &["column-mean"], &[0, 1, 2, 3]);
    let stopped = Notes { stop_after: Some(2), ..Notes::default() };
    let ended = run_table(folder.path(), &benchmarks, &jobs, 1, &stopped);
    assert!(matches!(ended, Err(MethodError::Data(DataError::Cancelled))));
    assert_eq!(stopped.count(), 2);
    let rest = Notes::default();
    let ran = run_table(folder.path(), &benchmarks, &jobs, 1, &rest).expect("it runs");
    assert_eq!((ran.len(), rest.count()), (4, 2));
}

#[test]
fn a_job_that_cannot_be_run_does_not_keep_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let mut jobs = grid(&benchmarks, &["svga", "column-mean"], &[0]);
    // SVGA at a width for which no memory suffices.
    let mut fixed = ParamOverrides::default();
    fixed.set("svga", "hidden", 16_384.0);
    jobs.iter_mut().for_each(|job| job.max_updates = Some(1));
    let notes = Notes::default();
    let options = GridOptions {
        fixed: &fixed,
        context: Context {
            memory: Some(graphfill_engine::MemoryLimit::Allowed(1 << 20)),
            ..Context::default()
        },
        trials: 3,
        store: &JobStore::new(folder.path()).expect("a folder"),
        jobs: 1,
        threads: 1,
        progress: &notes,
    };
    let ran = run(&benchmarks, &jobs, &options).expect("it runs");
    assert!(matches!(ran[0].1, Err(Failure::Memory(_))));
    assert!(ran[1].1.is_ok());
}

#[test]
fn curves_have_both_scores_and_do_not_end_early() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let protocols = Experiment::Ablation.protocols();
    let jobs = jobs(Experiment::Ablation, &benchmarks, &["svga-r"], protocols, &[0], Some(50));
    assert_eq!(jobs[0].work, Work::Curves);
    let ran = run_table(folder.path(), &benchmarks, &jobs, 1, &Notes::default()).expect("it runs");
    let series = &outcomes(&ran)[0].series;
    assert_eq!(series["update"], [10.0, 20.0, 30.0, 40.0, 50.0]);
    assert_eq!((series["training"].len(), series["test"].len()), (5, 5));
    // Without a field, what was seen is learnt.
    assert!(series["training"][4] > series["training"][0]);
}

#[test]
fn timings_have_nine_graphs() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let protocols = Experiment::Scaling.protocols();
    let jobs = jobs(Experiment::Scaling, &benchmarks, &["svga"], protocols, &[0, 1, 2], None);
    assert_eq!(jobs.len(), 1);
    let ran = run_table(folder.path(), &benchmarks, &jobs, 1, &Notes::default()).expect("it runs");
    let series = &outcomes(&ran)[0].series;
    let edges = benchmarks[0].edges() as f64;
    assert_eq!(series["edges"].len(), 9);
    assert_eq!(series["edges"][4], (edges * 0.5).round());
    assert!(series["update_ms"].iter().chain(&series["inference_ms"]).all(|time| *time > 0.0));
}

#[test]
fn tuned_jobs_compare_as_many_settings_as_they_may() {
    let folder = tempfile::tempdir().expect("a folder");
    let benchmarks = [town(120)];
    let names = ["column-mean", "gcn"];
    let protocols = Experiment::Table2.protocols();
    let jobs = jobs(Experiment::Table2, &benchmarks, &names, protocols, &[0], Some(10));
    let protocols: Vec<Protocol> = jobs.iter().map(|job| job.protocol).collect();
    assert_eq!(protocols, [Protocol::Both, Protocol::Published, Protocol::Tuned]);
    let mut fixed = ParamOverrides::default();
    fixed.set("gcn", "hidden", 8.0);
    let run_with = |trials: usize| {
        let options = GridOptions {
            fixed: &fixed,
            context: Context::default(),
            trials,
            store: &JobStore::new(folder.path()).expect("a folder"),
            jobs: 1,
            threads: 1,
            progress: &Notes::default(),
        };
        run(&benchmarks, &jobs, &options).expect("it runs")
    };
    // The first trial is of the defaults; nothing is published about the town.
    let one = run_with(1);
    let [_, published, tuned] = outcomes(&one)[..] else { panic!("three outcomes") };
    assert_eq!((&published.metrics, &published.parameters), (&tuned.metrics, &tuned.parameters));
    let gcn = find_method("gcn").expect("a method");
    let settings: usize = gcn
        .info()
        .parameters
        .iter()
        .filter(|own| !own.tuning.is_empty() && own.name != "hidden")
        .count();
    assert!(settings > 0, "there is something to tune");
    let four = run_with(4);
    let tuned_of_four = outcomes(&four)[2];
    assert_eq!(tuned_of_four.parameters.get("hidden"), Some(8.0), "what is fixed stays");
    assert!(tuned_of_four.seconds > 0.0);
    let left = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    let left: Vec<_> = left.map(|entry| entry.path()).collect();
    assert_eq!(left.len(), 4, "one file per job: {left:?}");
    assert!(left.iter().all(|path| path.extension().is_some_and(|own| own == "json")));
}

#[test]
fn tables_show_svga_p_with_one_model_beside_three() {
    let benchmarks = [town(120)];
    let labels = |experiment: Experiment| -> Vec<&str> {
        let protocols = [Protocol::Published];
        let jobs = jobs(experiment, &benchmarks, &["svga-p"], &protocols, &[0], None);
        jobs.iter().map(|job| job.competitor.label).collect()
    };
    assert_eq!(labels(Experiment::Table2), ["svga-p", "svga-p (one model)"]);
    assert_eq!(labels(Experiment::Table3), ["svga-p", "svga-p (one model)"]);
}
