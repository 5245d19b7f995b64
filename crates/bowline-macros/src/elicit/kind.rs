//! What a field is, as far as its type is written out.
//!
//! Only for messages that are better than the compiler's: an alias may hide
//! anything, and then the traits of `bowline::server::form` decide.

use syn::{GenericArgument, PathArguments, Type};

/// What a field is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    String,
    Integer,
    Float,
    Boolean,
    List,
    /// A choice, or something that cannot be seen from here.
    Other,
}

const INTEGERS: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

impl FieldKind {
    /// The kind of a type, or of what it is an `Option` of.
    pub(super) fn from_type(ty: &Type) -> Self {
        let Type::Path(path) = ty else {
            return Self::Other;
        };
        let Some(last) = path.path.segments.last() else {
            return Self::Other;
        };
        match last.ident.to_string().as_str() {
            "Option" => match &last.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                    Some(GenericArgument::Type(inner)) => Self::from_type(inner),
                    _ => Self::Other,
                },
                _ => Self::Other,
            },
            "String" => Self::String,
            "bool" => Self::Boolean,
            "f32" | "f64" => Self::Float,
            "Vec" => Self::List,
            name if INTEGERS.contains(&name) => Self::Integer,
            _ => Self::Other,
        }
    }

    /// What it is called.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::String => "a text",
            Self::Integer => "a whole number",
            Self::Float => "a number",
            Self::Boolean => "a boolean",
            Self::List => "a list of choices",
            Self::Other => "something else",
        }
    }

    /// What bounds it, for those who tried something else.
    pub(super) fn describe_bounds(self) -> &'static str {
        match self {
            Self::String => "a text has `min_length`, `max_length` and `format`",
            Self::Integer | Self::Float => "a number has `min` and `max`",
            Self::Boolean => "a boolean has no bounds",
            Self::List => "a list of choices has `min_items` and `max_items`",
            Self::Other => "it has none",
        }
    }
}
