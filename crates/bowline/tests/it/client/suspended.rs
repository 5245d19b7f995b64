//! Calls that wait for answers which nobody at hand can give.

use bowline::{
    client::{SuspendedCall, ToolCallOutcome},
    proto::model::{ElicitResult, InputResponses},
    testing::ServerProfile,
};
use serde_json::json;

use super::{connected, connected_with, said};

#[tokio::test(start_paused = true)]
async fn a_parked_call_is_written_down_and_gone_on_with() {
    let builder = bowline::Client::builder().on_elicit(async |_| panic!("nobody is to be asked"));
    let (client, mut session, _server) = connected_with(builder, ServerProfile::stateless()).await;
    let asking = async {
        let request = session.expect("tools/call").await;
        let form =
            json!({"message": "Which?", "requestedSchema": {"type": "object", "properties": {}}});
        let question = json!({"seat": {"method": "elicitation/create", "params": form}});
        session.require_input(&request, question, "sealed").await;
    };
    let call = client.tools().call("book", json!({"to": "Lisbon"}));
    let (turn, ()) = tokio::join!(call.suspend_on_input(), asking);
    let Ok(ToolCallOutcome::InputRequired(parked)) = turn else {
        panic!("{turn:?}");
    };
    assert_eq!(parked.questions().len(), 1);
    let written = serde_json::to_string(&parked).expect("JSON");
    let parked: SuspendedCall = serde_json::from_str(&written).expect("the same");

    let finishing = async {
        let request = session.expect("tools/call").await;
        let params = request.params();
        assert_eq!(params["arguments"]["to"], "Lisbon", "as first asked");
        assert_eq!(params["requestState"], "sealed");
        assert_eq!(params["inputResponses"]["seat"]["action"], "decline");
        session.respond(&request, said("never mind")).await;
    };
    let mut answers = InputResponses::default();
    let declined = bowline::proto::jsonrpc::RawJson::encode(&ElicitResult::decline());
    answers.insert("seat", declined.expect("JSON"));
    let resumed = async { client.tools().resume(parked, &answers).await };
    let (result, ()) = tokio::join!(resumed, finishing);
    assert_eq!(result.expect("an answer").all_text(), "never mind");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_questions_is_done() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("tools/call").await;
        session.respond(&request, said("done")).await;
    };
    let call = client.tools().call("book", json!({}));
    let (turn, ()) = tokio::join!(call.suspend_on_input(), answering);
    assert!(matches!(turn, Ok(ToolCallOutcome::Done(result)) if result.all_text() == "done"));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_suspended_goes_on_without_answers() {
    let (client, mut session, _server) = connected(ServerProfile::stateless()).await;
    let suspending = async {
        let request = session.expect("tools/call").await;
        session.require_input(&request, json!({}), "sealed").await;
    };
    let call = client.tools().call("book", json!({}));
    let (turn, ()) = tokio::join!(call.suspend_on_input(), suspending);
    let Ok(ToolCallOutcome::InputRequired(parked)) = turn else {
        panic!("{turn:?}");
    };
    assert!(parked.questions().is_empty());
    let finishing = async {
        let request = session.expect("tools/call").await;
        let params = request.params();
        assert_eq!(params["requestState"], "sealed");
        assert_eq!(params.get("inputResponses"), None, "there was no question");
        session.respond(&request, said("done")).await;
    };
    let answers = InputResponses::default();
    let resumed = async { client.tools().resume(parked, &answers).await };
    let (result, ()) = tokio::join!(resumed, finishing);
    assert_eq!(result.expect("an answer").all_text(), "done");
}
