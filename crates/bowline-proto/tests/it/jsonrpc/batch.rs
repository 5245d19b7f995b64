//! Taking batches apart.

use bowline_proto::jsonrpc::{Messages, ScanErrorKind, split_batch};
use proptest::prelude::*;
use serde_json::Value;

use super::text;

#[test]
fn a_message_by_itself_is_left_alone() {
    for frame in [r#"{"id":1}"#, " {}", "", "7", "not JSON"] {
        assert_eq!(
            split_batch(frame.as_bytes()),
            Ok(Messages::Single(frame.as_bytes()))
        );
    }
}

#[test]
fn a_batch_is_taken_apart() {
    let frame = br#" [ {"a":[1,"]"]} ,2, "x" ,null] "#;
    let expected: Vec<&[u8]> = vec![br#"{"a":[1,"]"]}"#, b"2", br#""x""#, b"null"];
    assert_eq!(split_batch(frame), Ok(Messages::Batch(expected)));
}

#[test]
fn each_fault_has_its_name() {
    let cases = [
        ("[]", ScanErrorKind::EmptyBatch),
        (" [ ] ", ScanErrorKind::EmptyBatch),
        ("[", ScanErrorKind::UnexpectedEnd),
        ("[{}", ScanErrorKind::UnexpectedEnd),
        ("[{},", ScanErrorKind::UnexpectedEnd),
        ("[{},]", ScanErrorKind::NotJson),
        ("[{} {}]", ScanErrorKind::NotJson),
        ("[,{}]", ScanErrorKind::NotJson),
        ("[{}}", ScanErrorKind::MismatchedBracket),
        ("[[}]", ScanErrorKind::MismatchedBracket),
        ("[{}] {}", ScanErrorKind::TrailingBytes),
    ];
    for (frame, kind) in cases {
        assert_eq!(
            split_batch(frame.as_bytes()).expect_err(frame).kind,
            kind,
            "{frame}"
        );
    }
    let deep = ["[".repeat(129), "]".repeat(129)].concat();
    assert_eq!(
        split_batch(deep.as_bytes()).unwrap_err().kind,
        ScanErrorKind::TooDeep
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_parts_are_the_parts(
        space in text::space(), items in prop::collection::vec(text::value(), 1..6),
    ) {
        let frame = format!("{space}[{space}{}{space}]{space}", items.join(&format!("{space},{space}")));
        let Ok(Messages::Batch(parts)) = split_batch(frame.as_bytes()) else {
            panic!("a batch: {frame}");
        };
        let parts: Vec<Value> = parts.iter().map(|part| serde_json::from_slice(part).unwrap()).collect();
        prop_assert_eq!(Value::from(parts), serde_json::from_str::<Value>(&frame).unwrap());
    }
}
