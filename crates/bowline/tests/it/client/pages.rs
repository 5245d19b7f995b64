//! Lists that come in pages.

use std::time::Duration;

use bowline::{
    Client, Error,
    cache::Cache,
    client::{ClientBuilder, ListLimits},
    proto::{ErrorKind, Reason, model::Tool},
    testing::{FakeServer, FakeSession, ServerProfile},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{connected, connected_with};

/// Lists tools from a server that gives these pages, each under its cursor,
/// and says the cursors that it was asked for.
async fn list(pages: Vec<Value>) -> (Result<Vec<Tool>, Error>, Vec<Value>) {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        let mut cursors = Vec::new();
        for page in pages {
            let request = session.expect("tools/list").await;
            cursors.push(request.params()["cursor"].clone());
            session.respond(&request, page).await;
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
    assert!(
        format!("{error:#}").contains("repeated a page cursor"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn one_bad_page_fails_the_list() {
    let (tools, _) = list(vec![page("a", Some("x")), json!({"tools": 7})]).await;
    let error = tools.expect_err("the page is none");
    assert_eq!(error.reason(), Reason::InvalidResponse);
}

#[tokio::test(start_paused = true)]
async fn every_list_follows_its_pages() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
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
                .respond(&first, json!({key: [item], "nextCursor": "2"}))
                .await;
            let second = session.expect(method).await;
            assert_eq!(second.params()["cursor"], "2");
            session.respond(&second, json!({key: [item]})).await;
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

/// Answers requests for pages for ever; `page` is told how many there were
/// before.
async fn answer_for_ever(session: &mut FakeSession, mut page: impl AsyncFnMut(usize) -> Value) {
    for before in 0.. {
        // Beside what is given up.
        let request = session.find("tools/list").await;
        let page = page(before).await;
        session.respond(&request, page).await;
    }
}

/// How it ends that a client lists the tools of a server whose list does not.
async fn unended(builder: ClientBuilder, mut page: impl FnMut(usize) -> Value) -> Error {
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    tokio::select! {
        listed = client.tools().list() => listed.expect_err("it does not end"),
        () = answer_for_ever(&mut session, async |before| page(before)) => unreachable!(),
    }
}

fn new_page(before: usize) -> Value {
    page(&format!("tool {before}"), Some(&before.to_string()))
}

fn limited(limits: ListLimits) -> ClientBuilder {
    Client::builder().list_limits(limits)
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_is_followed_as_far_as_the_limits_allow() {
    let limits = ListLimits::default();
    for (limits, expected) in [
        (
            limits.max_pages(7),
            "the list exceeds the limit of 7 pages (read so far: 7 pages, 7 items, ",
        ),
        (
            limits.max_items(7),
            "the list exceeds the limit of 7 items (read so far: 8 pages, 8 items, ",
        ),
        (
            limits.max_bytes(500),
            "the list exceeds the limit of 500 bytes (read so far: 6 pages, 6 items, 468 bytes)",
        ),
    ] {
        let error = unended(limited(limits), new_page).await;
        assert_eq!(error.reason(), Reason::ListTooLong);
        assert_eq!(error.kind(), ErrorKind::Protocol);
        let text = format!("{error:#}");
        assert!(
            text.starts_with(&format!("tools/list: {expected}")),
            "{text}"
        );
        assert!(text.contains("raise `ListLimits::max_"), "{text}");
        assert!(!error.is_transient());
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_without_end_ends_with_default_limits_too() {
    let empty = |before: usize| json!({"tools": [], "nextCursor": before.to_string()});
    let error = unended(Client::builder(), empty).await;
    assert_eq!(error.reason(), Reason::ListTooLong);
    assert!(
        format!("{error:#}").contains("limit of 10000 pages"),
        "{error}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_at_its_limits_is_whole() {
    let limits = ListLimits::default().max_pages(2).max_items(2);
    let (client, mut session, _server) =
        connected_with(limited(limits), ServerProfile::handshake()).await;
    let answering = async {
        for page in [page("a", Some("2")), page("b", None)] {
            let request = session.expect("tools/list").await;
            session.respond(&request, page).await;
        }
    };
    let (tools, ()) = tokio::join!(client.tools().list(), answering);
    assert_eq!(names(&tools.expect("it is not over them")), ["a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn the_limits_of_one_list_can_be_its_own() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let limits = ListLimits::default().max_pages(3);
    let error = tokio::select! {
        listed = client.tools().list().limits(limits) => listed.expect_err("it does not end"),
        () = answer_for_ever(&mut session, async |before| new_page(before)) => unreachable!(),
    };
    assert!(format!("{error:#}").contains("limit of 3 pages"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn the_same_items_under_new_cursors_are_not_followed_for_long() {
    let same = |before: usize| page("a", Some(&before.to_string()));
    let error = unended(Client::builder(), same).await;
    assert_eq!(error.reason(), Reason::InvalidResponse);
    let text = format!("{error:#}");
    assert!(text.contains("repeats the same items"), "{text}");
    assert!(text.contains("read so far: 4 pages, 4 items"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_comes_twice_is_no_end() {
    let pages = vec![
        page("a", Some("2")),
        page("a", Some("3")),
        page("a", Some("4")),
        page("b", None),
    ];
    let (tools, _) = list(pages).await;
    assert_eq!(names(&tools.expect("all pages")), ["a", "a", "a", "b"]);
}

#[tokio::test(start_paused = true)]
async fn a_time_is_for_the_whole_list() {
    // By default ten times that of a request, which is 30 seconds.
    for (timeout, expected) in [(None, 300), (Some(50), 50)] {
        let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
        let slow = answer_for_ever(&mut session, async |before| {
            sleep(Duration::from_secs(20)).await;
            new_page(before)
        });
        let mut listing = client.tools().list();
        if let Some(seconds) = timeout {
            listing = listing.timeout(Duration::from_secs(seconds));
        }
        let begun = Instant::now();
        let error = tokio::select! {
            listed = listing => listed.expect_err("it does not end"),
            () = slow => unreachable!(),
        };
        assert_eq!(begun.elapsed(), Duration::from_secs(expected));
        assert!(error.is_timeout() && error.is_transient());
        let text = format!("{error:#}");
        let told = format!("tools/list: the list timed out after {expected}s");
        assert!(text.starts_with(&told), "{text}");
        assert!(text.contains("read so far: "), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_can_wait_for_the_connection() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    let error = client.tools().list().await.expect_err("it is not open yet");
    assert_eq!(error.kind(), ErrorKind::State);
    let serving = async {
        let mut session = server.session().await;
        let request = session.expect("tools/list").await;
        session.respond(&request, page("a", None)).await;
        session
    };
    let (tools, _session) = tokio::join!(client.tools().list().wait_for_connection(), serving);
    assert_eq!(names(&tools.expect("it came up")), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_item_can_be_seen() {
    let first = json!({"tools": [{"name": "a"}, {"name": 7}], "nextCursor": "2"});
    let second = json!({"tools": [{"name": "b"}, "c"]});
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let answering = async {
        for page in [first, second] {
            let request = session.expect("tools/list").await;
            session.respond(&request, page).await;
        }
    };
    let (listed, ()) = tokio::join!(client.tools().list().with_rejected(), answering);
    let listed = listed.expect("a list");
    assert_eq!(names(&listed.items), ["a", "b"]);
    assert_eq!(listed.pages, 2);
    let rejected = listed.rejected.iter();
    let rejected: Vec<_> = rejected.map(|item| (item.index, item.raw.get())).collect();
    assert_eq!(rejected, [(1, r#"{"name":7}"#), (3, r#""c""#)]);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_item_fails_the_list_of_a_strict_client() {
    let builder = Client::builder().strict(true);
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let answering = async {
        let request = session.expect("tools/list").await;
        let page = json!({"tools": [{"name": "a"}, {"name": 7}]});
        session.respond(&request, page).await;
    };
    let (listed, ()) = tokio::join!(client.tools().list(), answering);
    let error = listed.expect_err("it is strict");
    assert_eq!(error.reason(), Reason::InvalidResponse);
}

#[tokio::test(start_paused = true)]
async fn a_cached_list_without_end_ends_too() {
    let limits = ListLimits::default().max_pages(7);
    let (client, mut session, _server) =
        connected_with(limited(limits), ServerProfile::handshake()).await;
    let cached = Cache::default().wrap(client);
    let error = tokio::select! {
        listed = cached.tools() => listed.expect_err("it does not end"),
        () = answer_for_ever(&mut session, async |before| new_page(before)) => unreachable!(),
    };
    assert_eq!(error.reason(), Reason::ListTooLong);
}

/// What a page holds takes many times its length once it is decoded.
#[tokio::test(start_paused = true)]
async fn a_page_beyond_the_limit_is_not_decoded() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let limits = ListLimits::default().max_bytes(1000);
    let answering = async {
        let request = session.expect("tools/list").await;
        // It is no list, which only decoding it would tell.
        let page = json!({"tools": "x".repeat(2000)});
        session.respond(&request, page).await;
    };
    let (listed, ()) = tokio::join!(client.tools().list().limits(limits), answering);
    let error = listed.expect_err("it is too long");
    assert_eq!(error.reason(), Reason::ListTooLong, "{error}");
}
