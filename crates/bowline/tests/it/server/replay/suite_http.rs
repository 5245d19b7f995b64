//! The same tools over HTTP, in one process, with the same outcomes.

use bowline::{server::http::HttpOptions, transport::Http};
use serde_json::json;
use tokio::net::TcpListener;

use super::{
    suite::{check, serve},
    tools::all,
    user::{REVISIONS, call_over},
};

#[tokio::test]
async fn every_tool_comes_to_the_same_over_http() {
    for revision in REVISIONS {
        for case in all() {
            let service = serve(&case);
            let http = service.http(HttpOptions::default());
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let serving = tokio::spawn(async move { http.serve(listener).await });
            let server = Http::new(&format!("http://{address}/mcp")).expect("a URL");
            let outcome = call_over(server, revision, case.tool.name(), json!({})).await;
            let place = format!("{revision} over HTTP");
            check(&case, &outcome, service.state().noted(), &place);
            serving.abort();
        }
    }
}
