//! Rounds of input: what is asked, and what may come back instead of an answer.

use bowline_proto::model::{
    CallToolResult, GetPromptResult, InputKind, InputRequest, PropertySchema, ResultType,
    TypedResult, decode,
};

#[test]
fn a_request_may_name_its_method_last() {
    let usual = r#"{"method":"elicitation/create","params":{"message":"Sure?"},"x":1}"#;
    let turned = r#"{"x":1,"params":{"message":"Sure?"},"method":"elicitation/create"}"#;
    let usual: InputRequest = decode(usual.as_bytes()).unwrap();
    let turned: InputRequest = decode(turned.as_bytes()).unwrap();
    assert_eq!(usual, turned);
    assert!(matches!(usual.kind, InputKind::Elicit(params) if params.message == "Sure?"));
}

#[test]
fn an_unknown_request_survives() {
    for wire in [
        r#"{"method":"weather/ask","params":{"where":["here"]}}"#,
        r#"{"method":"weather/ask"}"#,
    ] {
        let request: InputRequest = decode(wire.as_bytes()).unwrap();
        assert_eq!(request.method(), "weather/ask");
        assert_eq!(serde_json::to_string(&request).unwrap(), wire);
    }
}

#[test]
fn a_known_request_needs_its_params() {
    let error = decode::<InputRequest>(br#"{"method":"elicitation/create"}"#).unwrap_err();
    assert!(error.message.contains("missing field `params`"), "{error}");
    assert!(decode::<InputRequest>(br#"{"method":"roots/list"}"#).is_ok());
    let error = decode::<InputRequest>(br#"{"params":{}}"#).unwrap_err();
    assert!(error.message.contains("missing field `method`"), "{error}");
}

#[test]
fn a_result_is_what_it_says_it_is() {
    type Called = TypedResult<CallToolResult>;
    type Got = TypedResult<GetPromptResult>;
    let answer = br#"{"content":[]}"#;
    assert!(matches!(
        Called::decode(answer),
        Ok(TypedResult::Complete(_))
    ));
    let question = br#"{"requestState":"s","resultType":"input_required"}"#;
    assert!(matches!(
        Called::decode(question),
        Ok(TypedResult::InputRequired(asked)) if asked.request_state.as_deref() == Some("s")
    ));
    // Here the question does not even have the shape of the answer.
    assert!(matches!(
        Got::decode(question),
        Ok(TypedResult::InputRequired(_))
    ));
    let promise = br#"{"resultType":"task","taskId":"t","status":"working",
        "createdAt":"a","lastUpdatedAt":"b","ttlMs":null}"#;
    assert!(matches!(Called::decode(promise), Ok(TypedResult::Task(task)) if task.task_id == "t"));
    let other = br#"{"resultType":"oracle","says":1}"#;
    assert!(matches!(
        Got::decode(other),
        Ok(TypedResult::Other { result_type: ResultType::Other(_), raw }) if raw.get().contains("says")
    ));
    let error = Got::decode(br#"{"resultType":"complete"}"#).unwrap_err();
    assert!(
        error.message.contains("missing field `messages`"),
        "{error}"
    );
}

#[test]
fn form_fields_are_told_apart() {
    for (wire, kind) in [
        (r#"{"type":"string","format":"iban"}"#, "String"),
        (r#"{"type":"integer","minimum":1}"#, "Number"),
        (r#"{"type":"boolean"}"#, "Boolean"),
        (r#"{"type":"string","enum":["a"]}"#, "Choice"),
        (
            r#"{"type":"string","oneOf":[{"const":"a","title":"A"}]}"#,
            "Choice",
        ),
        (
            r#"{"type":"array","items":{"type":"string","enum":["a"]}}"#,
            "MultiChoice",
        ),
        (
            r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#,
            "MultiChoice",
        ),
        (r#"{"type":"array","items":{"type":"string"}}"#, "Unknown"),
        (r#"{"type":"object","properties":{}}"#, "Unknown"),
        (r#"{"$ref":"elsewhere"}"#, "Unknown"),
        ("true", "Unknown"),
    ] {
        let property: PropertySchema = decode(wire.as_bytes()).unwrap();
        assert!(
            format!("{property:?}").starts_with(kind),
            "{wire} is {property:?}"
        );
        assert_eq!(serde_json::to_string(&property).unwrap(), wire);
    }
    assert!(decode::<PropertySchema>(br#"{"type":"string","minLength":"x"}"#).is_err());
}
