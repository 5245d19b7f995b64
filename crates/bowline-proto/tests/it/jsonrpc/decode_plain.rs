//! What is read straight from the text is what `serde_json` reads.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    ops::{Bound, Range},
};

use bowline_proto::{
    jsonrpc::{RawJson, decode, decode_fast},
    model::{CallToolResult, ReadResourceResult, ResultObject as _},
};
use proptest::{prelude::*, sample::Index};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::text;

type Numbers = (i8, u64, i128, f32, f64);
type Others = (String, char, bool, (), Option<Vec<Option<String>>>);
type Objects = (Range<u8>, BTreeMap<String, Bound<u8>>, RawJson);
type Everything = (Numbers, Others, Objects);

/// What is read must be what `serde_json` reads.
fn agrees<T: DeserializeOwned + PartialEq + Debug>(json: &str) -> bool {
    match decode_fast::<T>(json) {
        Some(ours) => {
            let theirs: T = serde_json::from_str(json).expect("it was read by ours");
            assert_eq!(ours, theirs, "{json}");
            true
        }
        None => false,
    }
}

fn everything() -> impl Strategy<Value = Everything> {
    let numbers = (
        any::<i8>(),
        any::<u64>().prop_map(|number| number >> 5),
        any::<i128>(),
        -1e10_f32..1e10,
        -1e300..1e300_f64,
    );
    let unbounded = any::<String>().prop_map(|name| (name, Bound::Unbounded));
    let objects = (
        any::<(u8, u8)>().prop_map(|(start, end)| start..end),
        prop::collection::vec(unbounded, 0..4).prop_map(BTreeMap::from_iter),
        text::value().prop_map(|json| RawJson::from_string(json).expect("it is JSON")),
    );
    (numbers, any::<Others>(), objects)
}

/// Takes something out, or puts something in.
fn broken(mut json: String, (at, length): (Index, usize), with: &str) -> String {
    let places: Vec<usize> = json.char_indices().map(|(at, _)| at).collect();
    let start = if places.is_empty() {
        0
    } else {
        *at.get(&places)
    };
    let end = json[start..].char_indices().nth(length);
    let end = end.map_or(json.len(), |(end, _)| start + end);
    json.replace_range(start..end, with);
    json
}

const BITS: &str = r#"[\[\]{}",:\\ntfue0-9.+\-\n ]{0,2}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_value_is_read_as_serde_json_reads_it(json in text::value()) {
        agrees::<Value>(&json);
        agrees::<RawJson>(&json);
        agrees::<String>(&json);
        agrees::<BTreeMap<String, Value>>(&json);
        agrees::<CallToolResult>(&json);
    }

    #[test]
    fn so_is_what_is_no_json(json in text::value(), place in any::<(Index, usize)>(), with in BITS) {
        agrees::<Value>(&broken(json, (place.0, place.1 % 3), &with));
    }

    #[test]
    fn every_kind_of_value_is_read(all in everything()) {
        let json = serde_json::to_string(&all).expect("it can be written");
        prop_assert!(agrees::<Everything>(&json), "{}", json);
        let json = serde_json::to_string_pretty(&all).expect("it can be written");
        prop_assert!(agrees::<Everything>(&json), "{}", json);
    }

    #[test]
    fn so_is_what_does_not_fit(all in everything(), place in any::<(Index, usize)>(), with in BITS) {
        let json = serde_json::to_string(&all).expect("it can be written");
        agrees::<Everything>(&broken(json, (place.0, place.1 % 4), &with));
    }

    #[test]
    fn results_are_read_alike(text in text::string(), more in text::value()) {
        let block = format!(r#"{{"type":"text","text":{text}}}"#);
        let late = format!(r#"{{"text":{text},"_meta":{{}},"type":"text"}}"#);
        let json = format!(
            r#"{{"content":[{block},{late}],"structuredContent":{{"a":{more}}},"other":{more}}}"#
        );
        prop_assert!(agrees::<CallToolResult>(&json), "{}", json);
        let json = format!(r#"{{"contents":[{{"uri":"a:b","text":{text}}}]}}"#);
        prop_assert!(agrees::<ReadResourceResult>(&json), "{}", json);
    }
}

#[test]
fn numbers_of_all_kinds() {
    for json in [
        "0",
        "-0",
        "00",
        "01",
        "-",
        "--1",
        "1-",
        "1.",
        ".5",
        "1.5",
        "1e5",
        "1E+5",
        "1e",
        "0e0",
        "-1",
        "+1",
        "7a",
        "127",
        "128",
        "-128",
        "-129",
        "999999999999999999",
        "9999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "0.1",
        "16777217",
        "0.30000001",
        "340282366920938463463374607431768211455",
        "nan",
        "",
    ] {
        agrees::<i8>(json);
        agrees::<u8>(json);
        agrees::<i64>(json);
        agrees::<u64>(json);
        agrees::<i128>(json);
        agrees::<u128>(json);
        agrees::<f32>(json);
        agrees::<f64>(json);
        agrees::<Value>(json);
        agrees::<Option<f64>>(json);
    }
    for json in ["0", "-1", "127", "12"] {
        assert!(
            agrees::<i8>(json) && agrees::<f64>(json) && agrees::<Value>(json),
            "{json}"
        );
    }
    assert!(agrees::<f64>("0.1") && agrees::<f32>("0.1") && agrees::<f64>("-1e-7"));
}

#[test]
fn nesting_has_an_end() {
    let deep = |levels: usize| ["[".repeat(levels), "]".repeat(levels)].concat();
    for levels in [1, 126, 127] {
        assert!(agrees::<Value>(&deep(levels)), "{levels}");
    }
    for levels in [128, 129, 256, 100_000] {
        assert!(!agrees::<Value>(&deep(levels)), "{levels}");
    }
}

#[test]
fn what_is_unusual_is_left_to_others() {
    assert_eq!(decode_fast::<BTreeMap<u8, u8>>(r#"{"1":2}"#), None);
    assert_eq!(decode_fast::<Value>("1.5"), None);
    assert_eq!(decode_fast::<Bound<u8>>(r#"{"Included":2}"#), None);
    assert!(agrees::<Bound<u8>>("\"Unbounded\""));
}

#[test]
fn a_result_that_is_wrong_is_explained_as_ever() {
    for json in [
        r#"{"content":[{"type":"text"}]}"#,
        r#"{"content":7}"#,
        "{",
        "\"\u{ff}",
    ] {
        let json = json.as_bytes();
        let theirs = decode::<CallToolResult>(json).unwrap_err();
        assert_eq!(CallToolResult::decode(json).unwrap_err(), theirs);
    }
    let not_text = b"{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}";
    let theirs = decode::<CallToolResult>(not_text).unwrap_err();
    assert_eq!(CallToolResult::decode(not_text).unwrap_err(), theirs);
}
