//! The example `fleet`: what one node begins, another ends.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use bowline::{
    Client, RawJson,
    client::ToolCallOutcome,
    model::{ElicitResult, InputResponses},
    transport::Http,
};
use serde_json::json;

use super::rig::Redis;

/// A node, which ends with the test.
struct Node {
    child: Child,
    url: String,
}

impl Node {
    fn start(redis: &Redis) -> Self {
        let mut child = Command::new(fleet())
            .args([&redis.url(), "0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut url = String::new();
        let stdout = child.stdout.take().expect("it is piped");
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("it prints its address");
        let url = url.trim().to_owned();
        Self { child, url }
    }

    async fn client(&self) -> Client {
        let builder = Client::builder().on_elicit(async |_| ElicitResult::decline());
        let http = Http::new(&self.url).expect("a URL");
        builder.connect(http).await.expect("it serves")
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The example, which `cargo test -p bowline-redis` builds.
fn fleet() -> PathBuf {
    let test = std::env::current_exe().expect("this program");
    let folder = test.parent().and_then(Path::parent).expect("a folder");
    let path = folder.join("examples/fleet");
    assert!(
        path.is_file(),
        "{} is missing: build it with `cargo build -p bowline-redis --examples`",
        path.display(),
    );
    path
}

#[tokio::test]
async fn what_one_node_asks_another_hears_the_answer_to() {
    let redis = Redis::start();
    let (one, other) = (Node::start(&redis), Node::start(&redis));
    let client = one.client().await;
    let arguments = json!({"flight": "LIS-BER"});
    let asked = client.tools().call("book", arguments);
    let Ok(ToolCallOutcome::InputRequired(suspended)) = asked.suspend_on_input().await else {
        panic!("it asks who travels");
    };
    drop(one);
    let (key, _) = suspended.questions().iter().next().expect("a question");
    let name = json!({"action": "accept", "content": {"name": "Ada"}});
    let mut answers = InputResponses::new();
    answers.insert(key.to_owned(), RawJson::encode(&name).expect("JSON"));
    let client = other.client().await;
    let booked = client.tools().resume(suspended, &answers).await;
    let booked = booked.expect("it is booked").all_text();
    assert_eq!(booked, "seat 12A on LIS-BER for Ada");
    // And a task, to its end.
    let report = client.tools().call("report", ()).await;
    assert_eq!(report.expect("a report").all_text(), "five pages");
}
