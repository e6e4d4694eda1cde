//! The tags of the products, `product_id|app_name|[Tag, Tag, …]|n_reviews`, as a block of zeros
//! and ones with one column per tag, sorted by name.

use std::path::Path;

use graphfill_data::block::BlockLayout;
use graphfill_data::{Block, DataError, Place, Progress, Result};

use super::{Names, too_few_fields};
use crate::feature_rows::FeatureRows;
use crate::lines::each_line;
use crate::memory;

/// The bytes per tag of a product: in its list, while its row is built, and in the block.
const BYTES_PER_CELL: u64 = 32;

/// The features, and a note about products without any.
pub(super) struct Tagged {
    pub(super) block: Block,
    pub(super) note: Option<String>,
}

/// Reads the tags of the products that are nodes. Lines of other products are skipped, lines of the
/// same product are joined, and a product without tags has zeros.
pub(super) fn read(
    path: &Path,
    products: &Names,
    limit: u64,
    progress: &dyn Progress,
) -> Result<Tagged> {
    let mut tags = Names::default();
    let mut of_product = vec![Vec::new(); products.len()];
    let mut cells = 0;
    each_line(path, progress, |line, text| {
        // The name of a product may contain the separator, so fields are counted from the end.
        let mut from_end = text.rsplit('|');
        let (Some(list), Some(_)) = (from_end.nth(1), from_end.nth(1)) else {
            return Err(too_few_fields(path, line, 4, "product, name, tags, reviews"));
        };
        let product = text.split('|').next().and_then(|product| products.find(product));
        let (Some(product), true) = (product, line > 1) else { return Ok(()) };
        for tag in listed(list) {
            // Memory runs out before the 32-bit numbers of tags do.
            of_product[product as usize].extend(tags.number(tag));
            cells += 1;
        }
        memory::check(path, "the tags", tags.memory() + BYTES_PER_CELL * cells, limit)?;
        Ok(())
    })?;
    let names = tags.in_order();
    let mut sorted: Vec<(&str, u32)> = names.iter().flatten().zip(0..).collect();
    sorted.sort_unstable();
    let mut column_of_tag = vec![0; sorted.len()];
    for (&(_, tag), column) in sorted.iter().zip(0u32..) {
        column_of_tag[tag as usize] = column;
    }
    if sorted.is_empty() {
        let advice = "check that both files belong together";
        let found = "no product of user_product_date.csv has a tag here";
        return Err(DataError::malformed(Place::file(path), found, advice));
    }
    let without = of_product.iter().filter(|tags| tags.is_empty()).count();
    let note =
        (without > 0).then(|| format!("products without tags, left with zero features: {without}"));
    let names = sorted.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut rows = FeatureRows::new(column_of_tag.len(), BlockLayout::Columns(names));
    let mut cells = Vec::new();
    for tags in of_product {
        cells.extend(tags.iter().map(|&tag| (column_of_tag[tag as usize], 1.0)));
        rows.push(&mut cells);
    }
    Ok(Tagged { block: rows.finish(), note })
}

/// The tags inside the brackets.
fn listed(list: &str) -> impl Iterator<Item = &str> {
    let inside = list.trim().trim_start_matches('[').trim_end_matches(']');
    inside.split(", ").map(str::trim).filter(|tag| !tag.is_empty())
}
