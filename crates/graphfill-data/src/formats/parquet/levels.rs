//! Dictionary columns with all their levels.
//!
//! pandas and pyarrow take the levels of a category from the dictionary page of the column, in its
//! order. The encoder of the `parquet` crate puts there only what rows use, in the order of the
//! rows; so the two pages of such a column are put together here.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use parquet::basic::{Compression, Encoding};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use crate::atomic_file::AtomicFile;

/// Whether columns of this type are written here: dictionaries of text.
pub(super) fn are_kept(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(_, values) if values.is_string())
}

/// Writes a dictionary page with every level, and a data page with the keys.
pub(super) fn append(
    row_group: &mut SerializedRowGroupWriter<'_, &mut AtomicFile>,
    column: ColumnDescPtr,
    cells: &ArrayRef,
) -> Result<()> {
    let dictionary = cells.as_any_dictionary();
    let levels = arrow_cast::cast(dictionary.values(), &DataType::LargeUtf8)?;
    let levels = levels.as_string::<i64>();
    let keys = arrow_cast::cast(dictionary.keys(), &DataType::Int64)?;
    let keys = keys.as_primitive::<Int64Type>();
    let mut plain = Vec::new();
    let mut count = 0u64;
    // A level may be null, which a dictionary page cannot hold: its rows have none then.
    let mut codes = Vec::with_capacity(levels.len());
    for level in levels {
        codes.push(level.map(|level| {
            plain.extend((level.len() as u32).to_le_bytes());
            plain.extend(level.as_bytes());
            count += 1;
            count - 1
        }));
    }
    let key = |row: usize| -> Option<u64> {
        keys.is_valid(row).then(|| codes[keys.value(row) as usize]).flatten()
    };

    let mut data = Vec::new();
    if column.max_def_level() > 0 {
        let present: Vec<u64> = (0..cells.len()).map(|row| u64::from(key(row).is_some())).collect();
        let packed = bit_packed(&present, 1);
        data.extend((packed.len() as u32).to_le_bytes());
        data.extend(packed);
    }
    let width = u64::BITS - (count.max(2) - 1).leading_zeros();
    data.push(width as u8);
    data.extend(bit_packed(&(0..cells.len()).filter_map(key).collect::<Vec<_>>(), width));

    let mut sink = TrackedWrite::new(Vec::new());
    let mut pages = SerializedPageWriter::new(&mut sink);
    let dictionary_page = Page::DictionaryPage {
        buf: plain.into(),
        num_values: count as u32,
        encoding: Encoding::PLAIN,
        is_sorted: false,
    };
    let data_page = Page::DataPage {
        buf: data.into(),
        num_values: cells.len() as u32,
        encoding: Encoding::RLE_DICTIONARY,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    let mut uncompressed = 0;
    let mut first_data = 0;
    for page in [dictionary_page, data_page] {
        let size = page.buffer().len();
        if i32::try_from(size).is_err() {
            return Err(ParquetError::General("the levels of a column exceed 2 GiB".to_owned()));
        }
        first_data = uncompressed;
        uncompressed += pages.write_page(CompressedPage::new(page, size))?.bytes_written as i64;
    }
    let metadata = ColumnChunkMetaData::builder(column)
        .set_compression(Compression::UNCOMPRESSED)
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_num_values(cells.len() as i64)
        .set_total_compressed_size(uncompressed)
        .set_total_uncompressed_size(uncompressed)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(first_data)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: uncompressed as u64,
        rows_written: cells.len() as u64,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    let bytes: bytes::Bytes = sink.into_inner()?.into();
    row_group.append_column(&bytes, close)
}

/// Numbers of `width` bits each as one bit-packed run of Parquet's hybrid encoding: the number of
/// groups of eight, then the bits, lowest first.
fn bit_packed(numbers: &[u64], width: u32) -> Vec<u8> {
    let groups = numbers.len().div_ceil(8);
    let mut bytes = Vec::new();
    let mut header = (groups as u64) << 1 | 1;
    while header >= 0x80 {
        bytes.push(header as u8 | 0x80);
        header >>= 7;
    }
    bytes.push(header as u8);
    let end = bytes.len() + groups * width as usize;
    let (mut buffer, mut bits) = (0u128, 0);
    for &number in numbers {
        buffer |= u128::from(number) << bits;
        bits += width;
        while bits >= 8 {
            bytes.push(buffer as u8);
            buffer >>= 8;
            bits -= 8;
        }
    }
    bytes.push(buffer as u8);
    bytes.resize(end, 0);
    bytes
}
