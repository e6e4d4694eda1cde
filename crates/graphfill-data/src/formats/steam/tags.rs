//! The tags of the products, `product_id|app_name|[Tag, Tag, …]|n_reviews`, as a block of zeros
//! and ones: one column a tag, sorted by name.

use std::path::Path;

use crate::block::{Block, BlockLayout};
use crate::error::{DataError, Place, Result};
use crate::formats::feature_rows::FeatureRows;
use crate::formats::lines::each_line;
use crate::progress::Progress;

use super::{Names, too_few_fields};

/// The features, and what to tell about them.
pub(super) struct Tagged {
    pub(super) block: Block,
    pub(super) note: Option<String>,
}

/// Reads the tags of the products that are nodes. Lines of other products are passed over, lines
/// of the same product are put together, and a product without tags has zeros.
pub(super) fn read(path: &Path, products: &Names, progress: &dyn Progress) -> Result<Tagged> {
    let mut tags = Names::default();
    let mut of_product = vec![Vec::new(); products.len()];
    each_line(path, progress, |line, text| {
        // The name of a product may hold the separator, so the tags are sought from the end.
        let mut from_end = text.rsplit('|');
        let (Some(list), Some(_)) = (from_end.nth(1), from_end.nth(1)) else {
            return Err(too_few_fields(path, line, 4, "product, name, tags, reviews"));
        };
        let product = text.split('|').next().and_then(|product| products.known(product));
        let (Some(product), true) = (product, line > 1) else { return Ok(()) };
        for tag in listed(list) {
            // A tag takes at least a byte of the file: numbers cannot run out before memory does.
            of_product[product as usize].extend(tags.number(tag));
        }
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
        let remedy = "check that both files belong together";
        let found = "no product of user_product_date.csv has a tag here";
        return Err(DataError::malformed(Place::file(path), found, remedy));
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
