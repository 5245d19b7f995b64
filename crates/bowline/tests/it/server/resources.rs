//! Resources, templates and sources: listed and read.

use std::time::Duration;

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{self, Annotations, CacheScope, ElicitParams, ElicitResult, Icon, Role},
        revision::Revision,
    },
    server::{
        ClientCapability, Conversation, Error, HandlerContext, Json, Resource, ResourceSource,
        ResourceTemplate, Result, Server, Service,
        form::Elicit,
        resource::{ContentPart, ResourcePage},
    },
};
use serde::Deserialize;
use serde_json::json;

use super::serving::{Raw, connect};

#[derive(Elicit)]
struct Which {
    /// Which one?
    one: String,
}

#[derive(Deserialize)]
struct Place {
    row: u8,
    seat: String,
}

/// A set of resources that nobody registered: `set:0` to `set:24`.
pub(super) struct Numbers;

impl<S: Send + Sync + 'static> ResourceSource<S> for Numbers {
    async fn list(&self, cursor: Option<&str>, _cx: &HandlerContext<S>) -> Result<ResourcePage> {
        let first: u32 = cursor.unwrap_or("0").parse()?;
        let numbers = (first..25).take(10);
        let page =
            ResourcePage::new(numbers.map(|n| model::Resource::new(format!("set:{n}"), "number")));
        Ok(if first + 10 < 25 {
            page.next((first + 10).to_string())
        } else {
            page
        })
    }

    async fn read(&self, uri: &str, _cx: Conversation<S>) -> Result<Option<Vec<ContentPart>>> {
        let number = uri.strip_prefix("set:");
        let number = number.and_then(|number| number.parse::<u32>().ok());
        Ok(number
            .filter(|number| *number < 25)
            .map(|number| vec![ContentPart::text(number.to_string())]))
    }

    fn is_subscribable(&self, uri: &str) -> bool {
        uri.starts_with("set:")
    }
}

fn service() -> Service {
    let mut annotations = Annotations::default();
    annotations.audience = vec![Role::User];
    Server::new("test", "1")
        .resource(
            Resource::new("test://static-text", "text")
                .title("A text")
                .description("Fixed")
                .mime_type("text/plain")
                .icon(Icon::new("https://example.com/icon.png"))
                .annotations(annotations)
                .text("Hello!"),
        )
        .resource(
            Resource::new("test://static-binary", "binary")
                .mime_type("image/png")
                .bytes([0x89, 0x50, 0x4e]),
        )
        .resource(
            Resource::new("test://parts", "parts").read(async |_cx: Conversation| {
                Ok(vec![
                    ContentPart::text("a").mime_type("text/plain"),
                    ContentPart::bytes(b"b").uri("test://parts/b"),
                ])
            }),
        )
        .resource(
            Resource::new("test://asks", "asks")
                .requires([ClientCapability::Elicitation])
                .read(async |cx: Conversation| {
                    let which = cx.elicit::<Which>("Which?").required().await?;
                    Ok(format!("the {} one", which.one))
                }),
        )
        .resource(
            Resource::new("test://fails", "fails").read(async |_cx: Conversation| {
                Err::<String, _>(Error::failed("the disk is on fire"))
            }),
        )
        .resource(
            Resource::new("test://gone", "gone").read(async |_cx: Conversation| Ok(None::<String>)),
        )
        .template(
            ResourceTemplate::new("test://template/{id}/data", "template")
                .mime_type("application/json")
                .read(async |variables, cx: Conversation| {
                    assert!(cx.name().starts_with("test://template/"));
                    Ok(Json(json!({"id": &variables["id"]})))
                }),
        )
        .template(
            ResourceTemplate::new("test://template/{+rest}", "anything below").read(
                async |variables, _cx: Conversation| Ok(format!("rest: {}", &variables["rest"])),
            ),
        )
        .template(
            ResourceTemplate::new("seat://{row}/{seat}", "seat")
                .variables::<Place>()
                .read(async |place, _cx: Conversation| {
                    Ok(format!("{}{}", place.row + 1, place.seat))
                }),
        )
        .resource_source(Numbers)
        .build()
        .expect("the server is sound")
}

async fn client(service: &Service, revision: Revision) -> Client {
    connect(service, revision, |builder| {
        builder.on_elicit(|_: ElicitParams| async {
            ElicitResult::accept(RawJson::encode(&json!({"one": "red"})).expect("JSON"))
        })
    })
    .await
}

async fn text(client: &Client, uri: &str) -> String {
    let result = client.resources().read(uri).await.expect(uri);
    result.contents[0].text.clone().expect("it is text")
}

#[tokio::test]
async fn fixed_contents_are_read_in_every_revision() {
    let service = service();
    for revision in Revision::ALL {
        let client = client(&service, revision).await;
        let result = client.resources().read("test://static-text").await.unwrap();
        let contents = &result.contents[0];
        assert_eq!(contents.uri, "test://static-text");
        assert_eq!(contents.mime_type.as_deref(), Some("text/plain"));
        assert_eq!(contents.text.as_deref(), Some("Hello!"));
        let result = client.resources().read("test://static-binary").await;
        let contents = &result.unwrap().contents[0];
        assert_eq!(contents.mime_type.as_deref(), Some("image/png"));
        assert_eq!(contents.blob.as_deref(), Some("iVBO"), "{revision}");
        assert_eq!(contents.text, None);
    }
}

#[tokio::test]
async fn what_is_said_of_a_resource_is_listed() {
    let service = service();
    let client = client(&service, Revision::V2025_11_25).await;
    let resources = client.resources().list().await.unwrap();
    let text = &resources[0];
    assert_eq!(text.uri, "test://static-text");
    assert_eq!(text.title.as_deref(), Some("A text"));
    assert_eq!(text.description.as_deref(), Some("Fixed"));
    assert_eq!(text.size, Some(6));
    assert_eq!(text.icons.len(), 1);
    assert_eq!(text.annotations.as_ref().unwrap().audience, [Role::User]);
    assert_eq!(resources[1].size, Some(3));
}

#[tokio::test]
async fn several_parts_have_places_of_their_own() {
    let service = service();
    let client = client(&service, Revision::V2026_07_28).await;
    let result = client.resources().read("test://parts").await.unwrap();
    let [a, b] = &result.contents[..] else {
        panic!("two parts: {result:?}");
    };
    assert_eq!(
        (a.uri.as_str(), a.text.as_deref()),
        ("test://parts", Some("a"))
    );
    assert_eq!(a.mime_type.as_deref(), Some("text/plain"));
    assert_eq!(
        (b.uri.as_str(), b.blob.as_deref()),
        ("test://parts/b", Some("Yg=="))
    );
    assert_eq!(b.mime_type, None);
}

#[tokio::test]
async fn reading_may_ask_live_and_by_replay() {
    let service = service();
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let client = client(&service, revision).await;
        assert_eq!(
            text(&client, "test://asks").await,
            "the red one",
            "{revision}"
        );
    }
}

#[tokio::test]
async fn an_exact_resource_comes_first_then_templates_in_order_then_sources() {
    let service = service();
    service
        .add_resource(Resource::new("test://template/1/data", "exact").text("exact"))
        .unwrap();
    service
        .add_resource(Resource::new("set:7", "mine").text("mine"))
        .unwrap();
    let client = client(&service, Revision::V2026_07_28).await;
    assert_eq!(text(&client, "test://template/1/data").await, "exact");
    assert_eq!(
        text(&client, "test://template/2/data").await,
        r#"{"id":"2"}"#
    );
    assert_eq!(
        text(&client, "test://template/2/more").await,
        "rest: 2/more"
    );
    assert_eq!(text(&client, "set:7").await, "mine");
    assert_eq!(text(&client, "set:8").await, "8");
}

#[tokio::test]
async fn variables_are_decoded_and_typed() {
    let service = service();
    let client = client(&service, Revision::V2025_06_18).await;
    let decoded = text(&client, "test://template/a%20b%2F../data").await;
    assert_eq!(
        decoded, r#"{"id":"a b/.."}"#,
        "it is for the handler to check"
    );
    assert_eq!(text(&client, "seat://11/c").await, "12c");
    let error = client.resources().read("seat://many/c").await.unwrap_err();
    assert_eq!(error.server_error().unwrap().code, -32002, "no such seat");
}

#[tokio::test]
async fn what_is_not_there_has_the_code_of_the_revision() {
    let service = service();
    for revision in Revision::ALL {
        let client = client(&service, revision).await;
        for uri in [
            "test://nonexistent",
            "set:25",
            "test://gone",
            "test://template/%zz/data",
        ] {
            let error = client.resources().read(uri).await.unwrap_err();
            let error = error.server_error().expect("the server refuses");
            assert_eq!(
                error.code,
                revision.rules().resource_not_found,
                "{revision}"
            );
            let data: serde_json::Value = error.data.as_ref().unwrap().decode().unwrap();
            assert_eq!(data, json!({"uri": uri}));
        }
    }
}

#[tokio::test]
async fn a_reader_that_fails_is_an_error_response() {
    let service = service();
    let client = client(&service, Revision::V2026_07_28).await;
    let error = client.resources().read("test://fails").await.unwrap_err();
    let error = error.server_error().unwrap();
    assert_eq!(
        (error.code, error.message.as_str()),
        (-32603, "the disk is on fire")
    );
}

#[tokio::test]
async fn sources_are_listed_after_what_is_registered() {
    let service = service();
    for revision in [Revision::V2024_11_05, Revision::V2026_07_28] {
        let client = client(&service, revision).await;
        let uris: Vec<_> = client.resources().list().await.unwrap();
        let uris: Vec<_> = uris.into_iter().map(|resource| resource.uri).collect();
        let expected: Vec<_> = (0..25).map(|n| format!("set:{n}")).collect();
        let own = uris.len() - 25;
        assert_eq!(uris[own..], expected);
        assert_eq!(uris[0], "test://static-text");
    }
}

#[tokio::test]
async fn a_server_of_nothing_but_a_source_begins_with_it() {
    let service = Server::new("test", "1").resource_source(Numbers);
    let service = service.resource_source(Numbers).build().unwrap();
    let mut raw = Raw::stateless(&service);
    let page = raw.result("resources/list", json!({})).await;
    assert_eq!(page["resources"][0]["uri"], "set:0");
    assert_eq!(page["nextCursor"], "@0.10");
    let page = raw
        .result("resources/list", json!({"cursor": "@0.20"}))
        .await;
    assert_eq!(page["resources"].as_array().unwrap().len(), 5);
    assert_eq!(page["nextCursor"], "@1", "the other source");
    let page = raw
        .result("resources/list", json!({"cursor": "@1.20"}))
        .await;
    assert_eq!(page.get("nextCursor"), None);
    for cursor in ["@2", "@", "@-1", "nonsense", ""] {
        let error = raw.error("resources/list", json!({"cursor": cursor})).await;
        assert_eq!(error["code"], -32602, "{cursor}");
    }
}

#[tokio::test]
async fn what_a_client_cannot_do_hides_what_needs_it() {
    let service = service();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let plain = connect(&service, revision, |builder| builder).await;
        let uris = plain.resources().list().await.unwrap();
        assert!(uris.iter().all(|resource| resource.uri != "test://asks"));
        let error = plain.resources().read("test://asks").await.unwrap_err();
        let code = error.server_error().unwrap().code;
        let expected = if revision == Revision::V2026_07_28 {
            -32021
        } else {
            -32600
        };
        assert_eq!(code, expected, "{revision}");
    }
}

/// A source for clients that can show forms.
struct Forms;

impl ResourceSource for Forms {
    async fn list(&self, _cursor: Option<&str>, _cx: &HandlerContext) -> Result<ResourcePage> {
        Ok(ResourcePage::new([model::Resource::new("form:1", "form")]))
    }

    async fn read(&self, uri: &str, cx: Conversation) -> Result<Option<Vec<ContentPart>>> {
        if uri != "form:1" {
            return Ok(None);
        }
        let which = cx.elicit::<Which>("Which?").required().await?;
        Ok(Some(vec![ContentPart::text(which.one)]))
    }

    fn requires(&self) -> Vec<ClientCapability> {
        vec![ClientCapability::Elicitation]
    }
}

#[tokio::test]
async fn a_source_may_ask_and_is_hidden_from_who_cannot_answer() {
    let service = Server::new("test", "1")
        .resource(Resource::new("a:1", "one").text("1"))
        .resource_source(Forms)
        .cache_hint(Duration::from_secs(60), CacheScope::Public)
        .build()
        .unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let able = client(&service, revision).await;
        assert_eq!(able.resources().list().await.unwrap().len(), 2);
        assert_eq!(text(&able, "form:1").await, "red", "{revision}");
        let plain = connect(&service, revision, |builder| builder).await;
        assert_eq!(plain.resources().list().await.unwrap().len(), 1);
        let error = plain.resources().read("form:1").await.unwrap_err();
        let code = revision.rules().resource_not_found;
        assert_eq!(error.server_error().unwrap().code, code);
    }
    let mut raw = Raw::stateless(&service);
    let page = raw.result("resources/list", json!({})).await;
    assert_eq!(
        page["cacheScope"], "private",
        "not everybody is told the same"
    );
    let page = raw.result("resources/list", json!({"cursor": "@0"})).await;
    assert_eq!(page["cacheScope"], "private");
}

#[tokio::test]
async fn how_long_contents_may_be_kept_is_said() {
    let minute = Duration::from_secs(60);
    let service =
        Server::new("test", "1")
            .cache_hint_for(
                bowline::server::CacheTarget::Contents,
                minute,
                CacheScope::Public,
            )
            .resource(Resource::new("a:1", "as the server says").text("1"))
            .resource(
                Resource::new("a:2", "for itself")
                    .cache_hint(Duration::from_secs(2), CacheScope::Private)
                    .text("2"),
            )
            .resource(Resource::new("a:3", "asks").read(async |cx: Conversation| {
                Ok(cx.elicit::<Which>("Which?").required().await?.one)
            }))
            .build()
            .unwrap();
    let mut raw = Raw::stateless(&service);
    for (uri, ttl, scope) in [("a:1", 60_000, "public"), ("a:2", 2_000, "private")] {
        let result = raw.result("resources/read", json!({"uri": uri})).await;
        assert_eq!(
            (&result["ttlMs"], &result["cacheScope"]),
            (&json!(ttl), &json!(scope))
        );
    }
    let asked = raw.result("resources/read", json!({"uri": "a:3"})).await;
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(asked.get("ttlMs"), None);
    let again = json!({
        "uri": "a:3",
        "requestState": asked["requestState"],
        "inputResponses": {"1": {"action": "accept", "content": {"one": "x"}}},
    });
    let result = raw.result("resources/read", again).await;
    assert_eq!(result["contents"][0]["text"], "x");
    assert_eq!(
        result["ttlMs"], 0,
        "an answer to a question is kept by nobody"
    );
}

#[tokio::test]
async fn state_is_at_hand_and_what_came_before_it_does_without() {
    let service = Server::new("test", "1")
        .resource(Resource::new("a:before", "before").text("before"))
        .template(
            ResourceTemplate::new("b:{x}", "before")
                .read(async |variables, _cx: Conversation| Ok(variables["x"].to_owned())),
        )
        .resource_source(Numbers)
        .state(41_u32)
        .resource(
            Resource::new("a:after", "after")
                .read(async |cx: Conversation<u32>| Ok((cx.state() + 1).to_string())),
        )
        .build()
        .unwrap();
    let client = Client::builder()
        .connect(service.in_memory())
        .await
        .unwrap();
    for (uri, expected) in [
        ("a:before", "before"),
        ("b:7", "7"),
        ("set:3", "3"),
        ("a:after", "42"),
    ] {
        assert_eq!(text(&client, uri).await, expected);
    }
}
