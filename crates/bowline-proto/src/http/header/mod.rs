//! Header names, the value codec, and the headers that mirror a body.

mod field;
mod mirror;
pub mod name;
mod param;
mod scalar;
mod schema;
mod value;

pub use field::{
    HeaderField, HeaderMismatch, Headers, MismatchReason, check_protocol_version, protocol_version,
    single_value,
};
pub use mirror::{MirroredHeaders, mirrored_member};
pub use schema::{HeaderSchemaError, HeaderSchemaErrorKind, ParamHeader, ParamHeaders, ParamKind};
pub(super) use value::trim_ows;
pub use value::{HeaderValueError, decode_value, encode_value};
