//! Steam's products: `user_product_date.csv` and `product_tags.csv`, fields separated by `|`.
//!
//! The nodes are the products of the first file in order of first appearance; an edge joins two
//! products that at least ten users both have; the features are the tags of the products.

mod shared_users;
mod tags;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use arrow_array::StringArray;
use graphfill_data::{
    Column, DataError, Dataset, Direction, IdColumn, NodeIds, NodeTable, Place, Progress, Result,
};
use hashbrown::HashMap;

use crate::lines::each_line;
use crate::memory;

/// The smallest number of shared users that joins two products.
const MIN_SHARED_USERS: u32 = 10;

/// The bytes per purchase: a pair, and one entry in each of two lists.
const BYTES_PER_PURCHASE: u64 = 16;

/// The two files of the folder `dir`.
pub(crate) fn files(dir: &Path) -> [PathBuf; 2] {
    ["user_product_date.csv", "product_tags.csv"].map(|name| dir.join(name))
}

/// Reads the two files of the folder `dir`.
pub(crate) fn read(dir: &Path, limit: u64, progress: &dyn Progress) -> Result<Dataset> {
    let [purchases, tags] = files(dir);
    let purchases = Purchases::read(&purchases, limit, progress)?;
    let tagged = tags::read(&tags, &purchases.products, limit, progress)?;
    let nodes = purchases.products.len();
    let ids = purchases.products.in_order();
    let arcs = shared_users::join(purchases.pairs, nodes, MIN_SHARED_USERS, progress)?;
    let id_column = IdColumn { name: "product_id".to_owned(), ..IdColumn::default() };
    let columns = vec![Column::block("tags", tagged.block)];
    let table = NodeTable::new(id_column, NodeIds::from_text(ids), columns, None)?;
    let name = dir.file_name().map_or("steam".into(), |name| name.to_string_lossy());
    let graph = arcs.into_graph(nodes, Direction::Undirected)?;
    let mut dataset = Dataset::new(&name, "steam", table, graph)?;
    dataset.notes.extend(tagged.note.map(Into::into));
    Ok(dataset)
}

/// Which user has which product.
struct Purchases {
    products: Names,
    /// `user << 32 | product`, in the order of the file.
    pairs: Vec<u64>,
}

impl Purchases {
    fn read(path: &Path, limit: u64, progress: &dyn Progress) -> Result<Self> {
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
                let advice = "take the line out, or fetch the file again";
                return Err(DataError::malformed(Place::line(path, line), found, advice));
            }
            let pair = (users.number(user), products.number(product));
            let (Some(user), Some(product)) = pair else {
                let advice = "up to 4,294,967,295 of each can be read";
                let found = "too many users or products";
                return Err(DataError::malformed(Place::line(path, line), found, advice));
            };
            pairs.push(u64::from(user) << 32 | u64::from(product));
            let purchases = BYTES_PER_PURCHASE * pairs.len() as u64;
            let needed = purchases + users.memory() + products.memory();
            memory::check(path, "the purchases", needed, limit)?;
            Ok(())
        })?;
        Ok(Purchases { products, pairs })
    }
}

fn too_few_fields(path: &Path, line: u64, needed: usize, which: &str) -> DataError {
    DataError::malformed(
        Place::line(path, line),
        format!("the line has fewer than {needed} fields separated by '|' ({which})"),
        "correct the line, or fetch the file again",
    )
}

/// Names numbered in order of first appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<Box<str>, u32>,
    /// The bytes of all names.
    bytes: u64,
}

impl Names {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The bytes that the names take, here and in a list of them.
    fn memory(&self) -> u64 {
        2 * self.bytes + 40 * self.numbers.capacity() as u64
    }

    /// The number of a name, a new one for a new name; none once all 32-bit numbers are taken.
    fn number(&mut self, name: &str) -> Option<u32> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(name.into(), number);
        self.bytes += name.len() as u64;
        Some(number)
    }

    /// The number of a known name.
    fn find(&self, name: &str) -> Option<u32> {
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
