//! Several processes that serve rounds of one conversation, and die in it.

use std::{fs, path::PathBuf, process::Stdio};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};

use super::rig::{Called, Round, always, request};
use crate::process::{example, within};

/// What nodes share.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let name = format!("bowline-fleet-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    /// What was done, on all nodes, in its order.
    fn done(&self) -> Vec<String> {
        self.done_by().into_iter().map(|(_, what)| what).collect()
    }

    /// The same, with the process that did it.
    pub(super) fn done_by(&self) -> Vec<(u32, String)> {
        let done = fs::read_to_string(self.0.join("done")).unwrap_or_default();
        let read = |line: &str| {
            let (node, what) = line.split_once(' ').expect("who did what");
            (node.parse().expect("a process"), what.to_owned())
        };
        done.lines().map(read).collect()
    }

    pub(super) fn forget(&self) {
        let _ = fs::remove_file(self.0.join("done"));
    }

    /// Whoever comes to this place stays there.
    fn stay(&self, place: &str) {
        fs::write(self.0.join(format!("stay-{place}")), "").expect("a file");
    }

    fn go(&self, place: &str) {
        fs::remove_file(self.0.join(format!("stay-{place}"))).expect("a file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// One process.
struct Node {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    places: Lines<BufReader<ChildStderr>>,
    next: u64,
}

impl Node {
    fn start(folder: &Folder, max_state: usize) -> Self {
        let mut command = Command::new(example("replay_node"));
        command.arg(&folder.0).arg(max_state.to_string());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("it starts");
        Self {
            input: child.stdin.take().expect("piped"),
            output: BufReader::new(child.stdout.take().expect("piped")).lines(),
            places: BufReader::new(child.stderr.take().expect("piped")).lines(),
            child,
            next: 0,
        }
    }

    async fn send(&mut self, params: &Value) {
        self.next += 1;
        let frame = format!("{}\n", request(self.next, "tools/call", params));
        let sent = self.input.write_all(frame.as_bytes()).await;
        sent.expect("it listens");
    }

    async fn ask(&mut self, params: &Value) -> Round {
        self.send(params).await;
        let line = within("an answer", self.output.next_line()).await;
        let line = line.expect("it can be read").expect("an answer");
        Round::read(&serde_json::from_str(&line).expect("JSON"))
    }

    /// Waits until it says that it stays somewhere, and kills it there.
    async fn die_at(mut self, place: &str) {
        let line = within("a place", self.places.next_line()).await;
        assert_eq!(line.expect("it can be read").as_deref(), Some(place));
        self.child.start_kill().expect("it can be killed");
        within("its death", self.child.wait()).await.expect("dead");
    }
}

#[tokio::test]
async fn nodes_take_turns_in_one_conversation() {
    for max_state in [32 * 1024, 0] {
        let folder = Folder::new(&format!("turns-{max_state}"));
        let mut one = Node::start(&folder, max_state);
        let mut two = Node::start(&folder, max_state);
        let called = Called::new("order");
        let first = one.ask(&called.params()).await.questions();
        let params = called.later(&first.state, &first.answers(always("tea")));
        let second = two.ask(&params).await.questions();
        // Whoever is asked again has nothing to do, and asks the same.
        let again = one.ask(&params).await.questions();
        assert_eq!(again.asked, second.asked);
        let params = called.later(&second.state, &second.answers(always("large")));
        let end = one.ask(&params).await;
        let text = "before, charge, tea, large, after";
        assert_eq!(end.text(), (text.to_owned(), false));
        for node in [&mut two, &mut one] {
            assert_eq!(node.ask(&params).await, end);
        }
        assert_eq!(folder.done(), ["before", "charge", "after"]);
    }
}

#[tokio::test]
async fn a_round_goes_on_elsewhere_when_its_node_dies_between_steps() {
    let folder = Folder::new("between");
    let mut one = Node::start(&folder, 32 * 1024);
    let called = Called::new("order");
    let first = one.ask(&called.params()).await.questions();
    let params = called.later(&first.state, &first.answers(always("tea")));
    folder.stay("charged");
    one.send(&params).await;
    one.die_at("charged").await;
    folder.go("charged");
    let mut two = Node::start(&folder, 32 * 1024);
    let second = two.ask(&params).await.questions();
    let params = called.later(&second.state, &second.answers(always("large")));
    let end = two.ask(&params).await;
    assert_eq!(end.text().0, "before, charge, tea, large, after");
    assert_eq!(folder.done(), ["before", "charge", "after"]);
}

#[tokio::test]
async fn a_step_whose_node_died_is_not_taken_again_and_its_end_is_unknown() {
    let folder = Folder::new("within");
    let mut one = Node::start(&folder, 32 * 1024);
    let called = Called::new("order");
    let first = one.ask(&called.params()).await.questions();
    let params = called.later(&first.state, &first.answers(always("tea")));
    folder.stay("charge");
    one.send(&params).await;
    one.die_at("charge").await;
    folder.go("charge");
    let mut two = Node::start(&folder, 32 * 1024);
    let second = two.ask(&params).await.questions();
    let params = called.later(&second.state, &second.answers(always("large")));
    // The conversation knows, and goes on as it sees fit. Then `after` is cut
    // off, and there is nobody to know better.
    folder.stay("after");
    two.send(&params).await;
    two.die_at("after").await;
    folder.go("after");
    let mut three = Node::start(&folder, 32 * 1024);
    for _ in 0..2 {
        let (text, failed) = three.ask(&params).await.text();
        assert!(failed && text.contains("its outcome is unknown"), "{text}");
    }
    assert_eq!(folder.done(), ["before", "charge", "after"]);
}
