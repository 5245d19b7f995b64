//! The travel agency of the command's demo, which is tested as guides say that
//! tools should be.

#[path = "../../programs/travel/app.rs"]
mod app;
#[path = "../../../../bowline-cli/src/demo/travel/mod.rs"]
mod tools;

use std::sync::Arc;

use bowline::{
    proto::{jsonrpc::code, model::CreateMessageParams, revision::Revision},
    server::{
        Server, Service,
        seal::SealKeys,
        store::{MemoryJournalStore, MemorySealedStateStore},
    },
    testing::{
        ModelAnswer, TestClient, TestClients, TranscriptEntry, UserAnswer, accept, cancel, confirm,
        decline,
    },
};
use serde_json::{Value, json};

use self::{
    app::App,
    tools::agency::{AIRLINES, Flight},
};

const CHOICE: &str = "3 flights. Which one?\n\
                      Gull-1 to Lisbon on 2027-05-01 at 06:40, 120 euros\n\
                      Heron-1 to Lisbon on 2027-05-01 at 12:15, 155 euros\n\
                      Swift-1 to Lisbon on 2027-05-01 at 19:30, 140 euros";
const WISH: &str = "Sum up in one sentence: \
                    Heron-1 to Lisbon on 2027-05-01 at 12:15, 155 euros, seat: at the window";
const BOOKED: &str = "Booked Heron-1 to Lisbon on 2027-05-01 at 12:15, 155 euros, \
                      seat: at the window. The number of the booking is 1001.";

fn server(app: &App) -> Server<App> {
    app::offer(Server::new("travel", "1"), app.clone())
}

fn service(app: &App) -> Service<App> {
    server(app).build().expect("the server is sound")
}

fn in_both_eras() -> TestClients {
    TestClient::in_all_revisions(|| service(&App::new()))
}

fn to_lisbon() -> Value {
    json!({"destination": "lisbon", "date": "2027-05-01"})
}

fn choice() -> UserAnswer {
    accept(json!({"flight": "Heron-1", "seat": "window"}))
}

/// The flight that is always there.
fn some_flight() -> Flight {
    let flight = AIRLINES[0].search("Oslo", "2027-05-01");
    flight.expect("there is one every day")
}

#[tokio::test]
async fn all_airlines_are_asked() {
    let client = in_both_eras();
    let outcome = client.call("search_flights", to_lisbon()).await;
    let found: Value = outcome.structured();
    let ids: Vec<_> = (0..3).map(|at| &found["flights"][at]["id"]).collect();
    assert_eq!(ids, ["Gull-1", "Heron-1", "Swift-1"]);
    let progress = outcome.transcript().entries().iter().filter_map(progress);
    let names = AIRLINES.map(|airline| format!("{} has answered", airline.name));
    assert_eq!(progress.collect::<Vec<_>>(), names);
    let nowhere = json!({"destination": "Atlantis", "date": "2027-05-01"});
    let outcome = client.call("search_flights", nowhere).await;
    outcome.assert_structured(json!({"flights": []}));
}

fn progress(entry: &TranscriptEntry) -> Option<&str> {
    match entry {
        TranscriptEntry::Progressed { message, .. } => Some(message),
        _ => None,
    }
}

#[tokio::test]
async fn a_flight_is_booked_in_every_revision() {
    let client = in_both_eras()
        .elicit(choice())
        .sample("At noon to Lisbon, at the window.")
        .elicit(confirm());
    let outcome = client.call("book_flight", to_lisbon()).await;
    outcome.assert_text(BOOKED);
    let question = "At noon to Lisbon, at the window.\n\nBook it?";
    assert_eq!(outcome.transcript().asked(), [CHOICE, WISH, question]);
    client.assert_all_used();
}

#[tokio::test]
async fn a_model_is_asked_for_no_more_than_a_sentence() {
    let short = |question: &CreateMessageParams| {
        assert_eq!(question.max_tokens, 100);
        "Fine."
    };
    let client = in_both_eras().elicit(choice()).sample_with(short);
    let client = client.elicit(confirm());
    let outcome = client.call("book_flight", to_lisbon()).await;
    outcome.assert_text(BOOKED);
}

#[tokio::test]
async fn nothing_is_booked_twice_on_two_nodes() {
    let app = App::new();
    let (journals, states) = (
        Arc::new(MemoryJournalStore::default()),
        Arc::new(MemorySealedStateStore::default()),
    );
    let node = || {
        let keys = SealKeys::from_secret(b"a secret for tests, and for nothing else");
        server(&app)
            .seal_keys(keys.expect("it is long enough"))
            .journal_store(Arc::clone(&journals))
            .sealed_state_store(Arc::clone(&states))
            .build()
            .expect("the server is sound")
    };
    let client = TestClient::on_two_nodes(node(), node())
        .elicit(choice())
        .sample("Fine.")
        .elicit(confirm())
        .duplicate_rounds();
    client
        .call("book_flight", to_lisbon())
        .await
        .assert_text(BOOKED);
    client.assert_all_used();
    assert!(app.agency.booking(1001).is_some());
    assert_eq!(app.agency.booking(1002), None, "it is booked once");

    let client = client.elicit(confirm());
    let outcome = client.call("cancel_booking", json!({"number": 1001})).await;
    outcome.assert_text("Booking 1001 is cancelled.");
    assert_eq!(app.agency.booking(1001), None);
    assert_eq!(
        app.agency.book(some_flight()),
        1002,
        "no number is used again"
    );
}

/// The world goes on while the traveller thinks, and in every revision the
/// tool notices at the same place.
#[tokio::test]
async fn what_is_cancelled_meanwhile_is_not_cancelled_again() {
    for revision in [Revision::LATEST_HANDSHAKE, Revision::LATEST] {
        let app = App::new();
        let number = app.agency.book(some_flight());
        let elsewhere = Arc::clone(&app.agency);
        let client = TestClient::new(service(&app)).revision(revision);
        let client = client.elicit_with(move |_| {
            assert!(elsewhere.cancel(number));
            confirm()
        });
        let outcome = client
            .call("cancel_booking", json!({"number": number}))
            .await;
        outcome.assert_tool_error("the booking was already cancelled");
    }
}

#[tokio::test]
async fn whoever_says_no_books_nothing() {
    let unwilling = accept(json!({"confirmed": false}));
    for (no, why) in [
        (decline(), "Error: ElicitationDeclined: the user declined"),
        (cancel(), "Error: ElicitationCancelled: the user cancelled"),
        (unwilling, "Error: ElicitationDeclined: the user declined"),
    ] {
        let app = App::new();
        // At the confirmation.
        let client = TestClient::in_all_revisions(|| service(&app))
            .elicit(choice())
            .sample("Fine.")
            .elicit(no.clone())
            .duplicate_rounds();
        client
            .call("book_flight", to_lisbon())
            .await
            .assert_tool_error(why);
        client.assert_all_used();
        assert_eq!(
            app.agency.book(some_flight()),
            1001,
            "nothing was booked before"
        );

        // And the same when it is to be cancelled.
        let client = TestClient::in_all_revisions(|| service(&app)).elicit(no);
        let outcome = client.call("cancel_booking", json!({"number": 1001})).await;
        outcome.assert_tool_error(why);
        assert!(app.agency.booking(1001).is_some());
    }
}

#[tokio::test]
async fn whoever_says_no_at_once_is_asked_no_more() {
    for (no, why) in [(decline(), "declined"), (cancel(), "cancelled")] {
        let client = in_both_eras().elicit(no);
        let outcome = client.call("book_flight", to_lisbon()).await;
        outcome.assert_tool_error(why);
        assert_eq!(outcome.transcript().asked(), [CHOICE]);
    }
}

#[tokio::test]
async fn a_wrong_answer_is_asked_for_again_once() {
    let wrong = || accept(json!({"flight": "Heron-1", "seat": "roof"})).unchecked();
    let client = in_both_eras().elicit(wrong()).elicit(choice());
    let client = client.sample("Fine.").elicit(confirm());
    let outcome = client.call("book_flight", to_lisbon()).await;
    outcome.assert_text(BOOKED);
    let asked = outcome.transcript().asked();
    let why = "The last answer was not valid: seat: ";
    assert!(
        asked[1].starts_with(CHOICE) && asked[1].contains(why),
        "{}",
        asked[1]
    );

    let client = in_both_eras().elicit(wrong()).elicit(wrong());
    let outcome = client.call("book_flight", to_lisbon()).await;
    outcome.assert_tool_error("Error: InvalidAnswer: seat: ");
    client.assert_all_used();
}

#[tokio::test]
async fn what_is_not_there_is_said() {
    let client = in_both_eras();
    let nowhere = json!({"destination": "Atlantis", "date": "2027-05-01"});
    let outcome = client.call("book_flight", nowhere).await;
    outcome
        .assert_tool_error("no flights to Atlantis; available destinations: Lisbon, Oslo, Tokyo");
    let outcome = client.call("cancel_booking", json!({"number": 7})).await;
    outcome.assert_tool_error("booking 7 not found");
    let client = client.elicit(accept(json!({"flight": "Stork-1"})));
    let outcome = client.call("book_flight", to_lisbon()).await;
    outcome.assert_tool_error("flight Stork-1 not found");
    client.assert_all_used();
}

#[tokio::test]
async fn a_model_that_refuses_ends_the_booking() {
    let app = App::new();
    for revision in [Revision::LATEST_HANDSHAKE, Revision::LATEST] {
        let client = TestClient::new(service(&app)).revision(revision);
        let client = client.elicit(choice());
        let client = client.sample(ModelAnswer::refused("not today"));
        let outcome = client.call("book_flight", to_lisbon()).await;
        match revision {
            // The client gives up: an answer cannot be an error here.
            Revision::LATEST => assert!(outcome.error().is_some(), "{outcome}"),
            _ => drop(outcome.assert_tool_error("the client refused: not today")),
        }
        client.assert_all_used();
    }
    assert_eq!(
        app.agency.book(some_flight()),
        1001,
        "nothing was booked before"
    );
}

#[tokio::test]
async fn clients_that_cannot_ask_are_refused() {
    for (revision, refusal) in [
        (Revision::LATEST_HANDSHAKE, code::INVALID_REQUEST),
        (Revision::LATEST, code::MISSING_CLIENT_CAPABILITY),
    ] {
        let client = TestClient::new(service(&App::new())).revision(revision);
        let client = client.without_sampling();
        let outcome = client.call("book_flight", to_lisbon()).await;
        outcome.assert_error_code(refusal);
        let client = client.without_elicitation();
        let outcome = client.call("cancel_booking", json!({"number": 1001})).await;
        outcome.assert_error_code(refusal);
    }
}
