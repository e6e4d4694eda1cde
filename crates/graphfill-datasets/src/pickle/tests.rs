//! Values of good pickles, messages for bad ones, and arbitrary bytes without a panic.

use proptest::prelude::*;

use super::{CsrMatrix, Pickle, Problem, Value, fuzz, writer};

const LIMIT: u64 = 1 << 30;

fn parse(bytes: &[u8]) -> Result<Pickle<'_>, Problem> {
    super::parse(bytes, LIMIT)
}

fn refusal(bytes: &[u8]) -> String {
    match parse(bytes).and_then(|pickle| CsrMatrix::new(&pickle.heap, pickle.root, LIMIT)) {
        Ok(_) => panic!("a pickle that should be refused was read: {bytes:?}"),
        Err(Problem::Content { found, .. }) => found,
        Err(Problem::Memory { needed, .. }) => panic!("{needed} bytes needed: {bytes:?}"),
    }
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    let pickle = parse(bytes).expect("a readable pickle");
    let array = pickle.heap.array(pickle.root).expect("an array");
    array.integers(&pickle.heap, LIMIT).expect("whole numbers")
}

#[test]
fn reads_the_numbers_of_every_protocol() {
    let cases: [(&[u8], Value); 9] = [
        (b"K\xff.", Value::Integer(255)),
        (b"M\x01\x02.", Value::Integer(0x201)),
        (b"J\xfe\xff\xff\xff.", Value::Integer(-2)),
        (b"G\x3f\xf8\0\0\0\0\0\0.", Value::Float(1.5)),
        (b"\x80\x02\x8a\x00.", Value::Integer(0)),
        (b"\x80\x02\x8a\x02\x00\xff.", Value::Integer(-256)),
        (b"\x80\x02\x89.", Value::Boolean(false)),
        (b"\x80\x04\x95\x02\0\0\0\0\0\0\0N.", Value::None),
        (b"K\x01\x94K\x02h\x00.", Value::Integer(1)),
    ];
    for (bytes, value) in cases {
        assert_eq!(parse(bytes).map(|pickle| pickle.root), Ok(value), "{bytes:?}");
    }
}

#[test]
fn reads_lists_dicts_and_shared_values() {
    let pickle = parse(b"}(K\x01]q\x05(K\x02K\x03eK\x04h\x05u.").expect("a readable pickle");
    let pairs = pickle.heap.pairs(pickle.root).expect("a dict");
    assert_eq!(pairs.len(), 2);
    for &(_, list) in pairs {
        let items = pickle.heap.items(list).expect("a list");
        assert_eq!(items, [Value::Integer(2), Value::Integer(3)]);
    }
}

#[test]
fn reads_arrays_of_either_layout() {
    let data = writer::words(&[1, 2, 3, 4, 5, 6]);
    let by_rows = writer::array("i4", &[2, 3], &data);
    assert_eq!(integers(&writer::pickle(&by_rows)), [1, 2, 3, 4, 5, 6]);
    let by_columns = writer::array_laid_out("i4", b"<", &[2, 3], 1, &data);
    assert_eq!(integers(&writer::pickle(&by_columns)), [1, 3, 5, 2, 4, 6]);
    let big_endian = writer::array_laid_out("i2", b">", &[2], 0, &[0xff, 0xfe, 1, 0]);
    assert!(refusal(&writer::pickle(&big_endian)).contains("not little-endian"));
    let none = writer::array_laid_out("u1", b"|", &[0, 5], 1, &[]);
    assert_eq!(integers(&writer::pickle(&none)), [] as [i64; 0]);
}

#[test]
fn reads_what_python_3_writes() {
    // pickle.dumps(numpy.array([1, 0], 'i1'), 2): bytes are text to be encoded as latin1.
    let protocol_2 = b"\x80\x02cnumpy._core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85\
        c_codecs\nencode\nX\x01\0\0\0bX\x06\0\0\0latin1\x86R\x87R(K\x01K\x02\x85cnumpy\ndtype\n\
        X\x02\0\0\0i1\x89\x88\x87R(K\x03X\x01\0\0\0|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89\
        c_codecs\nencode\nX\x03\0\0\0\xc3\xbf\x01X\x06\0\0\0latin1\x86Rtb.";
    assert_eq!(integers(protocol_2), [-1, 1]);
    // The same with protocol 5: names on the stack, the array from a buffer.
    let protocol_5 = b"\x80\x05\x8c\x13numpy._core.numeric\x8c\x0b_frombuffer\x93(\
        \x96\x02\0\0\0\0\0\0\0\xff\x01\x8c\x05numpy\x8c\x05dtype\x93\x8c\x02i1\x89\x88\x87R\
        (K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tbK\x02\x85\x8c\x01CtR.";
    assert_eq!(integers(protocol_5), [-1, 1]);
}

#[test]
fn reads_a_matrix_and_adds_up_repeated_cells() {
    let bytes = writer::pickle(&writer::matrix([2, 3], &[0, 3, 3], &[2, 0, 2], &[0.5, 1.0, 2.0]));
    let pickle = parse(&bytes).expect("a readable pickle");
    let matrix = CsrMatrix::new(&pickle.heap, pickle.root, LIMIT).expect("a matrix");
    assert_eq!((matrix.rows(), matrix.columns), (2, 3));
    let mut cells = Vec::new();
    matrix.append_row(0, &mut cells);
    assert_eq!(cells, [(0, 1.0), (2, 2.5)]);
    cells.clear();
    matrix.append_row(1, &mut cells);
    assert_eq!(cells, []);
}

#[test]
fn names_what_it_refuses_to_run() {
    let found = refusal(b"cos\nsystem\n(U\x0aecho hellotR.");
    assert!(found.contains("asks for os.system; only arrays are read, nothing is run"), "{found}");
    let found = refusal(b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R.");
    assert!(found.contains("asks for builtins.eval"), "{found}");
    // An array class is no function, a list is none either.
    assert!(refusal(b"cnumpy\nndarray\n)R.").contains("arguments that it never has"));
    assert!(refusal(b"])R.").contains("calls a list"));
    // Persistent ids, extensions, instances, buffers, and the text instructions of protocol 0.
    let instructions = [
        &b"Pname\n."[..],
        b"]Q.",
        b"\x82\x01.",
        b"(ios\nsystem\n.",
        b"\x97.",
        b"I1\n.",
        b"S'a'\n.",
    ];
    for instruction in instructions {
        assert!(refusal(instruction).contains("is none that builds"), "{instruction:?}");
    }
}

#[test]
fn refuses_arrays_that_are_not_what_they_say() {
    let array = |element, shape: &[usize], data: &[u8]| {
        refusal(&writer::pickle(&writer::array(element, shape, data)))
    };
    assert!(array("O8", &[1], &[0; 8]).contains("Python objects of dtype 'O8'"));
    assert!(array("c16", &[1], &[0; 16]).contains("elements of dtype 'c16'"));
    assert!(array("i4", &[3], &[0; 8]).contains("shape [3] and 4 bytes per element has 8 bytes"));
    assert!(array("i8", &[1 << 40, 1 << 40], &[0; 8]).contains("has 8 bytes"));
    let matrix = |shape, offsets: &[i32], indices: &[i32], data: &[f32]| {
        refusal(&writer::pickle(&writer::matrix(shape, offsets, indices, data)))
    };
    assert!(matrix([1, 2], &[0, 1], &[2], &[1.0]).contains("2 columns names column 2"));
    assert!(matrix([1, 2], &[0, 1], &[-1], &[1.0]).contains("names column -1"));
    assert!(matrix([1, 2], &[0, 2], &[0], &[1.0]).contains("that does not fit"));
    assert!(matrix([2, 2], &[0, 1], &[0], &[1.0]).contains("that does not fit"));
    assert!(matrix([2, 2], &[0, 1, 0], &[0], &[1.0]).contains("that does not fit"));
    assert!(matrix([1, 2], &[0, 1], &[0], &[1.0, 2.0]).contains("1 column numbers and 2 values"));
}

#[test]
fn every_cut_of_a_pickle_is_refused() {
    let whole = writer::pickle(&writer::matrix_of(2, &[&[1.0, 0.0], &[0.0, 0.5]]));
    for end in 0..whole.len() {
        refusal(&whole[..end]);
    }
}

#[test]
fn deep_nesting_and_cycles_are_harmless() {
    let mut deep = vec![b']'; 200_000];
    deep.extend(vec![b'a'; 199_999]);
    deep.push(b'.');
    assert!(parse(&deep).is_ok());
    assert!(parse(b"]q\x00h\x00a.").is_ok());
}

#[test]
fn objects_and_decoded_arrays_stay_within_the_memory_limit() {
    let lists = [vec![b']'; 100_000], vec![b'a'; 99_999], vec![b'.']].concat();
    assert!(super::parse(&lists, 1 << 20).is_err_and(|p| matches!(p, Problem::Memory { .. })));
    assert!(super::parse(&lists, 1 << 26).is_ok());
    let bytes = writer::pickle(&writer::array("u1", &[1000], &[1; 1000]));
    let pickle = parse(&bytes).expect("a readable pickle");
    let array = pickle.heap.array(pickle.root).expect("an array");
    let limited = array.floats(&pickle.heap, 7999);
    assert_eq!(limited, Err(Problem::Memory { needed: 8000, limit: 7999 }));
    assert!(array.floats(&pickle.heap, 8000).is_ok());
}

#[test]
fn a_text_named_again_and_again_is_not_unpacked_each_time() {
    let mut bytes = b"c_codecs\nencode\nq\x00X\x00\x10\0\0".to_vec();
    bytes.extend(vec![b'a'; 4096]);
    bytes.extend(b"q\x01X\x06\0\0\0latin1q\x02");
    for _ in 0..100 {
        bytes.extend(b"h\x00h\x01h\x02\x86R");
    }
    bytes.push(b'.');
    assert!(refusal(&bytes).contains("decodes one string many times"));
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzz(&bytes);
    }

    #[test]
    fn random_instructions_never_panic(
        picks in prop::collection::vec(
            prop::sample::select(&b"(.NKMJ]})tuaesbR\x81\x85\x86\x87\x88\x94hqUcX"[..]),
            0..200,
        ),
    ) {
        fuzz(&picks);
    }

    #[test]
    fn changed_pickles_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        end in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let whole = writer::matrix_of(3, &[&[1.0, 0.0, 2.0], &[], &[0.0, 0.5]]);
        let mut bytes = writer::pickle(&whole);
        for (position, byte) in changes {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        if cut {
            bytes.truncate(end.index(bytes.len()));
        }
        fuzz(&bytes);
    }
}
