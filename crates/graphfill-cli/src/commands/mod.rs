//! One file per subcommand.

pub(crate) mod bench;
mod bench_rounds;
pub(crate) mod convert;
pub(crate) mod datasets;
pub(crate) mod demo;
pub(crate) mod device;
pub(crate) mod devices;
pub(crate) mod evaluate;
pub(crate) mod fill;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod methods;
mod outputs;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod training;
mod uncertainty;

use graphfill::data::{Column, ColumnData, Dataset};

/// A data set as the paper uses it: Coauthor's word counts become zeros and ones, yet are treated
/// as numbers.
pub(crate) fn as_published(dataset: Dataset, name: &str) -> anyhow::Result<Dataset> {
    if name != "coauthor" {
        return Ok(dataset);
    }
    let columns = dataset.table.columns().iter().map(|column| match column.data() {
        ColumnData::Block(block) => Column::block(column.name(), block.binarized()),
        ColumnData::Array(_) => column.clone(),
    });
    let table = dataset.table.with_columns(columns.collect())?;
    Ok(Dataset { table, ..dataset })
}
