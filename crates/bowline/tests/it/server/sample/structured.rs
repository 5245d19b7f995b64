//! Asking models for values and for calls of tools.

use bowline::{
    proto::{
        model::{ContentBlock, Tool as Definition, ToolChoiceMode, ToolResultContent},
        revision::Era,
    },
    server::{Conversation, Service},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    kind,
    rig::{REVISIONS, WITH_TOOLS, call, call_with_tools, calls, in_turn, prompt, says, talk},
    words,
};

#[derive(Debug, Deserialize, JsonSchema)]
struct Mood {
    happy: bool,
    #[schemars(range(min = 1, max = 5))]
    level: u8,
}

pub(super) fn mood() -> Service {
    talk(async |cx: Conversation| {
        let mood = cx
            .sample("Mood?")
            .schema::<Mood>()
            .key("mood")
            .max_attempts(2)
            .await;
        let mood = match mood {
            Ok(mood) => mood,
            Err(error) => return Ok(format!("{:?} {error}", error.kind())),
        };
        let Mood { happy, level } = mood.value;
        let exchange = words(&mood.sampled.exchange());
        assert_eq!(words(&cx.messages()), exchange);
        Ok(format!("{happy} {level} {exchange}"))
    })
}

#[tokio::test]
async fn a_value_is_asked_for_with_a_tool_where_models_may_have_some() {
    let service = mood();
    let good = json!({"happy": true, "level": 4});
    for revision in WITH_TOOLS {
        let answers = in_turn([calls("__schema__", &good)]);
        let told = call_with_tools(&service, revision, &*answers).await;
        let expected = "true 4 user: Mood? | assistant: * | user: *";
        assert_eq!(told.text, expected, "{revision}");
        let [asked] = &told.asked[..] else {
            panic!("{revision}: {:?}", told.asked)
        };
        assert_eq!(asked["toolChoice"], json!({"mode": "required"}));
        assert_eq!(asked["tools"][0]["name"], "__schema__");
        assert_eq!(
            asked["tools"][0]["inputSchema"]["required"],
            json!(["happy", "level"])
        );
        assert_eq!(prompt(asked), "Mood?");
        let answers = in_turn([says("```json\n{\"happy\": false, \"level\": 1}\n```")]);
        let told = call_with_tools(&service, revision, &*answers).await;
        assert!(
            told.text.starts_with("false 1 "),
            "{revision}: {}",
            told.text
        );
    }
}

#[tokio::test]
async fn a_value_is_asked_for_in_words_where_models_may_have_no_tools() {
    let service = mood();
    for revision in REVISIONS {
        let answers = in_turn([says("{\"happy\": true, \"level\": 4}")]);
        let told = call(&service, revision, answers).await;
        let expected = "true 4 user: Mood? | assistant: {\"happy\": true, \"level\": 4}";
        assert_eq!(told.text, expected, "{revision}");
        let [asked] = &told.asked[..] else {
            panic!("{revision}: {:?}", told.asked)
        };
        assert_eq!(asked.get("tools"), None, "{revision}");
        assert!(prompt(asked).starts_with("Mood?\n\nAnswer with JSON only"));
        assert!(prompt(asked).contains("\"maximum\":5"), "{revision}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_asked_for_again_with_a_hint() {
    let service = mood();
    let (bad, good) = (
        json!({"happy": true, "level": 9}),
        json!({"happy": true, "level": 4}),
    );
    for revision in REVISIONS {
        let answers = in_turn([says(&bad.to_string()), says(&good.to_string())]);
        let told = call(&service, revision, answers).await;
        let expected = "true 4 user: Mood? | assistant: {\"happy\":true,\"level\":4}";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(told.asked.len(), 2, "{revision}");
        let again = "The answer is not valid:\n- at /level: 9 is greater than the maximum of 5\n\
            Answer again, with only JSON that matches the schema.";
        assert_eq!(prompt(&told.asked[1]), again, "{revision}");
        assert_eq!(
            told.asked[1]["messages"][1]["content"]["text"],
            bad.to_string()
        );
    }
    for revision in WITH_TOOLS {
        let answers = in_turn([calls("__schema__", &bad), calls("__schema__", &good)]);
        let told = call_with_tools(&service, revision, &*answers).await;
        assert!(
            told.text.starts_with("true 4 "),
            "{revision}: {}",
            told.text
        );
        let messages = &told.asked[1]["messages"];
        assert_eq!(messages[1]["content"][0]["type"], "tool_use");
        let hint = &messages[2]["content"][0];
        assert_eq!(
            (&hint["type"], &hint["isError"]),
            (&json!("tool_result"), &json!(true))
        );
        assert!(
            hint["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("- at /level: 9")
        );
        if revision.rules().era == Era::Stateless {
            assert_eq!(told.keys, ["mood", "mood_2"]);
        }
    }
}

#[tokio::test]
async fn a_model_that_never_fits_is_given_up() {
    let service = mood();
    for revision in REVISIONS {
        let told = call(&service, revision, in_turn([says("no"), says("never")])).await;
        assert!(
            told.text.starts_with("SampleValidation { attempts: 2 }"),
            "{revision}"
        );
        assert!(
            told.text.ends_with("Its last answer: never"),
            "{}",
            told.text
        );
        assert_eq!(told.asked.len(), 2, "{revision}");
    }
    for revision in WITH_TOOLS {
        let bad = || calls("__schema__", &json!({"happy": 1}));
        let told = call_with_tools(&service, revision, &*in_turn([bad(), bad()])).await;
        assert!(
            told.text.starts_with("SampleValidation { attempts: 2 }"),
            "{revision}"
        );
        assert!(
            told.text.contains("\"input\":{\"happy\":1}"),
            "{}",
            told.text
        );
    }
}

#[tokio::test]
async fn a_value_need_not_be_an_object() {
    let service = talk(async |cx: Conversation| {
        let names = cx.sample("Names?").schema::<Vec<String>>().await?;
        Ok(names.value.join("+"))
    });
    for revision in WITH_TOOLS {
        let answer = calls("__schema__", &json!({"value": ["a", "b"]}));
        let told = call_with_tools(&service, revision, &*in_turn([answer])).await;
        assert_eq!(told.text, "a+b", "{revision}");
        assert_eq!(told.asked[0]["tools"][0]["inputSchema"]["type"], "object");
        let told = call(&service, revision, in_turn([says("[\"a\", \"b\"]")])).await;
        assert_eq!(told.text, "a+b", "{revision}");
    }
}

fn weather() -> Definition {
    let mut tool = Definition::new("weather");
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    tool.input_schema = serde_json::from_value(schema).ok();
    tool
}

pub(super) fn forecast() -> Service {
    talk(async |cx: Conversation| {
        let asked = cx.sample("Umbrella?").tools([weather()]);
        let calls = asked.tool_choice(ToolChoiceMode::Auto).await;
        let calls = match calls {
            Ok(calls) => calls,
            Err(error) => return Ok(format!("{:?} {error}", error.kind())),
        };
        let dangling = kind(cx.sample("Well?").await);
        let city = calls.first().input.get().to_owned();
        let mut result = ToolResultContent::new(&calls.first().id);
        result.content = vec![ContentBlock::text("rain")];
        let advice = cx.sample(vec![result]).await?;
        let said = cx.messages().len();
        Ok(format!("{city} {dangling} {advice} {said}"))
    })
}

#[tokio::test]
async fn a_model_calls_tools_and_is_given_their_results() {
    let service = forecast();
    for revision in WITH_TOOLS {
        let good = calls("weather", &json!({"city": "Oslo"}));
        let answers = in_turn([good, says("Yes.")]);
        let told = call_with_tools(&service, revision, &*answers).await;
        let expected = "{\"city\":\"Oslo\"} InvalidQuestion Yes. 4";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(told.asked[0]["toolChoice"], json!({"mode": "auto"}));
        let result = &told.asked[1]["messages"][2]["content"][0];
        assert_eq!(result["toolUseId"], "c1", "{revision}");
    }
}

#[tokio::test]
async fn calls_that_do_not_fit_are_asked_for_again() {
    let service = forecast();
    for revision in WITH_TOOLS {
        let answers = in_turn([
            calls("weather", &json!({"city": 7})),
            says("Take one."),
            calls("weather", &json!({"city": "Oslo"})),
            says("Yes."),
        ]);
        let told = call_with_tools(&service, revision, &*answers).await;
        assert!(told.text.ends_with(" Yes. 4"), "{revision}: {}", told.text);
        let hint = &told.asked[1]["messages"][2]["content"][0]["content"][0]["text"];
        assert!(
            hint.as_str().unwrap().contains("- at /city: 7"),
            "{revision}"
        );
        assert_eq!(
            prompt(&told.asked[2]),
            "No tool was called. Call one of the tools."
        );
        let wrong = || calls("wether", &json!({}));
        let answers = in_turn([wrong(), wrong(), wrong()]);
        let told = call_with_tools(&service, revision, &*answers).await;
        assert!(
            told.text.starts_with("SampleValidation { attempts: 3 }"),
            "{revision}"
        );
        assert!(told.text.contains("Unknown tool \"wether\"."), "{revision}");
    }
}
