//! Random JSON as text: with whitespace, escapes and brackets in strings, which
//! a serialised `Value` never has.

use proptest::{prelude::*, sample::select};

/// Whitespace between tokens, mostly none.
pub(super) fn space() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "",
        "",
        "",
        " ",
        "\n",
        "\t",
        " \r\n ",
        "          ",
    ])
}

/// The text of a JSON string.
pub(super) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zA-Z0-9 ,:]{1,12}",
        1 => "[{}\\[\\]]{1,3}",
        1 => select(vec!["ä", "€", "😀", "\u{7f}", "\u{2028}"]).prop_map(String::from),
        1 => select(vec![r#"\""#, r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t"])
            .prop_map(String::from),
        1 => select(vec![r"\u0000", r"\u0022", r"\u005c", r"\u00e9", r"\uD83D\uDE00"])
            .prop_map(String::from),
        1 => "[a-z]{40,90}",
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// The text of a number, a name or a string.
pub(super) fn scalar() -> impl Strategy<Value = String> {
    let number = select(vec![
        "0",
        "-0",
        "7",
        "-1",
        "1.5",
        "1.0",
        "1e3",
        "-2.5E-3",
        "9223372036854775807",
        "-9223372036854775808",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
    ]);
    prop_oneof![
        select(vec!["null", "true", "false"]).prop_map(String::from),
        number.prop_map(String::from),
        any::<i64>().prop_map(|number| number.to_string()),
        string(),
    ]
}

/// The text of any JSON value.
pub(super) fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![array(inner.clone()), object(inner)]
    })
}

/// The text of an object, with values from `inner`.
pub(super) fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec((string(), inner), 0..4)
        .prop_flat_map(|members| (space(), Just(members)))
        .prop_map(|(space, members)| members_text(space, &members))
}

/// The text of an object with these keys (quoted already) and values.
pub(super) fn members_text(space: &str, members: &[(String, String)]) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{space}{key}{space}:{space}{value}{space}"))
        .collect();
    format!("{{{}{space}}}", members.join(","))
}

fn array(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), prop::collection::vec(inner, 0..4)).prop_map(|(space, items)| {
        let items: Vec<String> = items
            .iter()
            .map(|item| format!("{space}{item}{space}"))
            .collect();
        format!("[{}{space}]", items.join(","))
    })
}
