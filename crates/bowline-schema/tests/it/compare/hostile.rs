//! Schemas that are invalid, recursive, contradictory, deep or large.

use bowline_schema::compare::{ChangeKind, Comparison, Usage, compare};
use serde_json::{Map, Value, json};

/// Compares in both directions and usages, which must end.
#[track_caller]
fn kinds(old: &Value, new: &Value) -> [ChangeKind; 2] {
    [Usage::Input, Usage::Output].map(|usage| checked(old, new, usage).kind())
}

/// Compares, and checks what holds for every result.
#[track_caller]
fn checked(old: &Value, new: &Value, usage: Usage) -> Comparison {
    let found = compare(old, new, usage);
    let worst = found.differences().iter().map(|it| it.kind).max();
    assert_eq!(worst.unwrap_or(ChangeKind::Identical), found.kind());
    assert!(found.differences().len() <= 100);
    for difference in found.differences() {
        assert!(difference.message.len() < 1000, "{}", difference.message);
    }
    found
}

const SAME: [ChangeKind; 2] = [ChangeKind::Identical; 2];
const TEXT: [ChangeKind; 2] = [ChangeKind::TextOnly; 2];
const BREAKING: [ChangeKind; 2] = [ChangeKind::Breaking; 2];

/// Returns a schema within as many others.
fn nested(depth: usize, innermost: Value) -> Value {
    (0..depth).fold(innermost, |inner, _| {
        Value::Object(Map::from_iter([("items".to_owned(), inner)]))
    })
}

#[test]
fn what_is_no_schema_is_breaking_unless_it_is_the_same() {
    let valid = json!({"type": "string"});
    for schema in [
        json!(7),
        json!(null),
        json!("text"),
        json!([]),
        json!({"type": "text"}),
        json!({"type": []}),
        json!({"type": 7}),
        json!({"minLength": -1}),
        json!({"minLength": "1"}),
        json!({"pattern": 7}),
        json!({"allOf": []}),
        json!({"anyOf": {}}),
        json!({"oneOf": 7}),
        json!({"$ref": 7}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "#nobody"}),
        json!({"$recursiveRef": "#"}),
        json!({"not": 7}),
        json!({"if": 7, "then": false}),
    ] {
        assert_eq!(kinds(&schema, &schema.clone()), SAME, "{schema}");
        assert_eq!(
            compare(&valid, &schema, Usage::Input).kind(),
            ChangeKind::Breaking,
            "{schema}"
        );
        assert_eq!(
            compare(&schema, &valid, Usage::Output).kind(),
            ChangeKind::Breaking,
            "{schema}"
        );
        if schema.is_object() {
            let mut other = schema.clone();
            other["description"] = json!("new");
            assert_eq!(kinds(&schema, &other), TEXT, "{schema}");
        }
    }
}

#[test]
fn a_schema_that_only_leads_to_itself_is_breaking_unless_it_is_the_same() {
    let valid = json!({"type": "string"});
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "integer"}]}),
        json!({"not": {"$ref": "#"}}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"if": {"$ref": "#"}, "then": {"$ref": "#"}}),
    ] {
        assert_eq!(kinds(&schema, &schema.clone()), SAME, "{schema}");
        assert_eq!(
            compare(&valid, &schema, Usage::Input).kind(),
            ChangeKind::Breaking,
            "{schema}"
        );
        let mut other = schema.clone();
        other["title"] = json!("new");
        assert_eq!(kinds(&schema, &other), TEXT, "{schema}");
    }
}

#[test]
fn recursive_schemas_are_compared() {
    let list = |item: Value| {
        json!({
            "$ref": "#/$defs/list",
            "$defs": {
                "list": {
                    "anyOf": [
                        {"type": "null"},
                        {
                            "type": "object",
                            "properties": {"head": item, "tail": {"$ref": "#/$defs/list"}},
                            "required": ["head", "tail"],
                            "additionalProperties": false,
                        },
                    ],
                },
            },
        })
    };
    let [narrow, wide] = ["integer", "number"].map(|it| list(json!({"type": it})));
    assert_eq!(
        kinds(&narrow, &wide),
        [ChangeKind::Compatible, ChangeKind::Breaking]
    );
    assert_eq!(
        kinds(&wide, &narrow),
        [ChangeKind::Breaking, ChangeKind::Compatible]
    );
    // Two definitions that refer to each other instead of one.
    let mutual = json!({
        "items": {"$ref": "#/$defs/even"},
        "$defs": {
            "even": {"type": "array", "items": {"$ref": "#/$defs/odd"}},
            "odd": {"type": "array", "items": {"$ref": "#/$defs/even"}},
        },
    });
    let one = json!({"items": {"$ref": "#/$defs/all"}, "$defs": {"all": {"type": "array", "items": {"$ref": "#/$defs/all"}}}});
    assert_eq!(kinds(&mutual, &one), TEXT);
    let [first, second] = ["string", "null"].map(|it| {
        json!({
            "items": {"$ref": "#/$defs/even"},
            "$defs": {
                "even": {"items": {"$ref": "#/$defs/odd"}},
                "odd": {"type": ["array", it], "items": {"$ref": "#/$defs/even"}},
            },
        })
    });
    assert_eq!(kinds(&first, &second), BREAKING);
}

#[test]
fn what_was_assumed_in_a_proof_that_failed_is_forgotten() {
    let document = |first: Value, kind: &str| {
        json!({
            "properties": {"p": first, "q": {"$ref": "#/$defs/b"}},
            "$defs": {
                "a": {"properties": {"b": {"$ref": "#/$defs/b"}, "y": {"type": kind}}},
                "b": {"properties": {"back": {"$ref": "#/$defs/a"}}},
            },
        })
    };
    let old = document(json!({"$ref": "#/$defs/a"}), "string");
    // `p` is included in the second alternative, `q` in nothing.
    let new = document(json!({"anyOf": [{"$ref": "#/$defs/a"}, {}]}), "integer");
    assert_eq!(
        compare(&old, &new, Usage::Input).kind(),
        ChangeKind::Breaking
    );
}

#[test]
fn contradictions_and_booleans() {
    let nothing = [
        json!(false),
        json!({"not": {}}),
        json!({"type": "string", "const": 7}),
        json!({"enum": []}),
        json!({"allOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"type": "object", "required": ["a"], "properties": {"a": false}}),
    ];
    for schema in &nothing {
        let input = compare(schema, &json!({"type": "string"}), Usage::Input).kind();
        // `not` is not taken apart.
        let is_known = schema.get("not").is_none();
        assert_eq!(input != ChangeKind::Breaking, is_known, "{schema}");
        assert_eq!(
            compare(&json!({}), schema, Usage::Input).kind(),
            ChangeKind::Breaking
        );
        assert!(compare(&json!(true), schema, Usage::Output).kind() <= ChangeKind::Compatible);
    }
    assert_eq!(
        kinds(&json!(true), &json!(false)),
        [ChangeKind::Breaking, ChangeKind::Compatible]
    );
}

#[test]
fn embedded_resources_are_told_apart() {
    let document = |inner: &str, root: Value| {
        json!({
            "$id": "https://example.com/root",
            "properties": {"a": {"$ref": "https://example.com/inner"}, "b": {"$ref": "#/$defs/x"}},
            "$defs": {
                "x": root,
                "inner": {"$id": "https://example.com/inner", "$ref": "#/$defs/x", "$defs": {"x": {"type": inner}}},
            },
        })
    };
    let old = document("integer", json!(true));
    let wider = document("number", json!(true));
    assert_eq!(
        kinds(&old, &wider),
        [ChangeKind::Compatible, ChangeKind::Breaking]
    );
    let found = checked(&old, &wider, Usage::Input);
    assert_eq!(found.differences()[0].pointer, "/$defs/inner/$defs/x/type");
    // A relative URI may name anything, so nothing is known about it.
    let relative =
        |kind: &str| json!({"$ref": "inner", "$defs": {"i": {"$id": "inner", "type": kind}}});
    assert_eq!(kinds(&relative("string"), &relative("integer")), BREAKING);
    assert_eq!(kinds(&relative("string"), &relative("string")), SAME);
}

#[test]
fn remote_references_are_compared_by_their_uri() {
    let to = |uri: &str, length: u32| json!({"$ref": uri, "maxLength": length});
    let same = kinds(
        &to("https://example.com/a#/x", 1),
        &to("https://example.com/a#/x", 2),
    );
    assert_eq!(same, [ChangeKind::Compatible, ChangeKind::Breaking]);
    assert_eq!(
        kinds(
            &to("https://example.com/a", 1),
            &to("https://example.com/b", 1)
        ),
        BREAKING
    );
    assert_eq!(kinds(&to("a.json", 1), &to("a.json#", 2)), BREAKING);
}

#[test]
fn what_is_deep_is_breaking_unless_it_is_the_same() {
    for depth in [60, 99, 150, 10_000] {
        let schema = || nested(depth, json!({"type": "integer"}));
        let documents = [
            schema(),
            schema(),
            nested(depth, json!({"type": "integer", "title": "new"})),
            nested(depth, json!({"type": "string"})),
            nested(depth, json!({"type": "number"})),
        ];
        let [one, same, text, other, wider] = &documents;
        assert_eq!(kinds(one, same), SAME);
        assert_eq!(kinds(one, text), TEXT);
        assert_eq!(kinds(one, other), BREAKING);
        let expected = match depth < 100 {
            true => ChangeKind::Compatible,
            false => ChangeKind::Breaking,
        };
        assert_eq!(
            compare(one, wider, Usage::Input).kind(),
            expected,
            "{depth}"
        );
        // To drop what is this deep takes more stack than there is.
        std::mem::forget(documents);
    }
}

#[test]
fn every_keyword_may_be_deep() {
    let levels: [fn(Value) -> Value; 11] = [
        |it| json!({"properties": {"a": it}, "required": ["a"]}),
        |it| json!({"additionalProperties": it}),
        |it| json!({"patternProperties": {"a": it}, "additionalProperties": false}),
        |it| json!({"prefixItems": [it]}),
        |it| json!({"contains": it}),
        |it| json!({"anyOf": [it, {"type": "null"}]}),
        |it| json!({"oneOf": [{"type": "null"}, {"properties": {"a": it}, "type": "object"}]}),
        |it| json!({"allOf": [it]}),
        |it| json!({"not": it}),
        |it| json!({"if": {"type": ["integer", "string"]}, "then": it}),
        |it| json!({"dependentSchemas": {"a": it}}),
    ];
    for depth in [20, 110] {
        for (at, level) in levels.iter().enumerate() {
            let [old, same, new] = ["integer", "integer", "string"].map(|it| {
                let innermost = json!({"type": it, "maximum": 5});
                (0..depth).fold(innermost, |inner, _| level(inner))
            });
            assert_eq!(kinds(&old, &same), SAME);
            assert_eq!(kinds(&old, &new), BREAKING, "{at} at {depth}");
        }
    }
}

#[test]
fn a_deep_part_that_is_the_same_does_not_matter() {
    let deep = || nested(10_000, json!({"type": "integer"}));
    let object = |deep, maximum| {
        let mut object = json!({"properties": {"a": {"maximum": maximum}}});
        object["properties"]["deep"] = deep;
        object
    };
    let (old, new) = (object(deep(), 5), object(deep(), 6));
    assert_eq!(
        kinds(&old, &new),
        [ChangeKind::Compatible, ChangeKind::Breaking]
    );
    std::mem::forget((old, new));
    let list = |innermost| (0..10_000).fold(innermost, |inner, _| Value::Array(vec![inner]));
    let values = |innermost| Value::Object(Map::from_iter([("const".to_owned(), list(innermost))]));
    let (old, same, new) = (values(json!(1)), values(json!(1)), values(json!(2)));
    assert_eq!(kinds(&old, &same), SAME);
    assert_eq!(kinds(&old, &new), BREAKING);
    std::mem::forget((old, same, new));
}

#[test]
fn long_chains_of_references_end() {
    let chain = |length: usize, last: Value| {
        let link = |at: usize| {
            let next = format!("#/$defs/d{}", at + 1);
            (format!("d{at}"), json!({"$ref": next}))
        };
        let mut defs: Map<String, Value> = (0..length).map(link).collect();
        defs.insert(format!("d{length}"), last);
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    };
    let (old, new) = (json!({"type": "integer"}), json!({"type": "number"}));
    let short = kinds(&chain(50, old.clone()), &chain(50, new.clone()));
    assert_eq!(short, [ChangeKind::Compatible, ChangeKind::Breaking]);
    let [one, same, other] = [&old, &old, &new].map(|it| chain(10_000, it.clone()));
    assert_eq!(kinds(&one, &same), SAME);
    assert_eq!(
        compare(&one, &other, Usage::Input).kind(),
        ChangeKind::Breaking
    );
}

#[test]
fn work_that_doubles_at_each_level_ends() {
    let doubling = |keyword: &str, last: Value| {
        let levels = 60;
        let mut defs = Map::new();
        for level in 0..levels {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            let twice = json!({keyword: [next, {"allOf": [next, true]}]});
            defs.insert(format!("d{level}"), twice);
        }
        defs.insert(format!("d{levels}"), last);
        json!({"$ref": "#/$defs/d0", "$defs": defs})
    };
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let old = doubling(keyword, json!({"type": "integer", "maximum": 5}));
        let new = doubling(keyword, json!({"type": "string"}));
        let [input, _] = kinds(&old, &new);
        // A value is never valid for exactly one of two that are the same.
        let expected = keyword == "oneOf" || input == ChangeKind::Breaking;
        assert!(expected, "{keyword}: {input}");
        assert_eq!(kinds(&old, &old.clone()), SAME);
    }
}

#[test]
fn large_schemas_are_compared() {
    let object = |count: usize, last: Value| {
        let text = "Some words about this member, which take a few bytes more. ".repeat(12);
        let member = |at: usize| {
            let schema = json!({"type": "string", "maxLength": at, "description": text});
            (format!("member{at:05}"), schema)
        };
        let mut members: Map<String, Value> = (0..count).map(member).collect();
        members.insert("last".to_owned(), last);
        json!({"type": "object", "properties": members})
    };
    let old = object(7_000, json!({"type": "integer"}));
    assert!(
        old.to_string().len() > 5_000_000,
        "{}",
        old.to_string().len()
    );
    let new = object(7_000, json!({"type": "number"}));
    assert_eq!(
        kinds(&old, &new),
        [ChangeKind::Compatible, ChangeKind::Breaking]
    );
    let found = checked(&old, &new, Usage::Input);
    assert_eq!(found.differences().len(), 1);
    assert_eq!(found.differences()[0].pointer, "/properties/last/type");
    let fewer = object(1_000, json!({"type": "integer"}));
    let found = checked(&old, &fewer, Usage::Input);
    assert_eq!((found.differences().len(), found.omitted()), (100, 5_900));
}

#[test]
fn many_values_and_alternatives_are_compared() {
    let wider = [ChangeKind::Compatible, ChangeKind::Breaking];
    let values = |count: usize| json!({"enum": (0..count).collect::<Vec<_>>()});
    assert_eq!(kinds(&values(20_000), &values(20_001)), wider);
    for keyword in ["anyOf", "oneOf"] {
        let many = |count: usize| {
            let variant = |at: usize| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": at}}});
            json!({keyword: (0..count).rev().map(variant).collect::<Vec<_>>()})
        };
        assert_eq!(kinds(&many(100), &many(101)), wider, "{keyword}");
    }
}

#[test]
fn what_is_too_much_is_said_to_be_so() {
    let patterns = |count: usize| {
        let pattern = |at: usize| (format!("^[a-z]{{1,{at}}}x$"), json!({"maxLength": at}));
        let name = |at: usize| (format!("name{at}"), json!({"maxLength": at}));
        json!({
            "properties": (0..count).map(name).collect::<Map<_, _>>(),
            "patternProperties": (1..count).map(pattern).collect::<Map<_, _>>(),
            "additionalProperties": false,
        })
    };
    let (old, new) = (patterns(1_000), patterns(1_001));
    assert_eq!(kinds(&old, &patterns(1_000)), SAME);
    let found = checked(&old, &new, Usage::Input);
    assert_eq!(found.kind(), ChangeKind::Breaking);
    let message = &found.differences()[0].message;
    assert!(message.contains("too large to compare"), "{message}");
}

#[test]
fn one_document_may_be_a_part_of_the_other() {
    let document = json!({
        "properties": {"a": {"$ref": "#/$defs/x", "$defs": {"x": {"type": "integer"}}}},
        "$defs": {"x": {"type": "string"}},
    });
    let part = &document["properties"]["a"];
    let copy = part.clone();
    for usage in [Usage::Input, Usage::Output] {
        assert_eq!(
            compare(&document, part, usage),
            compare(&document, &copy, usage)
        );
        assert_eq!(
            compare(part, &document, usage),
            compare(&copy, &document, usage)
        );
    }
}
