//! Lists that come in pages.

use bowline::{Error, proto::Reason, proto::model::Tool, testing::Profile};
use serde_json::{Value, json};

use super::connected;

/// Lists tools from a server that gives these pages, each under its cursor,
/// and says the cursors that it was asked for.
async fn list(pages: Vec<Value>) -> (Result<Vec<Tool>, Error>, Vec<Value>) {
    let (client, mut session, _server) = connected(Profile::handshake()).await;
    let answering = async {
        let mut cursors = Vec::new();
        for page in pages {
            let request = session.expect("tools/list").await;
            cursors.push(request.params()["cursor"].clone());
            session.answer(&request, page).await;
        }
        cursors
    };
    tokio::join!(client.tools().list(), answering)
}

fn page(name: &str, next: Option<&str>) -> Value {
    let mut page = json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]});
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    page
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| &*tool.name).collect()
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_to_the_end() {
    let pages = vec![page("a", Some("2")), page("b", Some("3")), page("c", None)];
    let (tools, cursors) = list(pages).await;
    assert_eq!(names(&tools.expect("all pages")), ["a", "b", "c"]);
    assert_eq!(cursors, [json!(null), json!("2"), json!("3")]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_cursor_is_a_cursor() {
    let (tools, cursors) = list(vec![page("a", Some("")), page("b", None)]).await;
    assert_eq!(names(&tools.expect("all pages")), ["a", "b"]);
    assert_eq!(cursors, [json!(null), json!("")]);
}

#[tokio::test(start_paused = true)]
async fn a_null_cursor_is_none() {
    let mut only = page("a", None);
    only["nextCursor"] = Value::Null;
    let (tools, _) = list(vec![only]).await;
    assert_eq!(names(&tools.expect("one page")), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn an_empty_page_is_not_the_last() {
    let empty = json!({"tools": [], "nextCursor": "on"});
    let (tools, _) = list(vec![empty, page("b", None)]).await;
    assert_eq!(names(&tools.expect("all pages")), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn pages_that_lead_in_a_circle_are_an_error() {
    let pages = vec![
        page("a", Some("x")),
        page("b", Some("y")),
        page("a", Some("x")),
    ];
    let (tools, _) = list(pages).await;
    let error = tools.expect_err("it never ends");
    assert_eq!(error.reason(), Reason::InvalidResponse);
    assert!(error.to_string().contains("lead back"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn one_bad_page_fails_the_list() {
    let (tools, _) = list(vec![page("a", Some("x")), json!({"tools": 7})]).await;
    let error = tools.expect_err("the page is none");
    assert_eq!(error.reason(), Reason::InvalidResponse);
}

#[tokio::test(start_paused = true)]
async fn every_list_follows_its_pages() {
    let (client, mut session, _server) = connected(Profile::handshake()).await;
    let answering = async {
        for (method, key, item) in [
            ("prompts/list", "prompts", json!({"name": "p"})),
            (
                "resources/list",
                "resources",
                json!({"name": "r", "uri": "u:r"}),
            ),
            (
                "resources/templates/list",
                "resourceTemplates",
                json!({"name": "t", "uriTemplate": "u:{t}"}),
            ),
        ] {
            let first = session.expect(method).await;
            session
                .answer(&first, json!({key: [item], "nextCursor": "2"}))
                .await;
            let second = session.expect(method).await;
            assert_eq!(second.params()["cursor"], "2");
            session.answer(&second, json!({key: [item]})).await;
        }
    };
    let listing = async {
        let prompts = client.prompts().list().await.expect("prompts");
        let resources = client.resources().list().await.expect("resources");
        let templates = client.resources().templates().await.expect("templates");
        (prompts.len(), resources.len(), templates.len())
    };
    let (counts, ()) = tokio::join!(listing, answering);
    assert_eq!(counts, (2, 2, 2));
}
