//! That a schema is the same as itself, whatever it is.

use bowline_schema::compare::{ChangeKind, Usage, compare};
use serde_json::{Value, json};

use super::{random::document, soundness::check};

/// Changes what does not matter about a schema: adds a definition that nothing uses.
fn written_differently(schema: &Value) -> Option<Value> {
    let mut members = schema.as_object()?.clone();
    let defs = members.entry("$defs").or_insert(json!({}));
    defs.as_object_mut()?
        .insert("unused, surely".to_owned(), json!({"type": "null"}));
    Some(Value::Object(members))
}

/// Returns whether it refers to other documents by a URI that depends on where this one
/// is, which is never known to be the same.
fn has_relative_reference(schema: &Value) -> bool {
    let text = schema.to_string();
    text.contains("\"$id\"") || text.contains("$dynamicRef") || text.contains("$recursiveRef")
}

/// Tests with the official suite, which `cargo xtask peers` installs.
mod peers {
    use std::{fs, path::Path};

    use bowline_schema::compare::{ChangeKind, Usage, compare};
    use serde_json::Value;

    use super::{has_relative_reference, written_differently};

    #[test]
    fn every_schema_of_the_official_suite_is_the_same_as_itself() {
        let (mut schemas, mut with_ids) = (0, 0);
        for group in suite() {
            let schema = &group["schema"];
            for usage in [Usage::Input, Usage::Output] {
                let same = compare(schema, &schema.clone(), usage);
                assert_eq!(same.kind(), ChangeKind::Identical, "{schema}");
                assert_eq!(same.differences(), []);
                let Some(other) = written_differently(schema) else {
                    continue;
                };
                let other = compare(schema, &other, usage);
                let is_text = other.kind() == ChangeKind::TextOnly;
                assert!(
                    is_text || has_relative_reference(schema),
                    "{schema}: {other:?}"
                );
                with_ids += usize::from(!is_text);
            }
            schemas += 1;
        }
        assert!(schemas > 900, "{schemas} schemas");
        assert!(
            with_ids < 150,
            "{with_ids} that are not known to be the same"
        );
    }

    /// Returns all groups of tests, of all drafts that are supported in part.
    fn suite() -> Vec<Value> {
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let suite = workspace.join("target/peers/json-schema-test-suite/tests");
        let mut groups = Vec::new();
        for draft in ["draft7", "draft2019-09", "draft2020-12"] {
            let folder = suite.join(draft);
            let entries = fs::read_dir(&folder).unwrap_or_else(|error| {
                panic!("{}: {error}; run `cargo xtask peers`", folder.display())
            });
            let paths = entries.map(|entry| entry.expect("it is readable").path());
            for path in paths.filter(|path| path.extension().is_some_and(|it| it == "json")) {
                let text = fs::read_to_string(&path).expect("it is readable");
                let all: Vec<Value> = serde_json::from_str(&text).expect("it is JSON");
                groups.extend(all);
            }
        }
        groups
    }
}

#[test]
fn every_random_schema_is_the_same_as_itself() {
    check(&document(), |schema| {
        for usage in [Usage::Input, Usage::Output] {
            let same = compare(schema, &schema.clone(), usage).kind();
            let other = written_differently(schema).expect("an object");
            let other = compare(schema, &other, usage);
            if (same, other.kind()) != (ChangeKind::Identical, ChangeKind::TextOnly) {
                return Err(format!("{same} and {other:?}: {schema}"));
            }
        }
        Ok(())
    });
}

#[test]
fn a_schema_in_another_is_shown_to_be_the_same() {
    check(&document(), |schema| {
        let other = json!({"allOf": [schema], "$defs": schema["$defs"]});
        for usage in [Usage::Input, Usage::Output] {
            let found = compare(schema, &other, usage);
            if found.kind() != ChangeKind::TextOnly {
                return Err(format!("{found:?}: {schema}"));
            }
        }
        Ok(())
    });
}
