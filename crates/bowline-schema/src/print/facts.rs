//! What a schema says about values beyond their type, in words.

use crate::shape::{Bound, NumberType, StringType, Type, TypeKind};

/// Returns the restrictions of a type, as parts of a sentence. `code` writes what is
/// quoted from the schema.
pub(super) fn facts(ty: &Type, code: impl Fn(&str) -> String) -> Vec<String> {
    match &ty.kind {
        TypeKind::Integer(number) | TypeKind::Number(number) => number_facts(number),
        TypeKind::String(string) => string_facts(string, code),
        TypeKind::Array(array) => {
            let mut facts = count(array.min_items, array.max_items, "item");
            facts.extend(array.has_unique_items.then(|| "no duplicates".to_owned()));
            facts
        }
        _ => Vec::new(),
    }
}

fn number_facts(number: &NumberType) -> Vec<String> {
    let bound = |bound: &Option<Bound>, words: [&str; 2]| {
        bound.as_ref().map(|bound| {
            let words = words[usize::from(bound.is_exclusive)];
            format!("{words} {}", bound.value)
        })
    };
    let minimum = bound(&number.minimum, ["at least", "more than"]);
    let maximum = bound(&number.maximum, ["at most", "less than"]);
    let multiple = number.multiple_of.as_ref();
    let multiple = multiple.map(|number| format!("a multiple of {number}"));
    [minimum, maximum, multiple].into_iter().flatten().collect()
}

fn string_facts(string: &StringType, code: impl Fn(&str) -> String) -> Vec<String> {
    let mut facts = count(string.min_length, string.max_length, "character");
    let format = string.format.as_ref();
    facts.extend(format.map(|format| format!("format {}", code(format))));
    let pattern = string.pattern.as_ref();
    facts.extend(pattern.map(|pattern| format!("pattern {}", code(pattern))));
    facts
}

fn count(min: Option<u64>, max: Option<u64>, unit: &str) -> Vec<String> {
    let number = |count: u64| format!("{count} {unit}{}", if count == 1 { "" } else { "s" });
    let min = min.filter(|min| *min > 0);
    match (min, max) {
        (Some(min), Some(max)) if min == max => vec![format!("exactly {}", number(min))],
        (Some(min), Some(max)) => vec![format!("{min} to {}", number(max))],
        (Some(min), None) => vec![format!("at least {}", number(min))],
        (None, Some(max)) => vec![format!("at most {}", number(max))],
        (None, None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::facts;
    use crate::shape::Shape;

    #[test]
    fn restrictions_are_told_in_words() {
        let cases: [(Value, &str); 7] = [
            (json!({"type": "string"}), ""),
            (
                json!({"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}),
                "at least 1, less than 9, a multiple of 2",
            ),
            (
                json!({"type": "string", "minLength": 0, "maxLength": 1}),
                "at most 1 character",
            ),
            (
                json!({"type": "string", "minLength": 2, "maxLength": 2}),
                "exactly 2 characters",
            ),
            (
                json!({"type": "string", "format": "date", "pattern": "^a"}),
                "format <date>, pattern <^a>",
            ),
            (
                json!({"type": "array", "minItems": 1, "maxItems": 9}),
                "1 to 9 items",
            ),
            (
                json!({"type": "array", "minItems": 1, "uniqueItems": true}),
                "at least 1 item, no duplicates",
            ),
        ];
        for (schema, expected) in cases {
            let shape = Shape::new(schema);
            let told = facts(shape.root(), |text| format!("<{text}>"));
            assert_eq!(told.join(", "), expected);
        }
    }
}
