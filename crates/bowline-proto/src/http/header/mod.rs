//! Header names, the value codec, and the headers that mirror a body.

mod field;
mod mirror;
pub mod name;
mod param;
mod scalar;
mod schema;
mod value;

pub use field::{
    Field, HeaderMismatch, Headers, MismatchReason, check_version, read_version, single,
};
pub use mirror::{Mirror, named_member};
pub use schema::{HeaderSchemaError, HeaderSchemaFault, ParamHeader, ParamHeaders, ParamKind};
pub(super) use value::trim_ows;
pub use value::{HeaderError, decode_value, encode_value};
