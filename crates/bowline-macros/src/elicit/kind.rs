//! The kind of a field, as far as its type is spelled out.
//!
//! Only for better messages than the compiler's: an alias may hide any type,
//! and then the traits of `bowline::server::form` decide.

use syn::{GenericArgument, PathArguments, Type};

/// The kind of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldKind {
    String,
    Integer,
    Float,
    Boolean,
    List,
    /// A choice, or a type that cannot be determined here.
    Other,
}

const INTEGERS: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
];

impl FieldKind {
    /// Returns the kind of a type, or of the type inside an `Option`.
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

    /// Returns the name of the kind.
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Float => "a number",
            Self::Boolean => "a boolean",
            Self::List => "a list of choices",
            Self::Other => "something else",
        }
    }

    /// Describes the settings that bound this kind.
    pub(super) fn describe_bounds(self) -> &'static str {
        match self {
            Self::String => "a string has `min_length`, `max_length` and `format`",
            Self::Integer | Self::Float => "a number has `min` and `max`",
            Self::Boolean => "a boolean has no bounds",
            Self::List => "a list of choices has `min_items` and `max_items`",
            Self::Other => "it has no bounds",
        }
    }
}
