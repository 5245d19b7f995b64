//! Tests of the cost of checking hostile values.
//!
//! They count steps and do not measure time.

use serde_json::{Value, json};

use crate::validate::{
    Validator,
    budget::{CheckBudget, MAX_STEPS},
    equal,
    explain::MAX_ERRORS,
};

fn steps(schema: &Value, value: &Value) -> u64 {
    let validator = Validator::new(schema).expect("a schema");
    let budget = CheckBudget::new(MAX_STEPS);
    validator.check_fail_fast(value, &budget);
    MAX_STEPS - budget.remaining()
}

/// Doubling the value may double the work, but not quadruple it.
#[track_caller]
fn is_linear(schema: &Value, value: impl Fn(usize) -> Value) {
    let (few, many) = (steps(schema, &value(1000)), steps(schema, &value(8000)));
    assert!(many < MAX_STEPS, "{schema}: {many} steps");
    assert!(many <= 9 * few, "{few} and {many} steps: {schema}");
    assert!(few > 500, "{few} steps are not all of the work: {schema}");
}

fn object(members: usize) -> Value {
    let members = (0..members).map(|at| (format!("m{at:05}"), json!(at)));
    Value::Object(members.collect())
}

#[test]
fn the_work_is_linear_in_the_size_of_the_value() {
    let numbers = |count: usize| (0..count).collect::<Value>();
    let objects = |count: usize| (0..count).map(|at| json!({"id": at})).collect::<Value>();
    let many: Vec<String> = (0..1000).map(|at| format!("o{at}")).collect();
    is_linear(&json!({"uniqueItems": true}), numbers);
    is_linear(&json!({"uniqueItems": true}), objects);
    is_linear(&json!({"items": {"enum": many}}), |count| {
        (0..count).map(|at| format!("o{}", at % 1000)).collect()
    });
    is_linear(&json!({"contains": {"type": "string"}}), numbers);
    is_linear(
        &json!({"properties": {"m00001": {}}, "additionalProperties": {"type": "integer"}}),
        object,
    );
    is_linear(
        &json!({"patternProperties": {"^m": {}}, "additionalProperties": false}),
        object,
    );
    is_linear(&json!({"propertyNames": {"maxLength": 9}}), object);
    is_linear(
        &json!({"anyOf": [{"properties": {"m00001": {}}}, {"minProperties": 1}], "unevaluatedProperties": {"type": "integer"}}),
        object,
    );
    is_linear(&json!({"pattern": "(a|b)+c"}), |count| {
        json!("ab".repeat(count))
    });
}

#[test]
fn sorting_the_members_of_an_object_counts() {
    let schema = json!({"uniqueItems": true});
    let few = steps(&schema, &json!([object(1000)]));
    let many = steps(&schema, &json!([object(64_000)]));
    // 64 times as many, each compared with 16 others instead of 10.
    assert!(few > 10 * 1000, "{few} steps");
    assert!(many > 80 * few, "{few} and {many} steps");
    // Long names take longer to compare.
    let long = |at: usize| (format!("{}{at:05}", "m".repeat(320)), json!(at));
    let long = Value::Object((0..1000).map(long).collect());
    assert!(steps(&schema, &json!([long])) > 5 * few);
}

#[test]
fn items_are_not_compared_with_each_other() {
    // As many as a body of half a megabyte has.
    let mut items: Vec<Value> = (0..80_000).map(Value::from).collect();
    let validator = Validator::new(&json!({"uniqueItems": true})).expect("a schema");
    let before = equal::comparisons();
    assert!(validator.is_valid(&Value::from(items.clone())));
    items[0] = json!(79_999.0);
    assert!(!validator.is_valid(&Value::from(items.clone())));
    // The hash table compares some that only have similar hashes.
    assert!(equal::comparisons() - before < 80_000);
    // Nor with each of the options.
    let options: Vec<u32> = (0..80_000).collect();
    let validator = Validator::new(&json!({"items": {"enum": options}})).expect("a schema");
    let before = equal::comparisons();
    assert!(validator.is_valid(&Value::from(items)));
    assert!(equal::comparisons() - before < 80_100);
}

/// Returns a schema that begins with this reference, to others that apply the
/// next one twice at each level.
fn doubling(mut schema: Value) -> Value {
    let levels = 60;
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let twice = json!({"anyOf": [next, {"allOf": [next, true]}]});
        defs.insert(format!("d{level}"), twice);
    }
    defs.insert(format!("d{levels}"), json!({"type": "string"}));
    schema["$defs"] = defs.into();
    schema
}

#[test]
fn what_is_too_much_is_refused() {
    let nested = (0..60).fold(
        json!({"type": "object"}),
        |inner, _| json!({"allOf": [inner], "unevaluatedProperties": {"type": "integer"}}),
    );
    let first = json!({"$ref": "#/$defs/d0"});
    let ambiguous = json!({"pattern": "([a-z]{1,200}){1,20}x$"});
    for (schema, value) in [
        (doubling(first.clone()), json!(1)),
        (doubling(json!({"not": first})), json!(1)),
        (doubling(json!({"if": first, "else": true})), json!(1)),
        (
            doubling(json!({"oneOf": [{"not": first}, false]})),
            json!(1),
        ),
        (nested, json!({"a": 1})),
        (ambiguous, json!("a".repeat(100_000))),
    ] {
        let validator = Validator::new(&schema).expect("a schema");
        let budget = CheckBudget::new(100_000);
        assert!(!validator.check_fail_fast(&value, &budget), "{schema}");
        assert!(budget.is_exhausted(), "{schema}");
    }
}

#[test]
fn what_is_too_much_is_told_as_such() {
    let validator = doubling(json!({"not": {"$ref": "#/$defs/d0"}}));
    let validator = Validator::new(&validator).expect("a schema");
    assert!(!validator.is_valid(&json!(1)));
    let faults = validator.errors(&json!(1));
    let [fault] = &faults[..] else {
        panic!("{faults:?}");
    };
    let message = &fault.message;
    assert!(message.contains("too much to check"), "{message}");
}

#[test]
fn faults_are_few_and_short_whatever_the_value() {
    let long = "x".repeat(1_000_000);
    let strings: Vec<&str> = vec![&long; 4];
    for (schema, value) in [
        (json!({"items": {"type": "string"}}), (0..100_000).collect()),
        (json!({"items": {"type": "integer"}}), json!(strings)),
        (
            json!({"items": {"items": {"type": "string"}}}),
            json!(vec![vec![1; 100]; 100]),
        ),
        (json!({"uniqueItems": true}), json!(vec![1; 100_000])),
        (json!({"additionalProperties": false}), object(100_000)),
        (
            json!({"additionalProperties": {"type": "string"}}),
            object(100_000),
        ),
        (
            json!({"additionalProperties": {"type": "string"}}),
            json!({long.clone(): 1}),
        ),
        (
            json!({"additionalProperties": false}),
            json!({long.clone(): 1}),
        ),
        (json!({"enum": [1]}), json!(long)),
        (json!({"enum": [long, strings]}), json!(1)),
        (json!({"const": strings}), json!(1)),
        (
            json!({"properties": {&*long: {}}, "additionalProperties": false}),
            json!({"x": 1}),
        ),
        (
            json!({"anyOf": [{"const": strings}, {"required": [long]}]}),
            json!({}),
        ),
    ] {
        let faults = Validator::new(&schema).expect("a schema").errors(&value);
        assert!((1..=MAX_ERRORS).contains(&faults.len()), "{schema}");
        for fault in faults {
            let length = fault.pointer.len() + fault.message.len();
            assert!(length < 1000, "{schema}: {length} bytes");
        }
    }
}
