//! The types that a schema describes.

use serde_json::{Number, Value};

/// The index of a [`Definition`] in its [`Shape`](super::Shape).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(pub(super) usize);

/// A named type: a schema that a reference names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Definition {
    /// The last part of the reference, or the title of a schema without a name.
    /// Unique within the shape.
    pub name: String,
    /// Where its schema is in the document, as a JSON Pointer; `/…` if that has more
    /// than 1,024 bytes.
    pub pointer: String,
    /// The type.
    pub ty: Type,
    /// Whether a value of this type can contain another one without an array or a
    /// map in between, so its size has no bound.
    pub is_recursive: bool,
}

/// A type, with what its schema says about it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Type {
    /// What values look like.
    pub kind: TypeKind,
    /// Whether `null` is allowed too. `false` for [`TypeKind::Null`] and
    /// [`TypeKind::Any`], where it is nothing special, and for a reference to a type
    /// that is nullable itself.
    pub is_nullable: bool,
    /// The annotations.
    pub annotations: Annotations,
    /// Where its schema is in the document, as a JSON Pointer; `/…` if that has more
    /// than 1,024 bytes.
    pub pointer: String,
}

/// What a schema says about a type without restricting it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Annotations {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The default value.
    pub default: Option<Value>,
    /// Examples of values.
    pub examples: Vec<Value>,
    /// Whether it is deprecated.
    pub is_deprecated: bool,
}

/// What values of a type look like.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypeKind {
    /// Any value, or one whose schema cannot be expressed as a type. The schema is at
    /// [`Type::pointer`].
    Any,
    /// No value is valid.
    Never,
    /// `null`.
    Null,
    /// A boolean.
    Boolean,
    /// A whole number.
    Integer(NumberType),
    /// A number.
    Number(NumberType),
    /// A string.
    String(StringType),
    /// One of a few values.
    Literals(Vec<Literal>),
    /// A list of items of one type.
    Array(ArrayType),
    /// A list in which the position of an item decides its type.
    Tuple(TupleType),
    /// An object.
    Object(ObjectType),
    /// A value of one of several types.
    Union(UnionType),
    /// A named type.
    Reference(DefinitionId),
}

/// The range of a number.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct NumberType {
    /// The lower bound.
    pub minimum: Option<Bound>,
    /// The upper bound.
    pub maximum: Option<Bound>,
    /// Values are multiples of this.
    pub multiple_of: Option<Number>,
}

/// A bound of a range.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bound {
    /// The bound.
    pub value: Number,
    /// Whether the bound itself is outside of the range.
    pub is_exclusive: bool,
}

/// The restrictions of a string.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StringType {
    /// The minimum number of characters.
    pub min_length: Option<u64>,
    /// The maximum number of characters.
    pub max_length: Option<u64>,
    /// A regular expression that matches somewhere in the string.
    pub pattern: Option<String>,
    /// The format, such as `date` or `uri`.
    pub format: Option<String>,
}

/// A value that is listed by `const` or `enum`, or by alternatives with `const`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Its title, if each value has a schema of its own.
    pub title: Option<String>,
    /// Its description, if each value has a schema of its own.
    pub description: Option<String>,
}

/// A list of items of one type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArrayType {
    /// The type of an item.
    pub items: Box<Type>,
    /// The minimum number of items.
    pub min_items: Option<u64>,
    /// The maximum number of items.
    pub max_items: Option<u64>,
    /// Whether no two items may be equal.
    pub has_unique_items: bool,
}

/// A list in which the position of an item decides its type.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TupleType {
    /// The types of the first items.
    pub items: Vec<Type>,
    /// How many of them must be present.
    pub min_items: usize,
    /// The type of further items, if there may be any.
    pub rest: Option<Box<Type>>,
}

/// An object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectType {
    /// The members that the schema names, in its order.
    pub fields: Vec<Field>,
    /// What other members there may be.
    pub additional: Additional,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether every valid object has it.
    pub is_required: bool,
    /// Its position in the list of required members, if it is one.
    pub(super) required_position: Option<usize>,
}

/// What members an object may have that its schema does not name.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Additional {
    /// None.
    Forbidden,
    /// Any, since the schema says nothing about them. Most authors did not think of
    /// them.
    Unstated,
    /// Any, as the schema says, or members whose names match patterns.
    Any,
    /// Any number of members of one type.
    Typed(Box<Type>),
}

/// A value of one of several types.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct UnionType {
    /// The types. None of them is a union or nullable.
    pub variants: Vec<Type>,
    /// The member that says which of them a value has, if there is one.
    pub tag: Option<Tag>,
}

/// The member that tells the variants of a union apart. All variants are objects, or
/// references to objects, that require it and have a different string in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tag {
    /// The name of the member.
    pub name: String,
    /// Its value in each variant, in their order.
    pub values: Vec<String>,
}

impl ObjectType {
    /// Returns the named members: first the required ones, in the order in which the
    /// schema requires them, then the others. Some programs sort the members of the
    /// schemas that they write, but they keep this order.
    #[must_use]
    pub fn required_first(&self) -> Vec<&Field> {
        let mut fields: Vec<&Field> = self.fields.iter().collect();
        fields.sort_by_key(|field| field.required_position.unwrap_or(usize::MAX));
        fields
    }

    /// Returns the type of the members if this is a map: an object without named
    /// members that may have others.
    #[must_use]
    pub fn map_values(&self) -> Option<MapValues<'_>> {
        match &self.additional {
            _ if !self.fields.is_empty() => None,
            Additional::Forbidden => None,
            Additional::Unstated | Additional::Any => Some(MapValues::Any),
            Additional::Typed(ty) => Some(MapValues::Typed(ty)),
        }
    }
}

/// The values of a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MapValues<'a> {
    /// Any values.
    Any,
    /// Values of one type.
    Typed(&'a Type),
}

impl Type {
    pub(super) fn new(kind: TypeKind, pointer: &str) -> Self {
        Self {
            kind,
            is_nullable: false,
            annotations: Annotations::default(),
            pointer: pointer.to_owned(),
        }
    }

    /// Returns whether `null` is valid, as far as the type itself tells.
    pub(super) fn accepts_null(&self) -> bool {
        self.is_nullable || matches!(self.kind, TypeKind::Any | TypeKind::Null)
    }

    /// Returns whether every value is valid, as far as the type tells.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.kind == TypeKind::Any
    }
}
