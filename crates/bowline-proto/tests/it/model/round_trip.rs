//! What this crate does not know survives: members, values, kinds.

use proptest::{prelude::*, sample::Index};
use serde_json::{Map, Value, json};

use super::fixtures;

/// Keys whose value is a map from names to one known type, so that a stranger
/// there is a bad value, not an unknown member.
const MAPS: &[&str] = &["arguments", "inputRequests", "error"];

/// Keys whose value is an open set of strings.
const OPEN: &[&str] = &[
    "action",
    "audience",
    "cacheScope",
    "format",
    "includeContext",
    "level",
    "mode",
    "resultType",
    "role",
    "status",
    "stopReason",
    "taskSupport",
    "theme",
    "type",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn unknown_members_survive_at_any_level(
        fixture in any::<Index>(),
        strangers in prop::collection::vec((any::<Index>(), "[a-z\\\\\"/é]{1,6}", value()), 1..5),
    ) {
        let fixture = fixture.get(&fixtures::ALL);
        let mut json = fixture.json.clone();
        for (place, key, value) in strangers {
            let mut count = 0;
            each_object(&mut json, &mut |_| count += 1);
            if count == 0 {
                break;
            }
            let mut until = place.index(count);
            each_object(&mut json, &mut |object| {
                if until == 0 {
                    object.insert(format!("x {key}"), value.clone());
                }
                until = until.wrapping_sub(1);
            });
        }
        let back = (fixture.kind.round_trip)(&json.to_string());
        prop_assert_eq!(back, Ok(json), "{} {}", fixture.kind.name, fixture.case);
    }

    #[test]
    fn unknown_values_and_kinds_survive(
        fixture in any::<Index>(),
        place in any::<Index>(),
        stranger in "[a-z]{9,12}",
    ) {
        let fixture = fixture.get(&fixtures::ALL);
        let mut json = fixture.json.clone();
        let mut open = Vec::new();
        collect_open("", &mut json, &mut open);
        if !open.is_empty() {
            let at = place.index(open.len());
            *open.swap_remove(at) = Value::String(stranger);
        }
        let back = (fixture.kind.round_trip)(&json.to_string());
        prop_assert_eq!(back, Ok(json), "{} {}", fixture.kind.name, fixture.case);
    }
}

/// Any small JSON value.
fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        any::<u32>().prop_map(|n| json!({"deep": [n, {"er": null}]})),
    ]
}

/// Visits all objects to which a member can be added.
fn each_object(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Array(items) => {
            for item in items {
                each_object(item, visit);
            }
        }
        Value::Object(members) => {
            for (key, value) in members.iter_mut() {
                if !MAPS.contains(&key.as_str()) {
                    each_object(value, visit);
                }
            }
            visit(members);
        }
        _ => {}
    }
}

/// All strings that may be any other.
fn collect_open<'a>(key: &str, value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Array(items) => {
            for item in items {
                collect_open(key, item, found);
            }
        }
        Value::Object(members) => {
            for (key, value) in members {
                collect_open(key, value, found);
            }
        }
        // A form is always an object.
        Value::String(text) if OPEN.contains(&key) && text != "object" => found.push(value),
        _ => {}
    }
}
