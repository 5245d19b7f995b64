//! All four lists: their order, their pages, and how they change.

use std::time::Duration;

use bowline::{
    Client,
    client::Notification,
    proto::{model::CacheScope, revision::Revision},
    server::{
        BuildError, CacheTarget, ClientCapability, Conversation, Prompt, Resource,
        ResourceTemplate, Server, Service, TaskPolicy, Tool,
    },
};
use serde_json::{Value, json};

use super::serving::{Raw, connect};

fn tool(name: &str) -> Tool {
    Tool::new(name)
        .description("A tool")
        .no_input()
        .handler(async |_| Ok("x"))
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name).get(async |_, _cx: Conversation| Ok("x"))
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, "resource").text("x")
}

fn template(uri: &str) -> ResourceTemplate {
    ResourceTemplate::new(uri, "template").read(async |_, _cx: Conversation| Ok("x"))
}

/// Twenty-five of each.
fn service() -> Service {
    let each = || (0..25).rev();
    Server::new("test", "1")
        .tools(each().map(|n| tool(&format!("t{n}"))))
        .prompts(each().map(|n| prompt(&format!("p{n}"))))
        .resources(each().map(|n| resource(&format!("r:{n}"))))
        .templates(each().map(|n| template(&format!("m{n}:{{x}}"))))
        .page_size(10)
        .build()
        .expect("the server is sound")
}

/// Method, member of the result, and the member that names an item.
const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "tools", "name"),
    ("prompts/list", "prompts", "name"),
    ("resources/list", "resources", "uri"),
    (
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    ),
];

async fn names(client: &Client) -> [Vec<String>; 4] {
    let tools = client.tools().list().await.expect("a list");
    let prompts = client.prompts().list().await.expect("a list");
    let resources = client.resources().list().await.expect("a list");
    let templates = client.resources().templates().await.expect("a list");
    [
        tools.into_iter().map(|it| it.name).collect(),
        prompts.into_iter().map(|it| it.name).collect(),
        resources.into_iter().map(|it| it.uri).collect(),
        templates.into_iter().map(|it| it.uri_template).collect(),
    ]
}

#[tokio::test]
async fn lists_have_the_order_in_which_things_are_added() {
    let service = service();
    for revision in Revision::ALL {
        let client = connect(&service, revision, |builder| builder).await;
        let [tools, prompts, resources, templates] = names(&client).await;
        for n in 0..25 {
            assert_eq!(tools[24 - n], format!("t{n}"));
            assert_eq!(prompts[24 - n], format!("p{n}"));
            assert_eq!(resources[24 - n], format!("r:{n}"));
            assert_eq!(templates[24 - n], format!("m{n}:{{x}}"));
        }
        assert_eq!(tools.len(), 25);
    }
}

#[tokio::test]
async fn pages_have_their_size_and_cursors_are_of_one_list() {
    let service = service();
    let mut raw = Raw::stateless(&service);
    let mut cursors = Vec::new();
    for (method, member, _) in LISTS {
        let first = raw.result(method, json!({})).await;
        assert_eq!(first[member].as_array().unwrap().len(), 10, "{method}");
        let second = raw
            .result(method, json!({"cursor": first["nextCursor"]}))
            .await;
        let third = raw
            .result(method, json!({"cursor": second["nextCursor"]}))
            .await;
        assert_eq!(third[member].as_array().unwrap().len(), 5);
        assert_eq!(third.get("nextCursor"), None);
        cursors.push(first["nextCursor"].clone());
    }
    for (at, (method, ..)) in LISTS.into_iter().enumerate() {
        let other = &cursors[(at + 1) % cursors.len()];
        for cursor in [other, &json!("0"), &json!("")] {
            let error = raw.error(method, json!({"cursor": cursor})).await;
            assert_eq!(error["code"], -32602, "{method} {cursor}");
        }
    }
    service.remove_tool("t7");
    let error = raw.error("tools/list", json!({"cursor": cursors[0]})).await;
    assert_eq!(error["code"], -32602, "the list is another");
    raw.result("prompts/list", json!({"cursor": cursors[1]}))
        .await;
}

#[tokio::test]
async fn what_changes_at_run_time_is_announced_in_both_eras() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let service = service();
        let client = connect(&service, revision, |builder| builder).await;
        let mut heard = client.subscribe_to_list_changes();
        names(&client).await;
        // Whoever listens to changes is told once the stream of them is open.
        let mut raw = None;
        if revision == Revision::V2026_07_28 {
            raw = Some(listen(&service).await);
        }
        service.add_tool(tool("new")).unwrap();
        service.add_prompt(prompt("new")).unwrap();
        service.add_resource(resource("r:new")).unwrap();
        service.add_template(template("new:{x}")).unwrap();
        let expected = [
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/resources/list_changed",
            "notifications/resources/list_changed",
        ];
        for method in expected {
            match &mut raw {
                Some(raw) => assert_eq!(raw.frame().await["method"], method),
                None => assert_eq!(next_change(&mut heard).await, method, "{revision}"),
            }
        }
        let all = names(&client).await;
        for (list, last) in all.iter().zip(["new", "new", "r:new", "new:{x}"]) {
            assert_eq!(list.last().map(String::as_str), Some(last));
        }
        assert!(service.remove_tool("new") && !service.remove_tool("new"));
        assert!(service.remove_prompt("new") && !service.remove_prompt("new"));
        assert!(service.remove_resource("r:new") && !service.remove_resource("r:new"));
        assert!(service.remove_template("new:{x}") && !service.remove_template("new:{x}"));
        assert!(names(&client).await.iter().all(|list| list.len() == 25));
    }
}

async fn listen(service: &Service) -> Raw {
    let mut raw = Raw::stateless(service);
    let all = json!({"toolsListChanged": true, "promptsListChanged": true,
                     "resourcesListChanged": true});
    raw.send("subscriptions/listen", json!({"notifications": all}))
        .await;
    let acknowledged = raw.frame().await;
    assert_eq!(acknowledged["params"]["notifications"], all);
    raw
}

async fn next_change(heard: &mut bowline::client::Notifications) -> String {
    loop {
        let notification = heard.next().await.expect("the connection is open");
        if matches!(
            notification,
            Notification::ToolsChanged
                | Notification::PromptsChanged
                | Notification::ResourcesChanged
        ) {
            return notification.method().to_owned();
        }
    }
}

#[tokio::test]
async fn how_long_lists_may_be_kept_is_said_for_each() {
    let minute = Duration::from_secs(60);
    let service = Server::new("test", "1")
        .tool(tool("a"))
        .prompt(prompt("a"))
        .resource(resource("a:1"))
        .template(template("a:{x}"))
        .cache_hint(minute, CacheScope::Public)
        .cache_hint_for(
            CacheTarget::Prompts,
            Duration::from_secs(5),
            CacheScope::Private,
        )
        .build()
        .unwrap();
    let mut raw = Raw::stateless(&service);
    for (method, ..) in LISTS {
        let page = raw.result(method, json!({})).await;
        let expected = match method {
            "prompts/list" => (json!(5_000), json!("private")),
            _ => (json!(60_000), json!("public")),
        };
        assert_eq!(
            (page["ttlMs"].clone(), page["cacheScope"].clone()),
            expected
        );
    }
    let discovered = raw.result("server/discover", json!({})).await;
    assert_eq!(discovered["ttlMs"], 60_000);
    let read = raw.result("resources/read", json!({"uri": "a:1"})).await;
    assert_eq!(
        (&read["ttlMs"], &read["cacheScope"]),
        (&json!(0), &json!("private"))
    );
}

#[tokio::test]
async fn a_list_that_hides_something_is_nobody_elses() {
    let asks = Tool::new("asks")
        .description("Asks")
        .no_input()
        .requires([ClientCapability::Elicitation])
        .handler(async |_| Ok("x"));
    let service = Server::new("test", "1")
        .tool(tool("plain"))
        .tool(asks)
        .prompt(prompt("a"))
        .cache_hint(Duration::from_secs(60), CacheScope::Public)
        .build()
        .unwrap();
    let mut raw = Raw::stateless(&service);
    assert_eq!(
        raw.result("tools/list", json!({})).await["cacheScope"],
        "private"
    );
    assert_eq!(
        raw.result("prompts/list", json!({})).await["cacheScope"],
        "public"
    );
}

#[test]
fn two_of_one_name_are_refused() {
    let server = || Server::new("test", "1");
    let errors: [BuildError; 4] = [
        server().tools([tool("a"), tool("a")]).build().unwrap_err(),
        server()
            .prompts([prompt("a"), prompt("a")])
            .build()
            .unwrap_err(),
        server()
            .resources([resource("a:1"), resource("a:1")])
            .build()
            .unwrap_err(),
        server()
            .templates([template("a:{x}"), template("a:{x}")])
            .build()
            .unwrap_err(),
    ];
    let names = errors.each_ref().map(BuildError::name);
    assert_eq!(names, ["a", "a", "a:1", "a:{x}"]);
    let service = service();
    let late = [
        service.add_tool(tool("t1")).unwrap_err(),
        service.add_prompt(prompt("p1")).unwrap_err(),
        service.add_resource(resource("r:1")).unwrap_err(),
        service.add_template(template("m1:{x}")).unwrap_err(),
    ];
    for error in late {
        assert!(
            error.to_string().ends_with("it is already registered"),
            "{error}"
        );
    }
    assert_eq!(service.tools().len(), 25, "nothing was changed");
}

#[test]
fn uris_and_templates_are_checked() {
    for (server, why) in [
        (
            Server::new("test", "1").resource(resource("no scheme")),
            "its URI must begin with a scheme, such as `file:`",
        ),
        (
            Server::new("test", "1").template(template("a:{x}{y}")),
            "adjacent variables are ambiguous: put a separator between them",
        ),
        (
            Server::new("test", "1").template(template("{scheme}:x")),
            "its URI must begin with a scheme, such as `file:`",
        ),
    ] {
        let error = server.build().unwrap_err();
        assert!(error.to_string().ends_with(why), "{error}");
    }
}

#[tokio::test]
async fn a_kind_must_be_declared_to_be_added_to() {
    let service = Server::new("test", "1").prompts([]).build().unwrap();
    let error = service.add_tool(tool("a")).unwrap_err();
    assert!(
        error.to_string().contains("did not declare `tools`"),
        "{error}"
    );
    let with_tools = Server::new("test", "1").tools([]).build().unwrap();
    let task = Tool::new("a").description("Takes hours").no_input();
    let task = task
        .task(TaskPolicy::Optional)
        .handler(async |_| Ok("done"));
    let error = with_tools.add_tool(task).unwrap_err();
    assert!(
        error.to_string().contains("did not declare `tasks`"),
        "{error}"
    );
    let mut raw = Raw::session(&service, "2025-11-25").await;
    assert_eq!(raw.capabilities()["prompts"], json!({"listChanged": true}));
    assert_eq!(
        raw.result("prompts/list", json!({})).await["prompts"],
        json!([])
    );
    service.add_prompt(prompt("a")).unwrap();
    assert_eq!(
        raw.frame().await["method"],
        "notifications/prompts/list_changed"
    );
    let listed: Value = raw.result("prompts/list", json!({})).await;
    assert_eq!(listed["prompts"][0]["name"], "a");
}
