//! The executor: an arena on the card, and programs as lists of commands.
//!
//! The first run of a program launches its commands one by one, which loads whatever they need. The
//! second is captured as a graph, in which steps that don't wait for each other run side by side, and
//! all later ones replay it: one launch per run. The seed and the number of the run lie on the GPU, where
//! the last command counts it up: a replayed run needs nothing from the host unless the seed or the number is
//! another than the one that follows. Runs that are watched, and all runs with `Launching::Eager`, launch the
//! same commands one by one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Card;
use super::driver::{Event, Memory, Stream, problem};
use super::lane::Lane;
use super::lowering::{Ready, Resolved};
use super::uploads::Uploads;
use crate::cuda::lanes::LANES;
use crate::cuda::{Address, Grid, Kernel, Launching, Source};
use crate::error::{EngineError, Result};
use crate::executor::{Broken, Context, Executor, Watch, in_turn};
use crate::plan::{Place, Plan, PlannedProgram};

const SOURCE: Source = Source::new("run.cu", include_str!("run.cu"));
pub(super) const ADVANCE: Kernel = SOURCE.kernel("advance");
pub(super) const FIND_NOT_FINITE: Kernel = SOURCE.kernel("find_not_finite");

/// The CUDA version from which on drivers tell the time between two moments of a stream.
const TELLS_TIME: i32 = 12_080;

/// Numbers of four bytes that a [`Context`] takes on the card.
const CONTEXT: usize = 4;

/// The arena of one session on a card.
#[derive(Debug)]
pub(crate) struct Cuda {
    // Dropped in this order: graphs before the memory that they use, memory before the card.
    programs: Vec<Option<Ready>>,
    pub(super) uploads: Uploads,
    /// The first one runs whatever is not captured.
    lanes: Vec<Lane>,
    pub(super) arena: Memory,
    /// What was kept of the arena, if anything ever was.
    kept: Option<Memory>,
    /// One for each program, then what [`FIND_NOT_FINITE`] finds.
    contexts: Memory,
    pub(super) card: Arc<Card>,
}

impl Cuda {
    /// An arena for a plan that was made for this card, all zeros.
    pub(crate) fn new(card: &Arc<Card>, plan: &Plan) -> Result<Self> {
        let failed = |text: String| card.failed(text);
        let fail = |error| card.failed(problem(error));
        let count = plan.programs.len();
        let lanes = vec![card.lane()?];
        let stream = &lanes[0].stream;
        let arena = Memory::new(&card.context, plan.arena_len() * 4).map_err(|error| {
            let (needed, problem) = (crate::error::in_units(plan.peak_bytes()), problem(error));
            failed(format!("{needed} are needed, and {problem}"))
        })?;
        let contexts = Memory::new(&card.context, (count + 1) * CONTEXT * 4).map_err(fail)?;
        stream.zero(arena.address(), plan.arena_len()).map_err(fail)?;
        stream.zero(contexts.address(), (count + 1) * CONTEXT).map_err(fail)?;
        stream.finish().map_err(fail)?;
        let uploads = Uploads::new(card);
        let programs = (0..count).map(|_| None).collect();
        let (kept, card) = (None, Arc::clone(card));
        Ok(Cuda { programs, uploads, lanes, arena, kept, contexts, card })
    }

    pub(super) fn fail(&self, error: cudarc::driver::DriverError) -> EngineError {
        self.card.failed(problem(error))
    }

    fn nothing_kept(&self) -> EngineError {
        self.card.failed("no parameters were kept".to_owned())
    }

    fn bind(&self) -> Result<()> {
        self.card.context.bind().map_err(|error| self.fail(error))
    }

    fn stream(&self) -> &Stream {
        &self.lanes[0].stream
    }

    fn at(&self, place: Place) -> Address {
        self.arena.address().offset_by(place.offset)
    }

    pub(super) fn context(&self, program: usize) -> Address {
        self.contexts.address().offset_by(program * CONTEXT)
    }

    /// Where [`FIND_NOT_FINITE`] puts what it finds: the step, and the number.
    fn found(&self) -> Address {
        self.context(self.programs.len())
    }

    /// Makes a program ready, if it is not, and tells the card which run comes next, unless it knows.
    fn prepare(&mut self, index: usize, program: &PlannedProgram, context: Context) -> Result<()> {
        self.bind()?;
        if self.programs[index].is_none() {
            self.programs[index] = Some(self.ready(index, program)?);
        }
        let (at, told) = (self.context(index), [context.seed, context.step]);
        let ready = self.programs[index].as_mut();
        let known = ready.and_then(|ready| ready.told.replace(context));
        if known != Some(context) {
            self.stream().write(at, &told).map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    /// Puts a command into the first stream.
    fn launch(&self, command: &Resolved) -> Result<(), String> {
        self.lanes[0].launch(command)
    }

    /// Puts the commands of a whole run into the first stream.
    fn launch_all(&self, ready: &Ready) -> Result<(), String> {
        let all = ready.steps.iter().flatten().chain([&ready.end]);
        all.into_iter().try_for_each(|command| self.launch(command))
    }

    /// The moment at which a lane is.
    fn moment(&self, lane: usize) -> Result<Event, String> {
        let event = Event::new(&self.card.context).map_err(problem)?;
        self.lanes[lane].stream.mark(&event).map_err(problem)?;
        Ok(event)
    }

    /// Puts the commands of one step into a lane, and what may run beside them into the one that
    /// goes with it.
    fn launch_step(&self, lane: usize, commands: &[Resolved]) -> Result<(), String> {
        let beside = LANES + lane;
        let mut met = true;
        for command in commands {
            match command {
                Resolved::Beside(commands) => {
                    let begin = self.moment(lane)?;
                    self.lanes[beside].stream.wait_for(&begin).map_err(problem)?;
                    commands.iter().try_for_each(|command| self.lanes[beside].launch(command))?;
                    met = false;
                }
                Resolved::Meet if !met => {
                    let end = self.moment(beside)?;
                    self.lanes[lane].stream.wait_for(&end).map_err(problem)?;
                    met = true;
                }
                command => self.lanes[lane].launch(command)?,
            }
        }
        Ok(())
    }

    /// Puts the commands of a whole run into all streams, which wait for each other: the first one
    /// for all others at the end, and the others for the first one when they begin.
    fn launch_side_by_side(&self, ready: &Ready) -> Result<(), String> {
        let moment = |lane: usize| self.moment(lane);
        let begin = moment(0)?;
        let mut awaited = vec![false; ready.turns.len()];
        ready.turns.iter().flat_map(|turn| &turn.after).for_each(|&step| awaited[step] = true);
        let mut begun = [false; LANES];
        begun[0] = true;
        let mut moments: Vec<Option<Event>> = Vec::new();
        for ((commands, turn), awaited) in ready.steps.iter().zip(&ready.turns).zip(awaited) {
            let lane = &self.lanes[turn.lane];
            if !std::mem::replace(&mut begun[turn.lane], true) {
                lane.stream.wait_for(&begin).map_err(problem)?;
            }
            for moment in turn.after.iter().filter_map(|&step| moments[step].as_ref()) {
                lane.stream.wait_for(moment).map_err(problem)?;
            }
            self.launch_step(turn.lane, commands)?;
            moments.push(if awaited { Some(moment(turn.lane)?) } else { None });
        }
        for lane in (1..LANES).filter(|&lane| begun[lane]) {
            self.stream().wait_for(&moment(lane)?).map_err(problem)?;
        }
        self.launch(&ready.end)
    }

    /// Runs a program and adds the time that each step takes on the card.
    fn time_by_events(&self, ready: &Ready, times: &mut [Duration]) -> Result<()> {
        let fail = |error| self.fail(error);
        let moment = || Event::new(&self.card.context).map_err(fail);
        let moments = (0..=ready.steps.len()).map(|_| moment()).collect::<Result<Vec<_>>>()?;
        self.stream().mark(&moments[0]).map_err(fail)?;
        for (commands, moment) in ready.steps.iter().zip(&moments[1..]) {
            self.launch_list(commands)?;
            self.stream().mark(moment).map_err(fail)?;
        }
        self.launch(&ready.end).map_err(|problem| self.card.failed(problem))?;
        self.stream().finish().map_err(fail)?;
        for (pair, time) in moments.windows(2).zip(times) {
            let milliseconds = pair[0].until(&pair[1]).map_err(fail)?;
            *time += Duration::from_secs_f32(milliseconds.max(0.0) / 1e3);
        }
        Ok(())
    }

    /// The same as the host sees it, which adds a launch and a wait to each step.
    fn time_by_waiting(&self, ready: &Ready, times: &mut [Duration]) -> Result<()> {
        for (commands, time) in ready.steps.iter().zip(times) {
            let begin = Instant::now();
            self.launch_list(commands)?;
            self.finish()?;
            *time += begin.elapsed();
        }
        self.launch(&ready.end).map_err(|problem| self.card.failed(problem))
    }

    /// Puts commands into the first stream.
    fn launch_list(&self, commands: &[Resolved]) -> Result<()> {
        let launched = commands.iter().try_for_each(|command| self.launch(command));
        launched.map_err(|problem| self.card.failed(problem))
    }

    /// Looks for numbers that are none in a place; what is found is told by [`Cuda::found_in`].
    fn look_for_not_finite(&self, place: Place, step: usize) -> Result<()> {
        let functions = self.card.functions(&HashSet::from([FIND_NOT_FINITE]))?;
        let arguments =
            [self.at(place).into(), place.len.into(), (step as u32).into(), self.found().into()];
        let grid = Grid::strided(place.len);
        let launched = self.stream().launch(functions[&FIND_NOT_FINITE], grid, &arguments);
        launched.map_err(|error| self.fail(error))
    }

    /// The first step that gave a number that is none, and that number.
    fn found_in(&self) -> Result<Option<(usize, f32)>> {
        let mut found = [0u32; 2];
        self.stream().read(&mut found, self.found()).map_err(|error| self.fail(error))?;
        Ok((found[0] > 0).then(|| (found[0] as usize - 1, f32::from_bits(found[1]))))
    }

    /// Runs a program step by step and looks at what each gave. The commands are those of every other run,
    /// and so are the bits: where steps are fused, the first of them stands for all.
    fn run_watched(&self, ready: &Ready, program: &PlannedProgram) -> Result<(), Broken> {
        self.stream().zero(self.found(), 2).map_err(|error| Broken::Failed(self.fail(error)))?;
        let steps = ready.steps.iter().zip(&program.steps);
        for (index, (commands, step)) in steps.enumerate() {
            self.launch_list(commands).map_err(Broken::Failed)?;
            for place in step.outputs.iter().flatten() {
                self.look_for_not_finite(*place, index).map_err(Broken::Failed)?;
            }
        }
        let launched = self.launch(&ready.end);
        launched.map_err(|problem| Broken::Failed(self.card.failed(problem)))?;
        match self.found_in().map_err(Broken::Failed)? {
            Some((step, found)) => Err(Broken::NotFinite { step, found }),
            None => Ok(()),
        }
    }

    /// Runs a program that is ready, in whatever way is due.
    fn run_ready(
        &mut self,
        ready: &mut Ready,
        first: bool,
        program: &PlannedProgram,
        watch: Watch,
    ) -> Result<(), Broken> {
        let card = Arc::clone(&self.card);
        let failed = |problem: String| Broken::Failed(card.failed(problem));
        if watch == Watch::On {
            return self.run_watched(ready, program);
        }
        if first || self.card.options.launching == Launching::Eager {
            return self.launch_all(ready).map_err(failed);
        }
        if ready.graph.is_none() {
            while self.lanes.len() < 2 * LANES {
                self.lanes.push(self.card.lane().map_err(Broken::Failed)?);
            }
            let captured = self.stream().capture(|| self.launch_side_by_side(ready));
            let graph = captured.map_err(failed)?;
            ready.graph = Some(graph);
        }
        match &ready.graph {
            Some(graph) => self.stream().replay(graph).map_err(|error| failed(problem(error))),
            None => Ok(()),
        }
    }
}

/// Streams go back to the card once everything in them is done.
impl Drop for Cuda {
    fn drop(&mut self) {
        if self.finish().is_ok() {
            self.programs.clear();
            self.card.take_back(&mut self.lanes);
        }
    }
}

impl Executor for Cuda {
    fn run(
        &mut self,
        index: usize,
        program: &PlannedProgram,
        context: Context,
        watch: Watch,
    ) -> Result<(), Broken> {
        let first = self.programs[index].is_none();
        self.prepare(index, program, context).map_err(Broken::Failed)?;
        let Some(mut ready) = self.programs[index].take() else { return Ok(()) };
        let ran = self.run_ready(&mut ready, first, program, watch);
        // The run counted it up.
        ready.told = Some(Context { step: context.step + 1, ..context });
        self.programs[index] = Some(ready);
        ran
    }

    fn run_timed(
        &mut self,
        index: usize,
        program: &PlannedProgram,
        context: Context,
        times: &mut [Duration],
    ) -> Result<()> {
        self.prepare(index, program, context)?;
        let Some(mut ready) = self.programs[index].take() else { return Ok(()) };
        if self.card.driver >= TELLS_TIME {
            self.time_by_events(&ready, times)?;
        } else {
            self.time_by_waiting(&ready, times)?;
        }
        ready.told = Some(Context { step: context.step + 1, ..context });
        self.programs[index] = Some(ready);
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        self.bind()?;
        self.stream().finish().map_err(|error| self.fail(error))
    }

    fn write(&mut self, place: Place, values: &[f32]) -> Result<()> {
        self.bind()?;
        self.stream().write(self.at(place), values).map_err(|error| self.fail(error))
    }

    fn read(&self, place: Place, values: &mut [f32]) -> Result<()> {
        self.bind()?;
        self.stream().read(values, self.at(place)).map_err(|error| self.fail(error))
    }

    fn keep(&mut self, places: &[Place]) -> Result<()> {
        self.bind()?;
        let kept = match &self.kept {
            Some(kept) => kept,
            None => {
                let numbers: usize = places.iter().map(|place| place.len).sum();
                let memory = Memory::new(&self.card.context, 4 * numbers);
                let memory = memory.map_err(|error| self.fail(error))?;
                self.kept.insert(memory)
            }
        };
        let kept = kept.address();
        for (begin, place) in in_turn(places) {
            let copied = self.stream().copy(self.at(place), kept.offset_by(begin), place.len);
            copied.map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    fn take_kept(&mut self, places: &[Place]) -> Result<()> {
        self.bind()?;
        let Some(kept) = &self.kept else { return Err(self.nothing_kept()) };
        for (begin, place) in in_turn(places) {
            let from = kept.address().offset_by(begin);
            let copied = self.stream().copy(from, self.at(place), place.len);
            copied.map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    fn read_kept(&self, begin: usize, values: &mut [f32]) -> Result<()> {
        self.bind()?;
        let Some(kept) = &self.kept else { return Err(self.nothing_kept()) };
        let from = kept.address().offset_by(begin);
        self.stream().read(values, from).map_err(|error| self.fail(error))
    }

    fn not_finite(&self, place: Place) -> Result<Option<f32>> {
        self.bind()?;
        self.stream().zero(self.found(), 2).map_err(|error| self.fail(error))?;
        self.look_for_not_finite(place, 0)?;
        Ok(self.found_in()?.map(|(_, found)| found))
    }
}
