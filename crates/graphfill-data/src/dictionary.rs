//! Dictionary arrays (categories of pandas, enums of polars) with their levels kept: values, their
//! order, those that no row uses, and the type of the keys.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int64Array, StringArray, downcast_integer};
use arrow_schema::{ArrowError, DataType};
use hashbrown::HashMap;

/// The dictionary array `cells` with `estimates` in the rows that are `missing`. A level that the
/// dictionary lacks is appended behind its own.
///
/// Fails if `cells` is no dictionary array, if an estimate is none of its values' type, or if its
/// keys cannot count that many levels.
pub(crate) fn complete_dictionary(
    cells: &ArrayRef,
    estimates: &StringArray,
    missing: &[bool],
) -> Result<ArrayRef, ArrowError> {
    let (keys, values) = parts(cells)?;
    let chosen = estimates.iter().zip(missing).map(|(level, gone)| level.filter(|_| *gone));
    let (values, codes) = with_levels(values, &chosen.collect())?;
    let key = |row: usize| match missing[row] {
        true => codes[row],
        false => keys.is_valid(row).then(|| keys.value(row)),
    };
    dictionary(cells.data_type(), (0..cells.len()).map(key).collect(), values)
}

/// Arrays of one type behind one another; the levels of dictionaries in the order of the first.
pub(crate) fn concat(chunks: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    let all: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
    let same = all.windows(2).all(|pair| pair[0].data_type() == pair[1].data_type());
    let (Some((first, others)), true) = (chunks.split_first(), same) else {
        return arrow_select::concat::concat(&all);
    };
    if first.as_any_dictionary_opt().is_none() {
        return arrow_select::concat::concat(&all);
    }
    let (keys, mut values) = parts(first)?;
    let mut all: Vec<Option<i64>> = keys.iter().collect();
    for chunk in others {
        let (keys, own) = parts(chunk)?;
        let (longer, codes) = with_levels(values, &texts(&own)?)?;
        values = longer;
        all.extend(keys.iter().map(|key| codes.get(key? as usize).copied().flatten()));
    }
    dictionary(first.data_type(), all.into(), values)
}

/// Keys and values of a dictionary array.
fn parts(cells: &ArrayRef) -> Result<(Int64Array, ArrayRef), ArrowError> {
    let dictionary = cells.as_any_dictionary_opt().ok_or_else(|| {
        ArrowError::InvalidArgumentError(format!("{} is no dictionary", cells.data_type()))
    })?;
    let keys = arrow_cast::cast(dictionary.keys(), &DataType::Int64)?;
    Ok((keys.as_primitive::<Int64Type>().clone(), dictionary.values().clone()))
}

fn texts(values: &ArrayRef) -> Result<StringArray, ArrowError> {
    Ok(arrow_cast::cast(values, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// The values with those of `levels` that are new behind them, and the position of each level.
fn with_levels(
    values: ArrayRef,
    levels: &StringArray,
) -> Result<(ArrayRef, Vec<Option<i64>>), ArrowError> {
    let own = texts(&values)?;
    let mut position_of: HashMap<&str, i64> = HashMap::new();
    for (position, value) in own.iter().enumerate() {
        if let Some(value) = value {
            position_of.entry(value).or_insert(position as i64);
        }
    }
    let mut new: Vec<&str> = Vec::new();
    let mut positions = Vec::with_capacity(levels.len());
    for level in levels.iter() {
        positions.push(level.map(|level| {
            *position_of.entry(level).or_insert_with(|| {
                new.push(level);
                (own.len() + new.len() - 1) as i64
            })
        }));
    }
    if new.is_empty() {
        return Ok((values, positions));
    }
    let new: ArrayRef = Arc::new(StringArray::from(new));
    let new = arrow_cast::cast(&new, values.data_type())?;
    if new.null_count() > 0 {
        let found = format!("a level is no {}", values.data_type());
        return Err(ArrowError::CastError(found));
    }
    let longer = arrow_select::concat::concat(&[values.as_ref(), new.as_ref()])?;
    Ok((longer, positions))
}

/// The array of this dictionary type.
fn dictionary(
    data_type: &DataType,
    keys: Int64Array,
    values: ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    macro_rules! typed {
        ($key:ty, $keys:expr, $values:expr) => {{
            let keys = $keys.as_primitive::<$key>().clone();
            Ok(Arc::new(DictionaryArray::<$key>::try_new(keys, $values)?))
        }};
    }
    let DataType::Dictionary(key_type, _) = data_type else {
        return Err(ArrowError::InvalidArgumentError(format!("{data_type} is no dictionary")));
    };
    let wide: ArrayRef = Arc::new(keys);
    let keys = arrow_cast::cast(&wide, key_type)?;
    if keys.null_count() > wide.null_count() {
        return Err(ArrowError::DictionaryKeyOverflowError);
    }
    downcast_integer! {
        key_type.as_ref() => (typed, keys, values),
        _ => Err(ArrowError::DictionaryKeyOverflowError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::{Int8Type, UInt32Type};

    fn sizes(keys: Vec<Option<i8>>) -> ArrayRef {
        let values: ArrayRef = Arc::new(StringArray::from(vec!["S", "M", "L", "XL"]));
        Arc::new(DictionaryArray::<Int8Type>::try_new(keys.into(), values).expect("in bounds"))
    }

    fn levels_and_cells(array: &ArrayRef) -> (Vec<String>, Vec<Option<String>>) {
        let values = array.as_any_dictionary().values();
        let levels = texts(values).expect("text").iter().flatten().map(str::to_owned).collect();
        let cells = arrow_cast::cast(array, &DataType::Utf8).expect("text");
        (levels, cells.as_string::<i32>().iter().map(|cell| cell.map(str::to_owned)).collect())
    }

    #[test]
    fn estimates_use_the_levels_that_are_there() {
        let cells = sizes(vec![Some(2), None, Some(0), None]);
        let estimates = StringArray::from(vec![Some("M"), Some("XL"), None, None]);
        let full = complete_dictionary(&cells, &estimates, &[false, true, false, true]);
        let full = full.expect("completed");
        assert_eq!(full.data_type(), cells.data_type());
        let (levels, cells) = levels_and_cells(&full);
        assert_eq!(levels, ["S", "M", "L", "XL"], "order and unused levels stay");
        let cells: Vec<_> = cells.iter().map(Option::as_deref).collect();
        assert_eq!(cells, [Some("L"), Some("XL"), Some("S"), None]);
    }

    #[test]
    fn a_new_level_comes_last_and_must_fit() {
        let cells = sizes(vec![Some(1), None]);
        let full = complete_dictionary(&cells, &vec![None, Some("XXL")].into(), &[false, true]);
        let (levels, _) = levels_and_cells(&full.expect("completed"));
        assert_eq!(levels, ["S", "M", "L", "XL", "XXL"]);
        let names: Vec<String> = (0..200).map(|level| level.to_string()).collect();
        let many = StringArray::from_iter_values(&names);
        let cells = sizes(vec![None; 200]);
        let refused = complete_dictionary(&cells, &many, &[true; 200]);
        assert!(matches!(refused, Err(ArrowError::DictionaryKeyOverflowError)), "{refused:?}");
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![10, 20]));
        let keys = arrow_array::UInt32Array::from(vec![Some(1), None]);
        let numbers: ArrayRef =
            Arc::new(DictionaryArray::<UInt32Type>::try_new(keys, numbers).expect("in bounds"));
        let full = complete_dictionary(&numbers, &vec![None, Some("10")].into(), &[false, true]);
        let (levels, cells) = levels_and_cells(&full.expect("completed"));
        assert_eq!((levels.len(), cells[1].as_deref()), (2, Some("10")));
        let refused = complete_dictionary(&numbers, &vec![None, Some("x")].into(), &[false, true]);
        assert!(refused.is_err(), "{refused:?}");
    }

    #[test]
    fn chunks_share_their_levels() {
        let other: ArrayRef = Arc::new(StringArray::from(vec!["L", "XXL", "S"]));
        let keys = vec![Some(0), Some(1), None, Some(2)].into();
        let other = DictionaryArray::<Int8Type>::try_new(keys, other).expect("in bounds");
        let joined = concat(&[sizes(vec![Some(3), None]), Arc::new(other)]);
        let (levels, cells) = levels_and_cells(&joined.expect("joined"));
        assert_eq!(levels, ["S", "M", "L", "XL", "XXL"]);
        let cells: Vec<_> = cells.iter().map(Option::as_deref).collect();
        assert_eq!(cells, [Some("XL"), None, Some("L"), Some("XXL"), None, Some("S")]);
    }
}
