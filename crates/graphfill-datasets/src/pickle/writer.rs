//! Writes small pickles for the tests, as Python 2 writes protocol 2.

/// A pickle of the value that `fragment` builds.
pub(crate) fn pickle(fragment: &[u8]) -> Vec<u8> {
    [&[0x80, 2], fragment, b"."].concat()
}

/// A whole number.
pub(crate) fn integer(number: i64) -> Vec<u8> {
    [&[0x8a, 8], &number.to_le_bytes()[..]].concat()
}

/// Python 2's text.
pub(crate) fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a short test text");
    [b"T", &length.to_le_bytes()[..], bytes].concat()
}

/// A tuple of these values.
pub(crate) fn tuple(values: &[Vec<u8>]) -> Vec<u8> {
    [b"(", &values.concat()[..], b"t"].concat()
}

/// A numpy array of the dtype that `element` spells, by rows.
pub(crate) fn array(element: &str, shape: &[usize], data: &[u8]) -> Vec<u8> {
    array_laid_out(element, b"<", shape, 0, data)
}

/// A numpy array with its byte order and layout (1: by columns).
pub(crate) fn array_laid_out(
    element: &str,
    byte_order: &[u8],
    shape: &[usize],
    by_columns: i64,
    data: &[u8],
) -> Vec<u8> {
    let none = b"N".to_vec();
    let empty = [
        b"cnumpy.core.multiarray\n_reconstruct\n".to_vec(),
        tuple(&[b"cnumpy\nndarray\n".to_vec(), tuple(&[integer(0)]), string(b"b")]),
        b"R".to_vec(),
    ];
    let element_type = [
        b"cnumpy\ndtype\n".to_vec(),
        tuple(&[string(element.as_bytes()), integer(0), integer(1)]),
        b"R".to_vec(),
        tuple(&[
            integer(3),
            string(byte_order),
            none.clone(),
            none.clone(),
            none,
            integer(-1),
            integer(-1),
            integer(0),
        ]),
        b"b".to_vec(),
    ];
    let shape: Vec<Vec<u8>> = shape.iter().map(|&extent| integer(extent as i64)).collect();
    let state = tuple(&[
        integer(1),
        tuple(&shape),
        element_type.concat(),
        integer(by_columns),
        string(data),
    ]);
    [empty.concat(), state, b"b".to_vec()].concat()
}

/// 32-bit whole numbers as the bytes of an array.
pub(crate) fn words(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Single-precision numbers as the bytes of an array.
pub(crate) fn singles(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A scipy matrix from its compressed rows.
pub(crate) fn matrix(shape: [usize; 2], offsets: &[i32], indices: &[i32], data: &[f32]) -> Vec<u8> {
    let part = |name: &str, value: Vec<u8>| [string(name.as_bytes()), value].concat();
    let line = |element, data: &[u8], count| array(element, &[count], data);
    [
        b"cscipy.sparse.csr\ncsr_matrix\n)\x81}(".to_vec(),
        part("_shape", tuple(&[integer(shape[0] as i64), integer(shape[1] as i64)])),
        part("maxprint", integer(50)),
        part("indptr", line("i4", &words(offsets), offsets.len())),
        part("indices", line("i4", &words(indices), indices.len())),
        part("data", line("f4", &singles(data), data.len())),
        b"ub".to_vec(),
    ]
    .concat()
}

/// A scipy matrix from its cells, zeros left out.
pub(crate) fn matrix_of(columns: usize, rows: &[&[f32]]) -> Vec<u8> {
    let (mut offsets, mut indices, mut data) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        for (column, &value) in row.iter().enumerate().filter(|cell| *cell.1 != 0.0) {
            indices.push(column as i32);
            data.push(value);
        }
        offsets.push(data.len() as i32);
    }
    matrix([rows.len(), columns], &offsets, &indices, &data)
}

/// A defaultdict of neighbour lists.
pub(crate) fn neighbours(lists: &[(i64, &[i64])]) -> Vec<u8> {
    let mut bytes = b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R(".to_vec();
    for (node, list) in lists {
        bytes.extend(integer(*node));
        bytes.extend(b"](");
        bytes.extend(list.iter().flat_map(|&other| integer(other)));
        bytes.extend(b"e");
    }
    bytes.extend(b"u");
    bytes
}
