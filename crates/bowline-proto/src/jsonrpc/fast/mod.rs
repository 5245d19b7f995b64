//! Shortcuts for speed.
//!
//! A shortcut does what plain code also does, in fewer instructions. Those that
//! know only JSON are in this folder; those that know messages are listed in
//! decision record 0036, with what each one saves. The rules for all of them:
//!
//! - A reader returns `None` for anything but the usual form. The plain way is
//!   behind it: it accepts everything, and reports what is wrong. A writer
//!   produces the same bytes as `serde_json`.
//! - Property tests, and fuzz targets where untrusted bytes are read, compare
//!   the shortcut with the plain way.
//! - It saves at least 2 % of the instructions of a counted path (`cargo xtask
//!   bench core`), or an allocation. Otherwise it is deleted.
//! - It does not show in a public signature: no caller has to know that it
//!   exists, or can use it wrongly.
//!
//! To delete one, make its caller take the plain way and remove its file. The
//! record says which caller that is.
//!
//! | Module | Shortcut | Plain way |
//! |---|---|---|
//! | [`common_head`] | compares the start of a message | the envelope scan |
//! | [`object_walker`] | walks an object and keeps slices | decoding with serde |
//! | [`decode`] | decodes common JSON | [`decode()`](super::decode()) |
//! | [`compact`] | compares known members | [`decode`] |
//! | [`mod@write`], [`string_serializer`] | serialises without small writes | `serde_json` |
//! | [`escape`], [`unescape`] | strings in words and blocks | `serde_json` |
//! | [`block`] | classifies 64 bytes at once | byte by byte |
//! | [`packed`] | frames without a reference count | `Bytes::from` |

pub(super) mod block;
pub(super) mod common_head;
mod compact;
mod decode;
pub(super) mod escape;
mod object_walker;
pub(super) mod packed;
mod string_serializer;
mod unescape;
pub(super) mod write;

pub(crate) use compact::CompactReader;
pub use decode::decode_fast;
pub(crate) use object_walker::{MemberVisitor, ObjectWalker};
