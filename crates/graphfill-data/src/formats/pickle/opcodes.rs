//! The instructions of pickle protocols 0 to 5 that build data.
//!
//! What is not here (sets, persistent ids, extension codes, instances, out-of-band buffers) is
//! refused.

pub(super) const MARK: u8 = b'(';
pub(super) const STOP: u8 = b'.';
pub(super) const POP: u8 = b'0';
pub(super) const POP_MARK: u8 = b'1';
pub(super) const DUPLICATE: u8 = b'2';
pub(super) const PROTOCOL: u8 = 0x80;
pub(super) const FRAME: u8 = 0x95;

pub(super) const NONE: u8 = b'N';
pub(super) const TRUE: u8 = 0x88;
pub(super) const FALSE: u8 = 0x89;
pub(super) const INT_LINE: u8 = b'I';
pub(super) const LONG_LINE: u8 = b'L';
pub(super) const INT_4: u8 = b'J';
pub(super) const INT_1: u8 = b'K';
pub(super) const INT_2: u8 = b'M';
pub(super) const LONG_COUNTED_1: u8 = 0x8a;
pub(super) const LONG_COUNTED_4: u8 = 0x8b;
pub(super) const FLOAT_LINE: u8 = b'F';
pub(super) const FLOAT_8: u8 = b'G';

pub(super) const STRING_LINE: u8 = b'S';
pub(super) const STRING_4: u8 = b'T';
pub(super) const STRING_1: u8 = b'U';
pub(super) const BYTES_4: u8 = b'B';
pub(super) const BYTES_1: u8 = b'C';
pub(super) const BYTES_8: u8 = 0x8e;
pub(super) const BYTE_ARRAY_8: u8 = 0x96;
pub(super) const UNICODE_LINE: u8 = b'V';
pub(super) const UNICODE_4: u8 = b'X';
pub(super) const UNICODE_1: u8 = 0x8c;
pub(super) const UNICODE_8: u8 = 0x8d;

pub(super) const EMPTY_LIST: u8 = b']';
pub(super) const LIST: u8 = b'l';
pub(super) const APPEND: u8 = b'a';
pub(super) const APPENDS: u8 = b'e';
pub(super) const EMPTY_DICT: u8 = b'}';
pub(super) const DICT: u8 = b'd';
pub(super) const SET_ITEM: u8 = b's';
pub(super) const SET_ITEMS: u8 = b'u';
pub(super) const EMPTY_TUPLE: u8 = b')';
pub(super) const TUPLE: u8 = b't';
pub(super) const TUPLE_1: u8 = 0x85;
pub(super) const TUPLE_2: u8 = 0x86;
pub(super) const TUPLE_3: u8 = 0x87;

pub(super) const GET_LINE: u8 = b'g';
pub(super) const GET_1: u8 = b'h';
pub(super) const GET_4: u8 = b'j';
pub(super) const PUT_LINE: u8 = b'p';
pub(super) const PUT_1: u8 = b'q';
pub(super) const PUT_4: u8 = b'r';
pub(super) const MEMOIZE: u8 = 0x94;

pub(super) const GLOBAL: u8 = b'c';
pub(super) const STACK_GLOBAL: u8 = 0x93;
pub(super) const REDUCE: u8 = b'R';
pub(super) const NEW_OBJECT: u8 = 0x81;
pub(super) const BUILD: u8 = b'b';
