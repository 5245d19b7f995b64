//! Whatever the schema, its types are printed, compared and written as a schema.

use bowline_schema::{
    Validator,
    print::signature::{Detail, PrintBudget, Printer},
    shape::Shape,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

/// Schemas that refer to themselves and to each other, some of them wrong.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, one, other)| {
        let mut root = match root {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        root.insert("$defs".to_owned(), json!({"A": one, "B b/~": other}));
        Value::Object(root)
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!(false)),
        Just(json!({})),
        Just(json!(7)),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/$defs/A"})),
        Just(json!({"$ref": "#/$defs/B%20b~1~0"})),
        Just(json!({"type": ["string", "null"], "pattern": "(", "minLength": 2})),
        Just(json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9.5, "multipleOf": -1})),
        Just(json!({"enum": ["a", 1, null, {"a": 1}], "default": "a"})),
        Just(json!({"type": "object", "required": ["a", "z", 7]})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let names = prop::sample::select(vec!["a", "b", "c"]);
        let members = vec((names, inner.clone()), 0..4);
        let members = members.prop_map(|members| {
            let members = members.into_iter();
            members.map(|(name, schema)| (name.to_owned(), schema))
        });
        let members = members.prop_map(|members| Value::Object(members.collect()));
        let keywords = vec!["anyOf", "oneOf", "allOf", "prefixItems"];
        let keywords = (prop::sample::select(keywords), vec(inner.clone(), 1..4));
        prop_oneof![
            (members.clone(), inner.clone()).prop_map(|(members, others)| {
                json!({"properties": members, "additionalProperties": others, "required": ["a"]})
            }),
            (members, keywords.clone()).prop_map(|(members, (keyword, schemas))| {
                json!({"properties": members, (keyword): schemas})
            }),
            keywords.prop_map(|(keyword, schemas)| json!({(keyword): schemas})),
            inner.prop_map(|items| json!({"items": items, "maxItems": 2})),
        ]
    })
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!("a")),
        Just(json!("abc")),
        Just(json!(1)),
        Just(json!({})),
        Just(json!([])),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::Array),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"a": a, "b": b})),
        ]
    })
}

proptest! {
    #[test]
    fn every_shape_has_its_uses(schema in document(), value in value()) {
        let shape = Shape::new(schema.clone());
        for detail in [Detail::SHORT, Detail::PAGE, Detail::FULL] {
            let budget = PrintBudget::new(2_000);
            let printer = Printer::new(&shape, detail, &budget);
            let printed = printer.expression(shape.root());
            prop_assert!(!printed.is_empty() && printed.len() < 200_000, "{printed}");
            prop_assert!(printer.named_types().len() <= 3);
        }
        match Validator::new(&shape.to_schema()) {
            // It compares names more strictly, and some other things not at all.
            Ok(plain) if shape.fits(shape.root(), &value) => {
                prop_assert!(plain.is_valid(&value) || has_defaults(&schema), "{schema}");
            }
            Ok(_) => {}
            Err(error) => {
                let is_recursive = error.to_string().contains("infinitely recursive");
                prop_assert!(is_recursive, "{error}");
            }
        }
    }
}

/// Members that have a default may be absent.
fn has_defaults(schema: &Value) -> bool {
    schema.to_string().contains("default")
}
