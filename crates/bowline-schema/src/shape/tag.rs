//! Finding the member that tells the variants of a union apart.

use std::collections::HashSet;

use super::{Definition, ObjectType, Tag, Type, TypeKind, UnionType, build::Types};

/// The members of an object that must be there with one certain string.
type Constants = Vec<(String, String)>;

/// Finds the tags of all unions.
pub(super) fn find_tags(types: &mut Types) {
    let of_definitions: Vec<Constants> = types
        .definitions
        .iter()
        .map(|definition| constants(resolve(&definition.ty, &types.definitions)))
        .collect();
    find_in(&mut types.root, &of_definitions);
    for definition in &mut types.definitions {
        find_in(&mut definition.ty, &of_definitions);
    }
}

fn find_in(ty: &mut Type, of_definitions: &[Constants]) {
    if let TypeKind::Union(union) = &mut ty.kind {
        union.tag = tag_of(union, of_definitions);
    }
    ty.for_each_child_mut(&mut |child| find_in(child, of_definitions));
}

fn tag_of(union: &UnionType, of_definitions: &[Constants]) -> Option<Tag> {
    let of_variants = union.variants.iter().map(|variant| match &variant.kind {
        TypeKind::Reference(id) => of_definitions[id.0].clone(),
        _ => constants(variant),
    });
    let of_variants: Vec<Constants> = of_variants.collect();
    let (first, _) = of_variants.split_first()?;
    first.iter().find_map(|(name, _)| {
        let values = of_variants.iter().map(|constants| {
            let mut constants = constants.iter();
            let found = constants.find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        });
        let values: Vec<String> = values.collect::<Option<_>>()?;
        let distinct: HashSet<&String> = values.iter().collect();
        (distinct.len() == values.len()).then(|| Tag {
            name: name.clone(),
            values: values.clone(),
        })
    })
}

fn constants(ty: &Type) -> Constants {
    match &ty.kind {
        TypeKind::Object(object) if !ty.is_nullable => object.constants(),
        _ => Vec::new(),
    }
}

impl ObjectType {
    fn constants(&self) -> Constants {
        let required = self.fields.iter().filter(|field| field.is_required);
        required
            .filter_map(|field| match &field.ty.kind {
                TypeKind::Literals(literals) if !field.ty.is_nullable => match &literals[..] {
                    [only] => Some((field.name.clone(), only.value.as_str()?.to_owned())),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    }
}

fn resolve<'a>(ty: &'a Type, definitions: &'a [Definition]) -> &'a Type {
    let mut current = ty;
    for _ in 0..=definitions.len() {
        match &current.kind {
            TypeKind::Reference(id) => current = &definitions[id.0].ty,
            _ => break,
        }
    }
    current
}
