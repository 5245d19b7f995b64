//! The pairs in `cases.txt`, each judged as an input and as an output.

use bowline_schema::compare::{ChangeKind, Usage, Version, compare};
use serde_json::Value;

const CASES: &str = include_str!("cases.txt");

/// A pair of schemas and what is expected of it.
struct Case {
    name: &'static str,
    old: Value,
    new: Value,
    expected: Vec<Expected>,
}

struct Expected {
    usage: Usage,
    kind: &'static str,
    /// All differences, or none if they do not matter here.
    differences: Vec<&'static str>,
}

#[test]
fn every_pair_is_judged_as_expected_in_both_directions() {
    let cases = cases();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        assert_eq!(case.expected.len(), 2, "{}", case.name);
        for expected in &case.expected {
            let found = compare(&case.old, &case.new, expected.usage);
            let differences = found.differences().iter().map(ToString::to_string);
            let differences: Vec<String> = differences.collect();
            let is_right = found.kind().to_string() == expected.kind
                && (expected.differences.is_empty() || expected.differences == differences);
            if !is_right {
                wrong.push(format!(
                    "{} ({:?}): expected {} and {:#?}, found {} and {differences:#?}",
                    case.name,
                    expected.usage,
                    expected.kind,
                    expected.differences,
                    found.kind(),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_other_usage_is_the_other_direction() {
    for case in cases() {
        let input = compare(&case.old, &case.new, Usage::Input).kind();
        let output = compare(&case.new, &case.old, Usage::Output).kind();
        assert_eq!(
            input == ChangeKind::Breaking,
            output == ChangeKind::Breaking,
            "{}",
            case.name
        );
    }
}

#[test]
fn a_pointer_leads_to_a_place_in_its_version() {
    for case in cases() {
        for usage in [Usage::Input, Usage::Output] {
            for difference in compare(&case.old, &case.new, usage).differences() {
                let document = match difference.version {
                    Version::Old => &case.old,
                    Version::New => &case.new,
                };
                let place = document.pointer(&difference.pointer);
                assert!(place.is_some(), "{}: {difference:?}", case.name);
            }
        }
    }
}

fn cases() -> Vec<Case> {
    let blocks = CASES.split("\n== ").skip(1);
    blocks.map(parse).collect()
}

fn parse(block: &'static str) -> Case {
    let mut lines = block.lines().filter(|line| !line.is_empty());
    let mut case = Case {
        name: lines.next().expect("a name"),
        old: Value::Null,
        new: Value::Null,
        expected: Vec::new(),
    };
    for line in lines {
        let schema = |text| serde_json::from_str(text).expect(line);
        let mut expect = |usage, kind| {
            case.expected.push(Expected {
                usage,
                kind,
                differences: Vec::new(),
            });
        };
        if let Some(text) = line.strip_prefix("old: ") {
            case.old = schema(text);
        } else if let Some(text) = line.strip_prefix("new: ") {
            case.new = schema(text);
        } else if let Some(kind) = line.strip_prefix("input: ") {
            expect(Usage::Input, kind);
        } else if let Some(kind) = line.strip_prefix("output: ") {
            expect(Usage::Output, kind);
        } else {
            let last = case.expected.last_mut().expect(line);
            last.differences.push(line.trim_start());
        }
    }
    case
}
