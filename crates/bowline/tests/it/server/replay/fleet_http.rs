//! Two processes that serve over HTTP, behind a proxy that sends each request
//! to the other one.

use std::{collections::BTreeSet, net::SocketAddr, process::Stdio, sync::Arc};

use bowline::{
    Client,
    proto::{
        jsonrpc::RawJson,
        model::{ElicitParams, ElicitResult},
        revision::Revision,
    },
    transport::Http,
};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::Mutex,
};

use super::{
    fleet::Folder,
    proxy::Proxy,
    suite::check,
    tools::all,
    user::{answer_to, call_over},
};
use crate::process::{example, within};

/// One process.
pub(super) struct Node {
    child: Child,
    pub(super) address: SocketAddr,
}

impl Node {
    pub(super) async fn start(folder: &Folder, max_state: usize) -> Self {
        let mut child = Command::new(example("replay_node"))
            .arg(&folder.0)
            .args([&max_state.to_string(), "http"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        let mut output = BufReader::new(child.stdout.take().expect("piped")).lines();
        let line = within("an address", output.next_line()).await;
        let line = line.expect("it can be read").expect("an address");
        let address = line.parse().expect("an address");
        Self { child, address }
    }

    fn pid(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    pub(super) async fn kill(&mut self) {
        within("its death", self.child.kill()).await.expect("dead");
    }
}

/// Two nodes, and the proxy in front of them.
async fn fleet(folder: &Folder, max_state: usize) -> ([Node; 2], Proxy) {
    let nodes = [
        Node::start(folder, max_state).await,
        Node::start(folder, max_state).await,
    ];
    let proxy = Proxy::start(nodes.iter().map(|node| node.address).collect()).await;
    (nodes, proxy)
}

fn behind(proxy: &Proxy) -> Http {
    Http::new(&format!("http://{}/mcp", proxy.address)).expect("a URL")
}

#[tokio::test]
async fn every_tool_comes_to_the_same_on_two_nodes_that_take_turns() {
    // States that travel, and states that stay in the store.
    for max_state in [32 * 1024, 0] {
        let folder = Folder::new(&format!("suite-{max_state}"));
        let (nodes, proxy) = fleet(&folder, max_state).await;
        let (mut rounds, mut workers) = ([0, 0], BTreeSet::new());
        for case in all() {
            let name = case.tool.name();
            let call = call_over(behind(&proxy), Revision::V2026_07_28, name, json!({}));
            let outcome = within("a call", call).await;
            let (by, noted): (Vec<_>, _) = folder.done_by().into_iter().unzip();
            check(&case, &outcome, noted, "two processes");
            folder.forget();
            workers.extend(by);
            let calls = proxy.calls();
            assert!(calls.len() > usize::from(!case.asked.is_empty()), "{name}");
            let in_turn = calls.windows(2).all(|two| two[0] != two[1]);
            assert!(in_turn, "{name} at {calls:?}");
            calls.into_iter().for_each(|node| rounds[node] += 1);
        }
        assert!(rounds.iter().all(|node| *node > all().len()), "{rounds:?}");
        let nodes = nodes.iter().map(Node::pid).collect();
        assert_eq!(workers, nodes, "both did something");
    }
}

#[tokio::test]
async fn a_conversation_goes_on_when_its_node_dies_between_two_rounds() {
    for max_state in [32 * 1024, 0] {
        let folder = Folder::new(&format!("dies-{max_state}"));
        let (nodes, proxy) = fleet(&folder, max_state).await;
        let pids = nodes.each_ref().map(Node::pid);
        let server = behind(&proxy);
        let all = Arc::new(Mutex::new((nodes, proxy)));
        let seen = Arc::clone(&all);
        let user = move |params: ElicitParams| {
            let all = Arc::clone(&seen);
            async move {
                // The node that asked first dies while the user thinks.
                if params.message == "q7" {
                    let (nodes, proxy) = &mut *all.lock().await;
                    nodes[proxy.last()].kill().await;
                }
                let answer = RawJson::encode(&answer_to(&params.message)).expect("JSON");
                answer.decode::<ElicitResult>().expect("an answer")
            }
        };
        let client = Client::builder().revisions([Revision::V2026_07_28]);
        let client = client.on_elicit(user).connect(server).await;
        let client = client.expect("it connects");
        let call = async { client.tools().call("phases", json!({})).await };
        let result = within("a call", call).await.expect("a result");
        assert_eq!(result.all_text(), "7 q7r");
        let calls = all.lock().await.1.calls();
        let (dead, other) = (calls[0], 1 - calls[0]);
        assert_eq!(calls, [dead, other, other]);
        let done = [(dead, "before"), (other, "step"), (other, "after")];
        let done = done.map(|(node, what)| (pids[node], what.to_owned()));
        assert_eq!(folder.done_by(), done);
    }
}
