//! Steam's products: `user_product_date.csv` and `product_tags.csv`, fields parted by `|`.
//!
//! The nodes are the products of the first file in the order in which they first appear, with
//! their own ids; an edge joins two products that at least ten users have both; the features are
//! the products' tags.

mod shared_users;
mod tags;
#[cfg(test)]
mod tests;

use std::path::Path;

use arrow_array::StringArray;
use hashbrown::HashMap;

use crate::column::Column;
use crate::dataset::Dataset;
use crate::error::{DataError, Place, Result};
use crate::formats::lines::each_line;
use crate::graph::Direction;
use crate::ids::NodeIds;
use crate::progress::Progress;
use crate::table::{IdColumn, NodeTable};

/// The users that two products must share to be joined.
const USERS_OF_AN_EDGE: u32 = 10;

/// Reads the two files in `dir`.
pub fn read(dir: &Path, progress: &dyn Progress) -> Result<Dataset> {
    let purchases = Purchases::read(&dir.join("user_product_date.csv"), progress)?;
    let tagged = tags::read(&dir.join("product_tags.csv"), &purchases.products, progress)?;
    let nodes = purchases.products.len();
    let ids = purchases.products.in_order();
    let arcs = shared_users::join(purchases.pairs, nodes, USERS_OF_AN_EDGE, progress)?;
    let id_column = IdColumn { name: "product_id".to_owned(), ..IdColumn::default() };
    let columns = vec![Column::block("tags", tagged.block)];
    let table = NodeTable::new(id_column, NodeIds::from_text(ids), columns, None)?;
    let name = dir.file_name().map_or("steam".into(), |name| name.to_string_lossy());
    let graph = arcs.into_graph(nodes, Direction::Undirected)?;
    let mut dataset = Dataset::new(&name, "steam", table, graph)?;
    dataset.notes.extend(tagged.note);
    Ok(dataset)
}

/// Who has what.
struct Purchases {
    products: Names,
    /// `user << 32 | product`, in the order of the file.
    pairs: Vec<u64>,
}

impl Purchases {
    fn read(path: &Path, progress: &dyn Progress) -> Result<Self> {
        let mut users = Names::default();
        let mut products = Names::default();
        let mut pairs = Vec::new();
        each_line(path, progress, |line, text| {
            let mut fields = text.split('|').skip(1);
            let (Some(user), Some(product)) = (fields.next(), fields.next()) else {
                return Err(too_few_fields(
                    path,
                    line,
                    3,
                    "user in the second, product in the third",
                ));
            };
            if line == 1 {
                return Ok(());
            }
            if user.is_empty() || product.is_empty() {
                let found = "the user or the product is empty";
                let remedy = "take the line out, or fetch the file again";
                return Err(DataError::malformed(Place::line(path, line), found, remedy));
            }
            let pair = (users.number(user), products.number(product));
            let (Some(user), Some(product)) = pair else {
                let remedy = "up to 4,294,967,295 of each can be read";
                let found = "too many users or products";
                return Err(DataError::malformed(Place::line(path, line), found, remedy));
            };
            pairs.push(u64::from(user) << 32 | u64::from(product));
            Ok(())
        })?;
        Ok(Purchases { products, pairs })
    }
}

fn too_few_fields(path: &Path, line: u64, needed: usize, which: &str) -> DataError {
    DataError::malformed(
        Place::line(path, line),
        format!("the line has fewer than {needed} fields parted by '|' ({which})"),
        "correct the line, or fetch the file again",
    )
}

/// Names numbered in the order of their first appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<Box<str>, u32>,
}

impl Names {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a name, a new one for a new name; nothing when the numbers run out.
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(name.into(), number);
        Some(number)
    }

    /// The number of a name that is already there.
    fn known(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The names in the order of their numbers.
    fn in_order(&self) -> StringArray {
        let mut names = vec![""; self.numbers.len()];
        for (name, &number) in &self.numbers {
            names[number as usize] = name;
        }
        StringArray::from(names)
    }
}
