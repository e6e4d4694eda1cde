//! The key of a finished job: everything that its outcome depends on.
//!
//! These are the sources of the program (see `build.rs`), the work, the content of the data and its
//! splits, the method with all parameters and limits, the precision of a GPU, which device it is where
//! time counts, and the seed.

use sha1::{Digest, Sha1};

use super::benchmark::{Benchmark, hexadecimal};
use super::grid::GridOptions;
use super::job::{Job, Work};

/// A hash of the sources that this program was built from; its version where they were not there.
const SOURCES: &str = env!("GRAPHFILL_SOURCES");

/// What tells a job from all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobKey {
    /// In full.
    pub(super) text: String,
    /// As the name of a file: for people, and a digest of the rest.
    pub(super) file: String,
}

impl JobKey {
    pub(super) fn new(job: &Job, benchmark: &Benchmark, options: &GridOptions<'_>) -> Self {
        JobKey::with_sources(SOURCES, job, benchmark, options)
    }

    fn with_sources(
        sources: &str,
        job: &Job,
        benchmark: &Benchmark,
        options: &GridOptions<'_>,
    ) -> Self {
        let method = job.method_name();
        let context = &options.context;
        let limit = context.deadline.map(|deadline| deadline.limit().as_secs_f64());
        // Scores do not depend on the number of threads, and of a GPU on its precision only. Times do,
        // and so do scores at the end of a time limit.
        let is_timing = matches!(job.work, Work::Timing);
        let threads = is_timing.then_some(options.threads);
        let gpu = match context.device.cuda_options() {
            Some(_) if is_timing || limit.is_some() => format!("; {}", context.device.describe()),
            Some(gpu) => format!("; GPU in {}", gpu.precision),
            None => String::new(),
        };
        let trials = job.is_tuned().then_some(options.trials);
        let text = format!(
            "sources {sources}; {}; data {}; method {method}; parameters {:?}; trials {trials:?}; updates {:?}; seconds {limit:?}; memory {:?}; threads {threads:?}{gpu}; seed {}",
            job.work,
            benchmark.fingerprint,
            job.parameters(&benchmark.name, options.fixed),
            job.max_updates,
            context.memory,
            job.seed,
        );
        let digest = hexadecimal(&Sha1::digest(text.as_bytes())[..6]);
        let work = job.work.to_string().replace(' ', "-");
        let file = format!("{}-{method}-{work}-{}-{digest}", benchmark.name, job.seed);
        JobKey { text, file }
    }
}

#[cfg(test)]
mod tests {
    use graphfill_data::generator::{GeneratorConfig, generate};
    use graphfill_methods::{Context, ParamOverrides};

    use super::*;
    use crate::experiments::{Competitor, GridProgress, GridState, JobStore};
    use crate::protocols::Protocol;

    struct Quiet;

    impl GridProgress for Quiet {
        fn update(&self, _state: &GridState<'_>) {}

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    fn benchmark(name: &str) -> Benchmark {
        let config = GeneratorConfig { nodes: 30, ..GeneratorConfig::default() };
        Benchmark::new(name, generate(&config).expect("a graph").dataset, None).expect("columns")
    }

    fn job(label: &str, protocol: Protocol) -> Job {
        let competitor = Competitor::find(label).expect("a competitor");
        let work = Work::Estimation { labels: 0.0 };
        Job { benchmark: 0, competitor, protocol, seed: 0, work, max_updates: None }
    }

    #[test]
    fn a_key_changes_with_everything_that_an_outcome_depends_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = GridOptions {
            fixed: &ParamOverrides::default(),
            context: Context::default(),
            trials: 3,
            store: &JobStore::new(folder.path()).expect("a folder"),
            jobs: 1,
            threads: 1,
            progress: &Quiet,
        };
        let (town, cora) = (benchmark("town"), benchmark("cora"));
        let svga = job("svga", Protocol::Published);
        let key = |job: &Job, options: &GridOptions<'_>| JobKey::new(job, &town, options);
        let own = key(&svga, &options);
        assert_eq!(own, key(&svga, &options));
        assert!(own.text.contains(SOURCES));
        let mut others = vec![
            JobKey::with_sources("changed", &svga, &town, &options),
            JobKey::new(&svga, &cora, &options),
            key(&Job { seed: 1, ..svga }, &options),
            key(&Job { max_updates: Some(7), ..svga }, &options),
            key(&Job { protocol: Protocol::Tuned, ..svga }, &options),
            key(&job("svga-p", Protocol::Published), &options),
            key(&job("svga-p (one model)", Protocol::Published), &options),
        ];
        let mut fixed = ParamOverrides::default();
        fixed.set("svga", "lambda", 7.0);
        let with_lambda =
            GridOptions { fixed: &fixed, context: options.context.clone(), ..options };
        others.push(key(&svga, &with_lambda));
        let more = GridOptions { trials: 4, context: options.context.clone(), ..options };
        others.push(key(&Job { protocol: Protocol::Tuned, ..svga }, &more));
        others.push(own);
        for (at, one) in others.iter().enumerate() {
            for other in &others[..at] {
                assert_ne!((&one.text, &one.file), (&other.text, &other.file));
                assert_ne!(one.file, other.file);
            }
        }
        // The number of trials is nothing to a job that is not tuned.
        assert_eq!(key(&svga, &more), key(&svga, &options));
    }
}
