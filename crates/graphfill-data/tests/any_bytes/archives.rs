//! `.npz` archives: the own layout and splits. Whole archives are changed, and the
//! arrays inside too, since a checksum would stop most changes before they meet a reader.

use graphfill_data::formats::splits_file;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::samples::{Array, archive, own_arrays, split_arrays, typed_arrays};
use crate::{Change, Folder, changed, changes, random_bytes, read};

/// The archive after changes of one array's data and of one array's header.
fn changed_inside(mut arrays: Vec<Array>, change: &Inside) -> Vec<u8> {
    let data = change.data.0.index(arrays.len());
    arrays[data].data = changed(&arrays[data].data, &change.data.1);
    if change.fit_shape {
        // The shape follows, so that the change reaches what stands behind the header.
        let shape = format!("({},)", arrays[data].data.len() / 8);
        let start = arrays[data].header.find('(').unwrap_or(0);
        arrays[data].header.replace_range(start.., &format!("{shape}, }}"));
    } else {
        let header = change.header.0.index(arrays.len());
        let text = changed(arrays[header].header.as_bytes(), &change.header.1);
        arrays[header].header = String::from_utf8_lossy(&text).into_owned();
    }
    if let Some(gone) = &change.gone {
        arrays.remove(gone.index(arrays.len()));
    }
    archive(&arrays)
}

#[derive(Debug, Clone)]
struct Inside {
    data: (Index, Vec<Change>),
    header: (Index, Vec<Change>),
    fit_shape: bool,
    gone: Option<Index>,
}

fn inside() -> impl Strategy<Value = Inside> {
    let gone = prop::option::weighted(0.1, any::<Index>());
    let data = (any::<Index>(), changes());
    (data, (any::<Index>(), changes()), any::<bool>(), gone)
        .prop_map(|(data, header, fit_shape, gone)| Inside { data, header, fit_shape, gone })
}

proptest! {
    #[test]
    fn own_layout(random in random_bytes(), changes in changes(), inside in inside()) {
        let folder = Folder::new();
        read(&folder.write("a.npz", &[b"PK\x03\x04", &random[..]].concat()), None);
        for arrays in [own_arrays, typed_arrays] {
            read(&folder.write("b.npz", &changed(&archive(&arrays()), &changes)), None);
            read(&folder.write("c.npz", &changed_inside(arrays(), &inside)), None);
        }
    }

    #[test]
    fn splits(random in random_bytes(), changes in changes(), inside in inside()) {
        let folder = Folder::new();
        let contents = [
            random,
            changed(&archive(&split_arrays()), &changes),
            changed_inside(split_arrays(), &inside),
        ];
        for content in contents {
            let path = folder.write("splits.npz", &content);
            let _ = splits_file::seeds(&path);
            let _ = splits_file::read(&path, 0, 4);
        }
    }
}
