//! Checks of what operations would launch on a GPU, without one: every kernel exists, takes as many arguments
//! of such types, and gets addresses in memory that belongs to the program.
//!
//! Kernels' parameters are read from their `.cu` files. The driver itself tells only their number and sizes, and
//! only from CUDA 12.4 on.

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use super::call::{Constants, Content, Identity};
use super::command::{Argument, ArgumentKind};
use super::fusion::{Addresses, joined, lowered};
use super::{Address, Command, Kernel, Precision, Source, WORKSPACE_BYTES};
use crate::plan::{DeviceProfile, Plan};

/// Where things are in the memory that the checks pretend to have.
const ARENA: u64 = 1 << 40;
const CONTEXT: u64 = 1 << 30;
const CONSTANTS: u64 = 1 << 32;

/// Checks the launches of all programs of a plan, fused and not, with rows in 32 and in 16 bits.
pub(crate) fn check(plan: &Plan) {
    let profile = DeviceProfile::gpu(1 << 40, WORKSPACE_BYTES);
    let (programs, arena) = plan.programs_on(&profile);
    for precision in [Precision::F32, Precision::Tf32] {
        let addresses = Addresses { base: Address(ARENA), context: Address(CONTEXT), precision };
        for program in &programs {
            let mut constants = Uploaded::default();
            let fused = joined(program, addresses, &mut constants);
            let mut ways = vec![fused];
            if ways[0].iter().any(|joined| !joined.is_empty()) {
                ways.push(vec![Vec::new(); program.steps.len()]);
            }
            for joined in ways {
                let steps = lowered(program, &joined, addresses, &mut constants);
                let steps = steps.unwrap_or_else(|problem| panic!("{problem}"));
                steps
                    .iter()
                    .flatten()
                    .for_each(|command| check_command(command, arena, &constants));
            }
        }
    }
}

/// The sizes of constants by their addresses.
#[derive(Debug, Default)]
struct Uploaded {
    known: HashMap<Identity, Address>,
    ranges: Vec<(u64, u64)>,
}

impl Constants for Uploaded {
    fn constant(
        &mut self,
        identity: Identity,
        content: &mut Content<'_>,
    ) -> Result<Address, String> {
        if let Some(&known) = self.known.get(&identity) {
            return Ok(known);
        }
        let bytes = content().len() as u64;
        let begin =
            self.ranges.last().map_or(CONSTANTS, |range| range.1.next_multiple_of(256) + 256);
        self.ranges.push((begin, begin + bytes));
        self.known.insert(identity, Address(begin));
        Ok(Address(begin))
    }
}

fn check_command(command: &Command, arena: usize, constants: &Uploaded) {
    match command {
        Command::Launch { kernel, grid, arguments } => {
            let name = kernel.function;
            assert_eq!(grid.problem(), None, "{name}");
            assert!(grid.blocks.iter().all(|&blocks| blocks > 0), "{name} has no blocks: {grid:?}");
            assert!((1..=1024).contains(&grid.threads), "{name}: {grid:?}");
            check_arguments(*kernel, arguments, arena, constants);
        }
        Command::Beside(commands) => {
            commands.iter().for_each(|command| check_command(command, arena, constants));
        }
        Command::Product(_) | Command::Zero { .. } | Command::Meet => {}
    }
}

fn check_arguments(kernel: Kernel, arguments: &[Argument], arena: usize, constants: &Uploaded) {
    let name = kernel.function;
    let parameters = parameters(kernel);
    assert_eq!(arguments.len(), parameters.len(), "{name} of {}", kernel.source.name);
    for (at, (argument, parameter)) in arguments.iter().zip(&parameters).enumerate() {
        // Zero is the same in all types: what fills up a list of parameters.
        if argument.bits == 0 {
            continue;
        }
        assert_eq!(argument.kind, *parameter, "{name}, argument {at}");
        let address = argument.bits;
        if argument.kind == ArgumentKind::Pointer {
            let in_arena = (ARENA..=ARENA + 4 * arena as u64).contains(&address);
            let within = |&(begin, end): &(u64, u64)| (begin..=end).contains(&address);
            let is_known = in_arena || address == CONTEXT || constants.ranges.iter().any(within);
            assert!(is_known, "{name}, argument {at}: {address:#x} is nowhere");
        }
    }
}

/// The types of a kernel's parameters, which are looked up once.
fn parameters(kernel: Kernel) -> Vec<ArgumentKind> {
    type Known = HashMap<(usize, &'static str), Vec<ArgumentKind>>;
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let key = (kernel.source.text.as_ptr().addr(), kernel.function);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known
        .entry(key)
        .or_insert_with(|| {
            compile(kernel.source);
            read_parameters(kernel)
        })
        .clone()
}

/// Compiles a file of kernels once, where NVRTC is there; it needs no GPU.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
fn compile(source: Source) {
    static COMPILED: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    #[cfg(feature = "cuda")]
    if !source.text.is_empty() && compiled.insert(source.name) {
        match super::card::compiled_without_gpu(source) {
            Some(Ok(cubin)) => assert!(!cubin.is_empty(), "{} is compiled to nothing", source.name),
            Some(Err(problem)) => panic!("{problem}"),
            None => eprintln!("{} is not compiled: there is no NVRTC", source.name),
        }
    }
    #[cfg(not(feature = "cuda"))]
    let _ = (source, &mut compiled);
}

/// The types of a kernel's parameters, from its file.
fn read_parameters(kernel: Kernel) -> Vec<ArgumentKind> {
    let text = kernel.source.program();
    let lines: Vec<&str> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let text = lines.join("\n").replace("\\\n", " ");
    let macros = macros(&text);
    let mut code: String =
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n");
    // Macros that make kernels.
    for (name, made) in macros.iter().filter(|(_, made)| made.body.contains("__global__")) {
        let uses: Vec<String> = code
            .match_indices(&format!("\n{name}("))
            .map(|(at, _)| code[at + 1..].to_owned())
            .collect();
        for one in uses {
            code.push_str(&made.expanded(in_parentheses(&one[name.len()..])));
        }
    }
    let mut rest = code.as_str();
    while let Some(at) = rest.find("__global__") {
        rest = &rest[at + "__global__".len()..];
        let (name, list) = declared(rest);
        if name == kernel.function {
            return split(list).flat_map(|parameter| kinds(parameter, &macros)).collect();
        }
    }
    panic!("{} has no kernel `{}`", kernel.source.name, kernel.function)
}

/// The name of a kernel and its parameters, from what is behind `__global__`.
fn declared(text: &str) -> (&str, &str) {
    let mut rest = text.trim_start();
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).expect("a declaration");
        let (word, behind) = rest.split_at(end);
        rest = behind.trim_start();
        match word {
            "void" | "LIST_BOUNDS" => {}
            "__launch_bounds__" => rest = rest[in_parentheses(rest).len() + 2..].trim_start(),
            name => return (name, in_parentheses(rest)),
        }
    }
}

/// What is between the parenthesis that the text begins with and the one that closes it.
fn in_parentheses(text: &str) -> &str {
    assert!(text.starts_with('('), "{text:.40}");
    let mut depth = 0;
    let end = text.find(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    &text[1..end.expect("a closing parenthesis")]
}

/// The parts between commas outside of parentheses.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// The types of one parameter, or of several if it is a macro.
fn kinds(parameter: &str, macros: &HashMap<String, Macro>) -> Vec<ArgumentKind> {
    let name = parameter.split('(').next().unwrap_or("");
    if let Some(found) = macros.get(name) {
        let arguments = parameter.strip_prefix(name).filter(|rest| !rest.is_empty());
        let body = found.expanded(arguments.map_or("", in_parentheses));
        return split(&body).flat_map(|parameter| kinds(parameter, macros)).collect();
    }
    let first = parameter.trim_start_matches("const ").split(' ').next().unwrap_or("");
    vec![match first {
        _ if parameter.contains('*') => ArgumentKind::Pointer,
        "u64" => ArgumentKind::Wide,
        "u32" => ArgumentKind::Word,
        "float" => ArgumentKind::Float,
        "double" => ArgumentKind::Double,
        _ => panic!("a parameter `{parameter}`"),
    }]
}

struct Macro {
    parameters: Vec<String>,
    body: String,
}

impl Macro {
    /// The body with arguments in the place of parameters.
    fn expanded(&self, arguments: &str) -> String {
        let arguments: Vec<&str> = split(arguments).collect();
        let mut words = String::new();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let mut rest = self.body.as_str();
        while !rest.is_empty() {
            let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            let argument = self.parameters.iter().position(|parameter| parameter == word);
            words.push_str(argument.map_or(word, |at| arguments[at]));
            let end = behind.find(is_word).unwrap_or(behind.len());
            words.push_str(&behind[..end].replace("##", ""));
            rest = &behind[end..];
        }
        words
    }
}

/// The macros that a text defines, each in one line.
fn macros(text: &str) -> HashMap<String, Macro> {
    let mut macros = HashMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let end = line.find([' ', '(']).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let (parameters, body) = match rest.starts_with('(') {
            true => {
                let list = in_parentheses(rest);
                (split(list).map(str::to_owned).collect(), &rest[list.len() + 2..])
            }
            false => (Vec::new(), rest),
        };
        let earlier = macros.insert(name.to_owned(), Macro { parameters, body: body.to_owned() });
        assert!(earlier.is_none(), "`{name}` is defined twice");
    }
    macros
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::Source;
    use ArgumentKind::{Float, Pointer, Wide, Word};

    #[test]
    fn parameters_are_read_from_the_text() {
        let text = "\
            #define PAIR(T) const T *first, \\\n    u32 count // two\n\
            #define MAKE(name, T) \\\n    extern \"C\" __global__ void name##_rows(PAIR(T), float x) {}\n\
            extern \"C\" __global__ void __launch_bounds__(WARP * 2, 4)\n    plain(u64 count, float *out) {}\n\
            MAKE(add, float4)\n\
            extern \"C\" __global__ void LIST_BOUNDS nothing() {}\n";
        let source = Source::new("test.cu", text);
        assert_eq!(parameters(source.kernel("plain")), [Wide, Pointer]);
        assert_eq!(parameters(source.kernel("add_rows")), [Pointer, Word, Float]);
        assert_eq!(parameters(source.kernel("nothing")), []);
    }

    #[test]
    #[should_panic(expected = "test.cu has no kernel `other`")]
    fn a_kernel_that_is_not_there_is_found() {
        let _ = parameters(Source::new("test.cu", "").kernel("other"));
    }

    #[test]
    #[should_panic(expected = "argument 1")]
    fn an_argument_of_another_type_is_found() {
        let text = "extern \"C\" __global__ void plain(u64 count, u32 more) {}";
        let kernel = Source::new("test.cu", text).kernel("plain");
        check_arguments(kernel, &[1usize.into(), 2usize.into()], 0, &Uploaded::default());
    }
}
