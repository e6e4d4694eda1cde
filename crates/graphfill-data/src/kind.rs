//! What a column holds, and so how its missing cells are estimated and scored.

use std::fmt;
use std::str::FromStr;

/// The kind of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Any number; estimated by its mean, scored by squared error.
    Number,
    /// A whole number ≥ 0; estimates are whole and not negative.
    Count,
    /// Two values: 0/1, true/false, yes/no.
    Boolean,
    /// One of a few levels.
    Category,
    /// A date or timestamp; estimated as a number of days.
    Date,
    /// Many 0/1 or numeric columns that belong together.
    Block(BlockKind),
    /// Carried along untouched, for this reason.
    Unused(Unused),
}

/// What the columns of a block hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Zeros and ones (words of a document, tags): scored as a ranking.
    Binary,
    /// Numbers: scored by squared error.
    Numeric,
}

/// Why a column is carried along untouched.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unused {
    /// No cell has a value.
    AllMissing,
    /// Every value is the same.
    Constant,
    /// Text that hardly repeats: nothing to learn a level from.
    FreeText {
        /// How many different values there are.
        distinct: usize,
    },
    /// The file's type for it is not one that can be estimated.
    UnsupportedType(String),
    /// Dates such as 03/04/2021, where no cell tells whether the day or the month stands first.
    OpenDates,
    /// A list column whose lists differ in length.
    RaggedLists,
    /// The column holds the labels.
    Label,
    /// The column tells the type of each node.
    NodeType,
    /// The column is the mask of a split.
    Split,
    /// The caller asked for it.
    Declared,
}

impl Kind {
    /// Whether missing cells of such a column are estimated.
    pub fn is_used(&self) -> bool {
        !matches!(self, Kind::Unused(_))
    }

    /// Whether the column is a single column of numbers (dates are numbers of days).
    pub fn is_numeric(&self) -> bool {
        matches!(self, Kind::Number | Kind::Count | Kind::Date)
    }

    /// One word for it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Kind::Number => "number",
            Kind::Count => "count",
            Kind::Boolean => "boolean",
            Kind::Category => "category",
            Kind::Date => "date",
            Kind::Block(BlockKind::Binary) => "binary block",
            Kind::Block(BlockKind::Numeric) => "numeric block",
            Kind::Unused(_) => "unused",
        }
    }
}

impl fmt::Display for Unused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unused::AllMissing => write!(f, "no cell has a value"),
            Unused::Constant => write!(f, "every value is the same"),
            Unused::FreeText { distinct } => {
                write!(f, "free text: {distinct} different values")
            }
            Unused::UnsupportedType(name) => write!(f, "type {name} is not estimated"),
            Unused::OpenDates => write!(f, "dates whose cells don't tell day from month"),
            Unused::RaggedLists => write!(f, "its lists differ in length"),
            Unused::Label => write!(f, "holds the labels"),
            Unused::NodeType => write!(f, "tells the type of each node"),
            Unused::Split => write!(f, "is the mask of a split"),
            Unused::Declared => write!(f, "declared unused"),
        }
    }
}

/// A kind that a caller may declare for a column, instead of the inferred one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredKind {
    /// [`Kind::Number`].
    Number,
    /// [`Kind::Count`].
    Count,
    /// [`Kind::Boolean`].
    Boolean,
    /// [`Kind::Category`].
    Category,
    /// [`Kind::Date`].
    Date,
    /// Carried along untouched.
    Unused,
}

impl DeclaredKind {
    /// Every kind that can be declared, in the order of the documentation.
    pub const ALL: [DeclaredKind; 6] = [
        DeclaredKind::Number,
        DeclaredKind::Count,
        DeclaredKind::Boolean,
        DeclaredKind::Category,
        DeclaredKind::Date,
        DeclaredKind::Unused,
    ];

    /// Its name on the command line and in a types file.
    pub fn as_str(self) -> &'static str {
        match self {
            DeclaredKind::Number => "number",
            DeclaredKind::Count => "count",
            DeclaredKind::Boolean => "boolean",
            DeclaredKind::Category => "category",
            DeclaredKind::Date => "date",
            DeclaredKind::Unused => "unused",
        }
    }

    /// The declaration that gives this kind, if one does.
    pub fn of(kind: &Kind) -> Option<DeclaredKind> {
        match kind {
            Kind::Number => Some(DeclaredKind::Number),
            Kind::Count => Some(DeclaredKind::Count),
            Kind::Boolean => Some(DeclaredKind::Boolean),
            Kind::Category => Some(DeclaredKind::Category),
            Kind::Date => Some(DeclaredKind::Date),
            // Inferred again they would be, or (a date spelt as text, a label) they would not.
            Kind::Unused(Unused::AllMissing | Unused::Constant | Unused::FreeText { .. }) => None,
            Kind::Unused(_) => Some(DeclaredKind::Unused),
            Kind::Block(_) => None,
        }
    }
}

impl FromStr for DeclaredKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        DeclaredKind::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| {
            let known: Vec<_> = DeclaredKind::ALL.iter().map(|kind| kind.as_str()).collect();
            format!("'{text}' is not a column type; the types are {}", known.join(", "))
        })
    }
}
