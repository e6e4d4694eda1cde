//! What an operation is handed to say how a device computes it: addresses, shapes, and where to put
//! the commands.

use std::borrow::Cow;

use super::Precision;
use super::command::{
    Address, Argument, Command, Dense, Exactness, Existing, Grid, Kernel, Product,
};
use super::finish::{Finish, Finishes};
use crate::ops::Factor;
use crate::plan::{Place, Step};
use crate::{Shape, SparseView};

/// Numbers of a line of 64 bytes, at which parts of temporary memory begin.
const LINE: usize = 16;

/// Memory beside the arena that holds what operations keep for themselves: sparse matrices,
/// targets. What was uploaded under an identity is uploaded once.
pub(crate) trait Constants {
    /// The address of what is known as `identity`, which `content` makes if it is new.
    fn constant(
        &mut self,
        identity: Identity,
        content: &mut Content<'_>,
    ) -> Result<Address, String>;
}

/// Makes the bytes of a constant.
pub(crate) type Content<'c> = dyn FnMut() -> Cow<'c, [u8]> + 'c;

/// What tells constants apart: the address of what they are made from, and which part of it they
/// are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Identity {
    pub(crate) of: usize,
    pub(crate) part: String,
}

/// A sparse matrix in the memory of a device.
#[derive(Debug, Clone, Copy)]
pub struct SparseAddresses {
    /// Where each row begins, and where the last one ends: `unsigned int`.
    pub offsets: Address,
    /// `unsigned int`.
    pub columns: Address,
    /// `float`, or nothing where every entry is one.
    pub values: Option<Address>,
}

/// One operation of a program, to be turned into commands.
pub struct Call<'a> {
    base: Address,
    step: &'a Step,
    /// Where the seed and the number of the step are.
    context: Address,
    precision: Precision,
    constants: &'a mut dyn Constants,
    commands: &'a mut Vec<Command>,
    used_scratch: usize,
    /// What is done to its output right away.
    finishes: Vec<Finish>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(
        base: Address,
        step: &'a Step,
        context: Address,
        precision: Precision,
        constants: &'a mut dyn Constants,
        commands: &'a mut Vec<Command>,
    ) -> Self {
        let (used_scratch, finishes) = (0, Vec::new());
        Call { base, step, context, precision, constants, commands, used_scratch, finishes }
    }

    /// Has the operation do these as well.
    pub(crate) fn finish_with(&mut self, finishes: Vec<Finish>) {
        self.finishes = finishes;
    }

    fn at(&self, place: Place) -> Address {
        self.base.offset_by(place.offset)
    }

    /// Where an input is. If the operation declared that an output may be written over it, that
    /// output may have the same address.
    pub fn input(&self, index: usize) -> Address {
        self.at(self.step.inputs[index])
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.step.inputs.len()
    }

    /// Where an output is.
    ///
    /// # Panics
    /// If nobody wants it, which cannot be where an operation has one output only.
    pub fn output(&self, index: usize) -> Address {
        let name = self.step.operation.name();
        self.wanted_output(index).unwrap_or_else(|| panic!("output {index} of {name} is unwanted"))
    }

    /// Where an output is, if anybody wants it.
    pub fn wanted_output(&self, index: usize) -> Option<Address> {
        self.step.outputs[index].map(|place| self.at(place))
    }

    /// For each output, whether anybody wants it.
    pub fn wanted(&self) -> Vec<bool> {
        self.step.wanted()
    }

    /// The next so many numbers of the temporary memory that the operation asked for. They begin at
    /// a line of 64 bytes and hold anything.
    ///
    /// # Panics
    /// If there are fewer left.
    pub fn scratch(&mut self, numbers: usize) -> Address {
        let at = self.at(self.step.scratch).offset_by(self.used_scratch);
        self.used_scratch += numbers.next_multiple_of(LINE);
        let (asked, name) = (self.step.scratch.len, self.step.operation.name());
        assert!(
            self.used_scratch <= asked.next_multiple_of(LINE),
            "{name} asked for {asked} temporary numbers"
        );
        at
    }

    /// The numbers that parts of these lengths take together; see [`Call::scratch`].
    pub fn scratch_len<const PARTS: usize>(lens: [usize; PARTS]) -> usize {
        lens.iter().map(|len| len.next_multiple_of(LINE)).sum()
    }

    /// The shape of an input.
    pub fn input_shape(&self, index: usize) -> Shape {
        self.step.input_shapes[index]
    }

    /// The shape of an output.
    pub fn output_shape(&self, index: usize) -> Shape {
        self.step.output_shapes[index]
    }

    /// An input as a matrix.
    pub fn input_matrix(&self, index: usize) -> Dense {
        let Shape { rows, columns } = self.input_shape(index);
        Dense::new(self.input(index), rows, columns)
    }

    /// Where the seed and the number of the step are: `const Context *` in a kernel.
    pub fn context(&self) -> Address {
        self.context
    }

    /// How exactly products are to be computed.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// What the operation holds for itself, in the memory of the device. It is made and uploaded
    /// once for each `of`, the address of what it is made from, and `part`, which says what of it.
    pub fn constant<T: bytemuck::NoUninit>(
        &mut self,
        of: usize,
        part: &str,
        make: impl Fn() -> Vec<T>,
    ) -> Result<Address, String> {
        let identity = Identity { of, part: part.to_owned() };
        self.constants
            .constant(identity, &mut || Cow::Owned(bytemuck::cast_slice(&make()).to_vec()))
    }

    /// The rows of a sparse matrix. `of` is the address of what it is part of, `part` says which
    /// of its matrices.
    pub fn sparse(
        &mut self,
        of: usize,
        part: &str,
        view: SparseView<'_>,
    ) -> Result<SparseAddresses, String> {
        if u32::try_from(view.all_columns().len()).is_err() {
            return Err("a sparse matrix has more than 4,294,967,295 entries".to_owned());
        }
        let identity = |what: &str| Identity { of, part: format!("{part}.{what}") };
        let offsets = &mut || {
            let offsets: Vec<u32> = view.offsets().iter().map(|&at| at as u32).collect();
            Cow::Owned(bytemuck::cast_slice(&offsets).to_vec())
        };
        let offsets = self.constants.constant(identity("offsets"), offsets)?;
        let columns = &mut || Cow::Borrowed(bytemuck::cast_slice(view.all_columns()));
        let columns = self.constants.constant(identity("columns"), columns)?;
        let values = match view.all_values() {
            None => None,
            Some(values) => {
                let content = &mut || Cow::Borrowed(bytemuck::cast_slice(values));
                Some(self.constants.constant(identity("values"), content)?)
            }
        };
        Ok(SparseAddresses { offsets, columns, values })
    }

    /// Launches a kernel.
    pub fn launch<const COUNT: usize>(
        &mut self,
        kernel: Kernel,
        grid: Grid,
        arguments: [Argument; COUNT],
    ) {
        self.commands.push(Command::Launch { kernel, grid, arguments: arguments.to_vec() });
    }

    /// Launches a kernel with a list of arguments.
    pub fn launch_with(&mut self, kernel: Kernel, grid: Grid, arguments: Vec<Argument>) {
        self.commands.push(Command::Launch { kernel, grid, arguments });
    }

    /// Launches a kernel whose last parameters say what is done to its output right away.
    pub(crate) fn launch_finishing(&mut self, kernel: Kernel, grid: Grid, arguments: &[Argument]) {
        let finishes = Finishes::of(&self.finishes).map(|finishes| finishes.arguments());
        let arguments = arguments.iter().chain(finishes.iter().flatten()).copied().collect();
        self.commands.push(Command::Launch { kernel, grid, arguments });
    }

    /// Multiplies two matrices as exactly as the caller chose.
    pub fn product(
        &mut self,
        left: (Dense, Factor),
        right: (Dense, Factor),
        out: Dense,
        existing: Existing,
    ) {
        self.product_with(Product { left, right, out, existing, exactness: Exactness::Chosen });
    }

    /// Multiplies two matrices. Of nothing there is nothing to do, but a product over no numbers is
    /// zeros.
    pub fn product_with(&mut self, product: Product) {
        let Dense { at, rows, columns, stride } = product.out;
        if rows * columns == 0 {
            return;
        }
        let depth = match product.left {
            (left, Factor::Plain) => left.columns,
            (left, Factor::Transposed) => left.rows,
        };
        match (depth, product.existing) {
            (0, Existing::Add) => {}
            (0, Existing::Replace) => self.zero(at, (rows - 1) * stride + columns),
            _ => self.commands.push(Command::Product(product)),
        }
    }

    /// Records commands that may run beside those that come next, until [`Call::meet`].
    pub fn beside<T>(&mut self, record: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::take(self.commands);
        let recorded = record(self);
        let beside = std::mem::replace(self.commands, before);
        self.commands.push(Command::Beside(beside));
        recorded
    }

    /// What comes next waits for what runs beside.
    pub fn meet(&mut self) {
        self.commands.push(Command::Meet);
    }

    /// Sets numbers to zero.
    pub fn zero(&mut self, at: Address, numbers: usize) {
        if numbers > 0 {
            self.commands.push(Command::Zero { at, numbers });
        }
    }
}
