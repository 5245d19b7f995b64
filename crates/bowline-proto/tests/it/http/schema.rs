//! Which annotated schemas are accepted, and what is said about the others.

use bowline_proto::http::header::{HeaderSchemaErrorKind, ParamHeaders, ParamKind};

#[track_caller]
fn refused(properties: &str, fault: HeaderSchemaErrorKind, at: &str) {
    let schema = format!(r#"{{"type": "object", "properties": {properties}}}"#);
    let error = ParamHeaders::from_schema(&schema).expect_err("the tool is at fault");
    assert_eq!((error.kind, error.pointer.as_str()), (fault, at));
}

#[track_caller]
fn accepted(schema: &str, expected: &[(&str, ParamKind, &[&str])]) {
    let params = ParamHeaders::from_schema(schema).expect("a valid schema");
    let found: Vec<_> = params
        .iter()
        .map(|h| (h.name(), h.kind(), params.path(h.name()).expect("a path")))
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|(n, k, p)| (*n, *k, p.to_vec()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn properties_are_found_at_any_depth() {
    accepted(
        r#"{"properties": {
                "a": {"type": "string", "x-mcp-header": "Region"},
                "b": {"type": "object", "properties": {
                    "c": {"properties": {"d": {"type": "integer", "x-mcp-header": "Deep"}}},
                    "e": {"type": "boolean", "x-mcp-header": "Method"}}}}}"#,
        &[
            ("mcp-param-region", ParamKind::String, &["a"]),
            ("mcp-param-deep", ParamKind::Integer, &["b", "c", "d"]),
            ("mcp-param-method", ParamKind::Boolean, &["b", "e"]),
        ],
    );
}

#[test]
fn headers_are_in_the_order_of_names_however_the_schema_is_written() {
    accepted(
        r#"{"properties": {
                "z": {"x-mcp-header": "One", "type": "string"},
                "a": {"x-mcp-header": "Two", "type": "string"}}}"#,
        &[
            ("mcp-param-two", ParamKind::String, &["a"]),
            ("mcp-param-one", ParamKind::String, &["z"]),
        ],
    );
}

#[test]
fn schemas_without_annotation_are_not_even_parsed() {
    accepted(r#"{"type": "object"}"#, &[]);
    accepted("not JSON", &[]);
    let error = ParamHeaders::from_schema("x-mcp-header").unwrap_err();
    assert_eq!(error.kind, HeaderSchemaErrorKind::NotJson);
}

#[test]
fn an_escaped_key_is_still_a_key() {
    accepted(
        r#"{"properties": {"a": {"type": "string", "x-mcp\u002dheader": "A"}}}"#,
        &[("mcp-param-a", ParamKind::String, &["a"])],
    );
}

#[test]
fn bad_names_are_refused() {
    for name in ["", "two words", "a:b", "é", "a\\u0007", "a\\r\\nb", "(x)"] {
        let property = format!(r#"{{"p": {{"type": "string", "x-mcp-header": "{name}"}}}}"#);
        refused(
            &property,
            HeaderSchemaErrorKind::InvalidName,
            "/properties/p",
        );
    }
    for name in ["null", "7", "{}", "[\"A\"]"] {
        let property = format!(r#"{{"p": {{"type": "string", "x-mcp-header": {name}}}}}"#);
        refused(&property, HeaderSchemaErrorKind::NotString, "/properties/p");
    }
}

#[test]
fn bad_types_are_refused() {
    for kind in [
        r#""object""#,
        r#""array""#,
        r#""null""#,
        r#""number""#,
        r#"["string", "null"]"#,
        r#"["string"]"#,
        "7",
    ] {
        let property = format!(r#"{{"p": {{"x-mcp-header": "A", "type": {kind}}}}}"#);
        refused(
            &property,
            HeaderSchemaErrorKind::InvalidType,
            "/properties/p",
        );
    }
    refused(
        r#"{"p": {"x-mcp-header": "A"}}"#,
        HeaderSchemaErrorKind::InvalidType,
        "/properties/p",
    );
}

#[test]
fn the_same_name_twice_is_refused_in_any_case() {
    for second in ["Region", "REGION"] {
        let properties = format!(
            r#"{{"a": {{"type": "string", "x-mcp-header": "Region"}},
                    "b": {{"properties": {{"c": {{"type": "string", "x-mcp-header": "{second}"}}}}}}}}"#
        );
        refused(
            &properties,
            HeaderSchemaErrorKind::Duplicate,
            "/properties/b/properties/c",
        );
    }
}

#[test]
fn annotations_elsewhere_are_refused() {
    let leaf = r#"{"type": "string", "x-mcp-header": "A"}"#;
    for (place, at) in [
        (format!(r#"{{"items": {leaf}}}"#), "/items"),
        (format!(r#"{{"prefixItems": [{leaf}]}}"#), "/prefixItems"),
        (format!(r#"{{"anyOf": [{leaf}]}}"#), "/anyOf"),
        (format!(r#"{{"oneOf": [{{}}, {leaf}]}}"#), "/oneOf"),
        (
            format!(r#"{{"allOf": [{{"properties": {{"q": {leaf}}}}}]}}"#),
            "/allOf/properties/q",
        ),
        (format!(r#"{{"not": {leaf}}}"#), "/not"),
        (format!(r#"{{"if": {leaf}}}"#), "/if"),
        (format!(r#"{{"then": {leaf}}}"#), "/then"),
        (format!(r#"{{"else": {leaf}}}"#), "/else"),
        (format!(r#"{{"$defs": {{"q": {leaf}}}}}"#), "/$defs/q"),
        (
            format!(r#"{{"definitions": {{"q": {leaf}}}}}"#),
            "/definitions/q",
        ),
        (
            format!(r#"{{"additionalProperties": {leaf}}}"#),
            "/additionalProperties",
        ),
        (
            format!(r#"{{"patternProperties": {{"q": {leaf}}}}}"#),
            "/patternProperties/q",
        ),
        (
            format!(r#"{{"unheardOf": {{"q": {leaf}}}}}"#),
            "/unheardOf/q",
        ),
    ] {
        let properties = format!(r#"{{"p": {place}}}"#);
        refused(
            &properties,
            HeaderSchemaErrorKind::Misplaced,
            &format!("/properties/p{at}"),
        );
        let error = ParamHeaders::from_schema(&place).unwrap_err();
        assert_eq!(
            (error.kind, error.pointer.as_str()),
            (HeaderSchemaErrorKind::Misplaced, at)
        );
    }
    let error = ParamHeaders::from_schema(leaf).unwrap_err();
    assert_eq!(
        error.kind,
        HeaderSchemaErrorKind::Misplaced,
        "the root is no property"
    );
}

#[test]
fn nothing_below_a_mirrored_scalar_is_mirrored() {
    refused(
        r#"{"p": {"type": "string", "x-mcp-header": "A",
                "properties": {"q": {"type": "string", "x-mcp-header": "B"}}}}"#,
        HeaderSchemaErrorKind::Misplaced,
        "/properties/p/properties/q",
    );
}

#[test]
fn a_property_or_a_default_may_have_that_name() {
    accepted(
        r#"{"properties": {"x-mcp-header": {"type": "string"}}}"#,
        &[],
    );
    accepted(r#"{"$defs": {"x-mcp-header": {"type": "string"}}}"#, &[]);
    accepted(
        r#"{"default": {"x-mcp-header": "A"}, "examples": [{"x-mcp-header": 1}]}"#,
        &[],
    );
}

#[test]
fn the_place_of_a_fault_is_short_and_printable() {
    let key = "\\n\u{e9}".repeat(500);
    let schema = format!(r#"{{"properties": {{"{key}": {{"x-mcp-header": 1}}}}}}"#);
    let error = ParamHeaders::from_schema(&schema).unwrap_err();
    assert!(error.pointer.chars().count() < 300 && error.pointer.ends_with('…'));
    assert!(!error.to_string().contains('\n'));
}
