//! Expressions for types, and the items that they need.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

use super::{
    Purpose, RustTypes,
    enums::variants_of,
    identifier::type_name,
    usage::{Usage, is_item},
};
use crate::shape::{
    Definition, DefinitionId, Literal, MapValues, NumberType, ObjectType, Shape, TupleType, Type,
    TypeKind,
};

/// How deep types without a name may be nested in an expression. What is deeper is any
/// value.
const MAX_DEPTH: usize = 32;
/// The longest tuple for which serde has an implementation.
const MAX_TUPLE: usize = 16;

/// Prints the types of one shape.
pub(super) struct Printer<'a> {
    pub(super) types: &'a mut RustTypes,
    pub(super) shape: &'a Shape,
    pub(super) purpose: Purpose,
    pub(super) usage: Usage,
    /// The names of the definitions that are items.
    names: HashMap<DefinitionId, String>,
    /// The items that are not printed yet.
    pending: VecDeque<Item<'a>>,
    depth: usize,
}

/// A type that becomes an item.
#[derive(Clone)]
pub(super) struct Item<'a> {
    pub(super) name: String,
    pub(super) ty: &'a Type,
    pub(super) role: Role<'a>,
}

/// What an item is used for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role<'a> {
    Plain,
    /// It is tried when a union without a tag is decoded.
    Tried,
    /// It is a variant of a union, which writes this member.
    Tagged(&'a str),
    /// It gives a name to a type that would otherwise contain itself.
    Wrapper,
}

/// Where a type is used.
#[derive(Clone, Copy)]
pub(super) struct Place<'n> {
    /// A name for the item, if one is needed, and a longer one if that is taken.
    pub(super) names: [&'n str; 2],
    /// Whether the value is stored in the item that contains it, so a recursive type
    /// needs a `Box`.
    pub(super) is_direct: bool,
}

impl<'n> Place<'n> {
    pub(super) fn named(name: &'n str) -> Self {
        Self {
            names: [name, name],
            is_direct: false,
        }
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(types: &'a mut RustTypes, shape: &'a Shape, purpose: Purpose) -> Self {
        Self {
            usage: Usage::new(shape),
            types,
            shape,
            purpose,
            names: HashMap::new(),
            pending: VecDeque::new(),
            depth: 0,
        }
    }

    /// Prints all items, and returns the expression for the document's type.
    pub(super) fn print(mut self, name: &str) -> String {
        let root = self.shape.root();
        let resolved = self.shape.resolve(root);
        let is_nullable = root.is_nullable || resolved.is_nullable;
        let not_null = format!("{name}Value");
        let place = match is_item(resolved) && !is_nullable {
            true => {
                // The name is reserved for this item.
                self.types.names.remove(name);
                Place::named(name)
            }
            false => Place::named(&not_null),
        };
        let expression = match root.kind {
            // The document has a definition of its own if anything refers to it.
            TypeKind::Reference(id) => self.reference(root, id, place, true),
            _ => self.expression(root, place),
        };
        while let Some(item) = self.pending.pop_front() {
            let text = self.item(&item);
            self.types.items.push(text);
        }
        expression
    }

    /// Returns the expression for a type.
    pub(super) fn expression(&mut self, ty: &'a Type, place: Place<'_>) -> String {
        if let TypeKind::Reference(id) = ty.kind {
            return self.reference(ty, id, place, false);
        }
        if self.depth >= MAX_DEPTH {
            return self.types.value();
        }
        self.depth += 1;
        let expression = match &ty.kind {
            _ if is_item(ty) => self.add_item(ty, place, Role::Plain),
            TypeKind::Null => "()".to_owned(),
            TypeKind::Boolean => "bool".to_owned(),
            TypeKind::Integer(number) => integer(number).to_owned(),
            TypeKind::Number(_) => "f64".to_owned(),
            TypeKind::String(_) => "String".to_owned(),
            TypeKind::Literals(literals) => match literal_type(literals) {
                Some(name) => name.to_owned(),
                None => self.types.value(),
            },
            TypeKind::Array(array) => {
                let names = place.names.map(item_name);
                let place = Place {
                    names: [&names[0], &names[1]],
                    is_direct: false,
                };
                format!("Vec<{}>", self.expression(&array.items, place))
            }
            TypeKind::Tuple(tuple) => self.tuple(tuple, place),
            TypeKind::Object(object) => self.map(object, place),
            _ => self.types.value(),
        };
        self.depth -= 1;
        optional(expression, ty.is_nullable)
    }

    /// Adds an item for a type, and returns its name.
    pub(super) fn add_item(&mut self, ty: &'a Type, place: Place<'_>, role: Role<'a>) -> String {
        let [short, long] = place.names.map(type_name);
        let wanted = match self.types.names.contains(&short) {
            true => long,
            false => short,
        };
        let name = self.types.free_name(&wanted);
        self.pending.push_back(Item {
            name: name.clone(),
            ty,
            role,
        });
        name
    }

    fn reference(
        &mut self,
        ty: &Type,
        id: DefinitionId,
        place: Place<'_>,
        is_root: bool,
    ) -> String {
        let definition = self.shape.definition(id);
        // A reference that only leads to itself says nothing.
        if matches!(self.shape.resolve(ty).kind, TypeKind::Reference(_)) {
            return self.types.value();
        }
        let is_nullable = ty.is_nullable || definition.ty.is_nullable;
        if is_item(&definition.ty) || self.usage.cyclic.contains(&id) {
            let name = self.definition_name(id, definition, is_root.then_some(place));
            let name = match place.is_direct && definition.is_recursive {
                true => format!("Box<{name}>"),
                false => name,
            };
            return optional(name, is_nullable);
        }
        let names = match is_root {
            true => place.names,
            false => [definition.name.as_str(); 2],
        };
        let inner = self.expression(&definition.ty, Place { names, ..place });
        optional(inner, ty.is_nullable && !definition.ty.is_nullable)
    }

    fn definition_name(
        &mut self,
        id: DefinitionId,
        definition: &'a Definition,
        place: Option<Place<'_>>,
    ) -> String {
        if let Some(name) = self.names.get(&id) {
            return name.clone();
        }
        let role = match (is_item(&definition.ty), self.usage.tried.contains(&id)) {
            (false, _) => Role::Wrapper,
            (true, true) => Role::Tried,
            (true, false) => Role::Plain,
        };
        let place = place.unwrap_or(Place::named(&definition.name));
        let name = self.add_item(&definition.ty, place, role);
        self.names.insert(id, name.clone());
        name
    }

    /// Returns whether a type accepts null.
    pub(super) fn accepts_null(&self, ty: &Type) -> bool {
        let resolved = self.shape.resolve(ty);
        ty.is_nullable || resolved.is_nullable || self.is_value(resolved) || {
            matches!(resolved.kind, TypeKind::Null)
        }
    }

    /// Returns whether a type is printed as any value.
    pub(super) fn is_value(&self, ty: &Type) -> bool {
        match &ty.kind {
            TypeKind::Any | TypeKind::Never | TypeKind::Reference(_) => true,
            TypeKind::Literals(literals) => {
                !self.is_enum(literals) && literal_type(literals).is_none()
            }
            _ => false,
        }
    }

    /// Returns whether literals become an enum.
    pub(super) fn is_enum(&self, literals: &[Literal]) -> bool {
        variants_of(literals).is_some()
    }

    fn tuple(&mut self, tuple: &'a TupleType, place: Place<'_>) -> String {
        let count = tuple.items.len();
        if tuple.rest.is_some() || tuple.min_items < count || count > MAX_TUPLE {
            return format!("Vec<{}>", self.types.value());
        }
        let mut items = Vec::new();
        for (at, item) in tuple.items.iter().enumerate() {
            let names = place.names.map(|name| format!("{name}{at}"));
            let names = [names[0].as_str(), names[1].as_str()];
            items.push(self.expression(item, Place { names, ..place }));
        }
        match &items[..] {
            [only] => format!("({only},)"),
            _ => format!("({})", items.join(", ")),
        }
    }

    fn map(&mut self, object: &'a ObjectType, place: Place<'_>) -> String {
        match object.map_values() {
            Some(MapValues::Typed(ty)) => {
                let names = place.names.map(|name| format!("{name}Value"));
                let place = Place {
                    names: [&names[0], &names[1]],
                    is_direct: false,
                };
                let values = self.expression(ty, place);
                self.types.map(&values)
            }
            _ => self.types.object(),
        }
    }

    fn item(&mut self, item: &Item<'a>) -> String {
        match &item.ty.kind {
            _ if item.role == Role::Wrapper => self.wrapper(item),
            TypeKind::Object(object) => self.struct_item(item, object),
            TypeKind::Literals(literals) => self.literal_enum(item, literals),
            TypeKind::Union(union) => self.union_enum(item, union),
            _ => self.wrapper(item),
        }
    }

    fn wrapper(&mut self, item: &Item<'a>) -> String {
        let not_null = self.expression(item.ty, Place::named(&item.name));
        let inner = not_null
            .strip_prefix("Option<")
            .and_then(|inner| inner.strip_suffix('>'))
            .filter(|_| item.ty.is_nullable);
        let mut out = String::new();
        super::docs::write_docs(&mut out, &self.use_docs(item.ty), 0);
        out.push_str(&super::structs::derives(&[]));
        out.push_str(&super::structs::attribute(0, &["transparent".to_owned()]));
        let inner = inner.unwrap_or(&not_null);
        out.push_str(&format!("pub struct {}(pub {inner});\n", item.name));
        out
    }
}

/// Returns the type of literals that do not become an enum: `None` for any value.
fn literal_type(literals: &[Literal]) -> Option<&'static str> {
    let all = |is_such: fn(&Value) -> bool| literals.iter().all(|it| is_such(&it.value));
    let types = [
        (all(Value::is_string), "String"),
        (all(Value::is_boolean), "bool"),
        (all(Value::is_i64), "i64"),
        (all(Value::is_u64), "u64"),
        (all(Value::is_number), "f64"),
    ];
    let mut fitting = types.iter().filter(|(fits, _)| *fits);
    fitting.next().map(|(_, name)| *name)
}

/// Returns a name for the items of a list: `Label` for `Labels`.
fn item_name(list: &str) -> String {
    let singular = match list {
        _ if list.ends_with("ies") => format!("{}y", &list[..list.len() - 3]),
        _ if ["ss", "us", "is"].iter().any(|end| list.ends_with(end)) => String::new(),
        _ => list.strip_suffix('s').unwrap_or_default().to_owned(),
    };
    match singular.len() {
        0..3 => format!("{list}Item"),
        _ => singular,
    }
}

pub(super) fn optional(expression: String, is_optional: bool) -> String {
    match is_optional {
        true => format!("Option<{expression}>"),
        false => expression,
    }
}

fn integer(number: &NumberType) -> &'static str {
    let minimum = number.minimum.as_ref();
    let is_unsigned = minimum.is_some_and(|minimum| minimum.value.as_f64() >= Some(0.0));
    if is_unsigned { "u64" } else { "i64" }
}
