//! Proxies, as the environment names them.

use serde_json::json;
use tokio::process::Command;

use bowline::transport::Http;

use super::rig::{Rig, builder, stateless_reply, within};

/// Set for the process behind the proxy: the environment of this one is shared
/// with other tests.
const BEHIND: &str = "BOWLINE_TEST_BEHIND_PROXY";

#[tokio::test]
async fn the_proxy_that_the_environment_names_is_used() {
    if std::env::var_os(BEHIND).is_some() {
        return behind().await;
    }
    let proxy = Rig::start(stateless_reply).await;
    let mut again = Command::new(std::env::current_exe().expect("this program"));
    again
        .args([
            "--exact",
            "http_client::proxy::the_proxy_that_the_environment_names_is_used",
        ])
        .env(BEHIND, "1")
        .env("http_proxy", format!("http://127.0.0.1:{}", proxy.port))
        .env_remove("no_proxy")
        .env_remove("NO_PROXY")
        .kill_on_drop(true);
    let output = within(again.output()).await.expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let paths: Vec<_> = proxy.hits().into_iter().map(|hit| hit.path).collect();
    assert_eq!(paths, ["http://mcp.invalid/mcp"; 2]);
}

async fn behind() {
    let http = Http::new("http://mcp.invalid/mcp").expect("a URL");
    let client = builder().connect(http).await.expect("through the proxy");
    client
        .tools()
        .call("echo", json!({}))
        .await
        .expect("an answer");
}
