//! The alternatives of a type for an object.

use bowline_schema::shape::{Additional, ObjectType, Shape, Type, TypeKind};
use serde_json::{Map, Value};

/// Maximum number of alternatives tried.
const MAX_ALTERNATIVES: usize = 256;

/// One alternative; `None` if nothing is known of the members.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectAlternative<'a>(Option<&'a ObjectType>);

impl<'a> ObjectAlternative<'a> {
    /// Returns all alternatives for an object; at least one.
    pub(super) fn enumerate(shape: &'a Shape, ty: &'a Type) -> Vec<Self> {
        let types = shape.variants(ty).types.into_iter();
        let found = types.filter_map(|ty| match &shape.resolve(ty).kind {
            TypeKind::Object(object) => Some(Self(Some(object))),
            TypeKind::Any => Some(Self(None)),
            _ => None,
        });
        let found: Vec<_> = found.take(MAX_ALTERNATIVES).collect();
        match found.is_empty() {
            true => vec![Self(None)],
            false => found,
        }
    }

    /// Returns the type of a member, declared or additional.
    pub(super) fn member_type(self, name: &str) -> Option<&'a Type> {
        let object = self.0?;
        self.declared_type(name).or(match &object.additional {
            Additional::Typed(ty) => Some(ty),
            _ => None,
        })
    }

    fn declared_type(self, name: &str) -> Option<&'a Type> {
        let mut fields = self.0?.fields.iter();
        let field = fields.find(|field| field.name == name)?;
        Some(&field.ty)
    }

    /// Returns how far an object is from this alternative: how many members
    /// contradict it, and how many do not fit.
    pub(super) fn distance(self, shape: &Shape, members: &Map<String, Value>) -> (usize, usize) {
        let Some(object) = self.0 else {
            return (0, 0);
        };
        let contradictions = object.fields.iter().filter(|field| {
            let value = members.get(&field.name);
            is_constant(shape, &field.ty) && value.is_some_and(|it| !shape.fits(&field.ty, it))
        });
        (contradictions.count(), shape.count_misfits(object, members))
    }
}

/// Returns whether only one value is possible.
fn is_constant(shape: &Shape, ty: &Type) -> bool {
    match &shape.resolve(ty).kind {
        TypeKind::Literals(literals) => literals.len() == 1,
        _ => false,
    }
}

/// Returns the type of a member in each alternative that declares it.
pub(super) fn declared_types<'a>(shape: &'a Shape, ty: &'a Type, name: &str) -> Vec<&'a Type> {
    let alternatives = ObjectAlternative::enumerate(shape, ty).into_iter();
    let types = alternatives.filter_map(|alternative| alternative.declared_type(name));
    types.collect()
}

/// Returns whether a type is known to include objects.
pub(super) fn accepts_members(shape: &Shape, ty: &Type) -> bool {
    let alternatives = ObjectAlternative::enumerate(shape, ty);
    alternatives
        .iter()
        .any(|alternative| alternative.0.is_some())
}
