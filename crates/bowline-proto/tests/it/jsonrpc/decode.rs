//! Typed values, and where a fault is said to be.

use std::{borrow::Cow, collections::BTreeMap};

use bowline_proto::jsonrpc::{DecodeError, ErrorObject, decode};

fn fault<'de, T: serde::Deserialize<'de> + std::fmt::Debug>(json: &'de str) -> DecodeError {
    decode::<T>(json.as_bytes()).expect_err(json)
}

#[test]
fn decodes_and_borrows() {
    assert_eq!(decode::<Vec<u8>>(b" [1, 2] ").unwrap(), [1, 2]);
    assert_eq!(decode::<&str>(br#""text""#).unwrap(), "text");
}

#[test]
fn a_fault_names_its_path() {
    type Tools = BTreeMap<String, Vec<BTreeMap<String, String>>>;
    let error = fault::<Tools>(r#"{"tools":[{"name":"a"},{"name":7}]}"#);
    assert_eq!(error.path, "tools[1].name");
    assert_eq!(
        error.to_string(),
        "tools[1].name: invalid type: integer `7`, expected a string at line 1 column 32"
    );
    let error = fault::<Vec<ErrorObject>>(r#"[{"code":1,"message":""},{"code":2}]"#);
    assert_eq!(error.path, "[1]");
    assert!(
        error.message.starts_with("missing field `message`"),
        "{error}"
    );
}

#[test]
fn a_fault_of_the_value_itself_has_no_path() {
    let error = fault::<Vec<u8>>("7");
    assert_eq!(error.path, "");
    assert_eq!(error.to_string(), error.message);
    assert!(
        error.message.starts_with("invalid type: integer `7`"),
        "{error}"
    );
}

#[test]
fn what_follows_the_value_is_a_fault() {
    let error = fault::<Vec<u8>>("[1] x");
    assert_eq!(error.path, "");
    assert!(error.message.starts_with("trailing characters"), "{error}");
    assert!(fault::<u8>("").message.starts_with("EOF"), "an empty slice");
}

#[test]
fn text_that_is_not_utf8_is_a_fault() {
    decode::<Cow<'_, str>>(b"\"\xff\"").unwrap_err();
}
