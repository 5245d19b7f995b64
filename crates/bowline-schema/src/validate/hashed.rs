//! Hashing of values, to find one among many.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, Hash, Hasher, RandomState},
};

use serde_json::{Number, Value};

use super::equal::{as_i128, json_equal, same_text};

/// A value that hashes and compares by its JSON value, however it is written.
///
/// Values come from callers, so they are hashed with a key that callers do not
/// know: no one can send many with the same hash.
#[derive(Clone, Copy)]
struct HashedValue<'a>(&'a Value);

impl PartialEq for HashedValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        json_equal(self.0, other.0)
    }
}

impl Eq for HashedValue<'_> {}

impl Hash for HashedValue<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.0 {
            Value::Null => state.write_u8(0),
            Value::Bool(yes) => state.write_u8(1 + u8::from(*yes)),
            Value::Number(number) => hash_number(number, state),
            Value::String(text) => {
                state.write_u8(4);
                text.hash(state);
            }
            Value::Array(items) => {
                state.write_u8(5);
                state.write_usize(items.len());
                items.iter().for_each(|item| HashedValue(item).hash(state));
            }
            Value::Object(members) => {
                state.write_u8(6);
                state.write_usize(members.len());
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                for (name, member) in members {
                    name.hash(state);
                    HashedValue(member).hash(state);
                }
            }
        }
    }
}

/// Hashes a number. `1` and `1.0` are the same number and have the same hash.
fn hash_number<H: Hasher>(number: &Number, state: &mut H) {
    state.write_u8(3);
    match as_i128(number) {
        Some(whole) => state.write_i128(whole),
        None => state.write_u64(number.as_f64().unwrap_or(f64::NAN).to_bits()),
    }
}

/// Returns the index of the first value that is the same as one before it. Linear in
/// their size.
pub(super) fn first_repeated(values: &[Value]) -> Option<usize> {
    let mut seen = HashSet::with_capacity(values.len());
    let mut values = values.iter();
    values.position(|value| !seen.insert(HashedValue(value)))
}

/// The values of an `enum`.
#[derive(Clone, Debug)]
pub(super) struct EnumValues {
    values: Vec<Value>,
    /// Indices, by hash. Empty if there are few.
    by_hash: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
}

impl EnumValues {
    /// Up to this many values are compared one by one, which is faster than hashing.
    const FEW: usize = 8;

    pub(super) fn new(values: &[Value]) -> Self {
        let hasher = RandomState::new();
        let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
        let hashed = if values.len() > Self::FEW {
            values
        } else {
            &[]
        };
        for (index, value) in hashed.iter().enumerate() {
            let hash = hasher.hash_one(HashedValue(value));
            by_hash.entry(hash).or_default().push(index);
        }
        Self {
            values: values.to_vec(),
            by_hash,
            hasher,
        }
    }

    /// Returns the values in their original order.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(super) fn contains(&self, value: &Value) -> bool {
        if self.by_hash.is_empty() {
            let mut values = self.values.iter();
            return match value {
                // This is what nearly all of them are.
                Value::String(text) => values.any(|it| {
                    it.as_str()
                        .is_some_and(|it| same_text(it.as_bytes(), text.as_bytes()))
                }),
                _ => values.any(|it| json_equal(it, value)),
            };
        }
        let indices = self.by_hash.get(&self.hasher.hash_one(HashedValue(value)));
        let mut indices = indices.into_iter().flatten();
        indices.any(|index| json_equal(&self.values[*index], value))
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, sample::select};
    use serde_json::json;

    use super::*;

    /// The reference implementation, one by one.
    fn all_unique_pairwise(values: &[Value]) -> bool {
        let pairs = values.iter().enumerate();
        let mut pairs = pairs.flat_map(|(at, one)| values[..at].iter().map(move |it| (it, one)));
        pairs.all(|(one, other)| !json_equal(one, other))
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = select(vec![
            json!(null),
            json!(true),
            json!(0),
            json!(-0.0),
            json!(1),
            json!(1.0),
            json!(-1),
            json!(0.1),
            json!(1e20),
            json!(1e300),
            json!(9_007_199_254_740_993_i64),
            json!(9_007_199_254_740_992.0),
            json!(u64::MAX),
            json!(18_446_744_073_709_551_615.0),
            json!(i64::MIN),
            json!(-9_223_372_036_854_775_808.0),
            json!(""),
            json!("1"),
            json!("a"),
        ]);
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::vec(("[ab]", inner), 0..3).prop_map(|members| {
                    // In any order.
                    members.into_iter().collect()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn unique_items_are_those_that_differ_pair_by_pair(
            items in prop::collection::vec(value(), 0..8)
        ) {
            let expected = all_unique_pairwise(&items);
            prop_assert_eq!(first_repeated(&items).is_none(), expected);
            let schema = json!({"uniqueItems": true});
            let reference = jsonschema::draft202012::new(&schema).expect("a schema");
            // The other implementation reads both of these as the same double.
            let exact = [json!(u64::MAX), json!(9_007_199_254_740_993_i64), json!(i64::MIN)];
            let text = serde_json::to_string(&items).expect("it is JSON");
            if !exact.iter().any(|it| text.contains(&it.to_string())) {
                prop_assert_eq!(reference.is_valid(&Value::from(items)), expected);
            }
        }

        #[test]
        fn an_option_is_found_if_it_is_the_same_as_one(
            options in prop::collection::vec(value(), 0..16),
            value in value(),
        ) {
            let expected = options.iter().any(|option| json_equal(option, &value));
            prop_assert_eq!(EnumValues::new(&options).contains(&value), expected);
        }
    }
}
