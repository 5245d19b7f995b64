//! Somebody who holds every state that was ever handed out, and sends any of
//! them with any answers, in any order, to any node, while links break, nodes
//! die and stores fail.
//!
//! The rules by which all that happens is judged:
//!
//! 1. No effect happens twice in a conversation.
//! 2. Any two effects agree on the answers that both know: there is one course.
//! 3. Every effect belongs to the request that the conversation began with.
//! 4. `after` and `cleanup` never both happen.
//! 5. All ends that are handed out for one conversation are the same.
//! 6. Nothing but `cleanup` begins once a conversation has expired.
//! 7. Somebody else, meanwhile, is served as if there were no adversary.
//! 8. What was in time for one effect is not too late for another.

mod node;
mod oracle;
mod plan;
mod tools;
mod world;

use std::{collections::HashMap, fmt::Write as _, sync::atomic::Ordering, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use self::{
    node::Fleet,
    plan::{Act, Plan, Send, Shape, Then, plans},
};
use super::{
    properties::holds,
    rig::{Peer, Questions, Round, call_text},
};

/// Somebody who means harm.
struct Adversary {
    fleet: Fleet,
    /// Every state that was handed out.
    held: Vec<Held>,
    /// What goes on beside what is done.
    later: Vec<Open>,
    /// What each call came to, by its number.
    ends: HashMap<usize, Vec<Value>>,
    calls: usize,
    log: Vec<String>,
    faults: Vec<(u8, String)>,
}

/// A state, and what it was handed out for.
#[derive(Clone)]
struct Held {
    questions: Questions,
    call: Call,
}

#[derive(Clone, Copy)]
struct Call {
    number: usize,
    tool: &'static str,
    argument: &'static str,
}

/// A request that was not answered yet.
struct Open {
    peer: Peer,
    id: u64,
    node: u8,
    call: Call,
    log: usize,
}

#[test]
fn one_honest_course_is_all_that_an_adversary_gets() {
    holds(&plans(), &async |plan: &Plan| {
        let mut adversary = Adversary::new(plan);
        for act in &plan.acts {
            adversary.act(act).await;
        }
        adversary.judge().await
    });
}

impl Adversary {
    fn new(plan: &Plan) -> Self {
        Self {
            fleet: Fleet::new(&plan.program),
            held: Vec::new(),
            later: Vec::new(),
            ends: HashMap::new(),
            calls: 0,
            log: Vec::new(),
            faults: Vec::new(),
        }
    }

    async fn act(&mut self, act: &Act) {
        match act {
            Act::Begin {
                tool,
                argument,
                node,
            } => self.begin(tool, argument, *node).await,
            Act::Send(send) => self.send(send).await,
            Act::Kill { node, after } => {
                sleep(Duration::from_millis((*after).into())).await;
                self.say(&format!("node {node} dies"));
                self.fleet.restart(*node);
                // Its links go with it.
                self.later.retain(|open| open.node != *node);
            }
            Act::Stall { node, seconds } => {
                self.say(&format!("node {node} stands still for {seconds} s"));
                let seconds = Duration::from_secs((*seconds).into());
                self.fleet.stall(*node, self.fleet.world.now() + seconds);
            }
            Act::Pass(seconds) => {
                self.say(&format!("{seconds} s pass"));
                sleep(Duration::from_secs((*seconds).into())).await;
            }
            Act::Break(times) => {
                self.say(&format!("the store fails {times} times"));
                let faults = &self.fleet.world.faults;
                faults.store((*times).into(), Ordering::SeqCst);
            }
            Act::Honest { node } => self.honest(*node).await,
            Act::Flood(times) => self.flood(*times).await,
        }
    }

    async fn begin(&mut self, tool: &'static str, argument: &'static str, node: u8) {
        let call = Call {
            number: self.calls,
            tool,
            argument,
        };
        self.calls += 1;
        let log = self.say(&format!(
            "call {} on {node}: {tool} {argument}",
            call.number
        ));
        let mut peer = Peer::known(self.fleet.service(node), "mallory");
        let round = peer.ask_text(&call_text(tool, argument, None)).await;
        self.came(call, round, log);
    }

    /// Begins and ends many conversations, to fill the store.
    async fn flood(&mut self, times: u8) {
        self.say(&format!("{times} conversations"));
        for _ in 0..times {
            let mut peer = Peer::known(self.fleet.service(0), "mallory");
            let argument = r#"{"what":"pen"}"#;
            let mut params = call_text("choose", argument, None);
            while let Round::Asked(questions) = peer.ask_text(&params).await {
                let answers = questions.answers(|_, question| say(question, 2));
                params = call_text("choose", argument, Some((&questions.state, &answers)));
            }
        }
    }

    async fn send(&mut self, send: &Send) {
        let Some(held) = (match &send.state {
            Some(index) if !self.held.is_empty() => Some(index.get(&self.held)),
            _ => self.held.last(),
        }) else {
            return;
        };
        let (call, node) = (held.call, send.node);
        let answers = answers(&held.questions, send);
        let argument = match send.swapped {
            true => call.argument.replace("pen", "car"),
            false => call.argument.to_owned(),
        };
        let state = &held.questions.state;
        let params = call_text(call.tool, &argument, Some((state, &answers)));
        let of = self.held.iter().position(|it| it.questions.state == *state);
        let log = self.say(&format!(
            "S{} of call {} on {node} as {}: {argument} {:?} {:?} {answers}",
            of.unwrap_or_default(),
            call.number,
            send.principal,
            send.shape,
            send.then,
        ));
        let mut peer = Peer::known(self.fleet.service(node), send.principal);
        let id = peer.send_text("tools/call", &params).await;
        let mut open = Open {
            peer,
            id,
            node,
            call,
            log,
        };
        match send.then {
            Then::Wait => {
                let round = open.peer.answer(id).await;
                self.came(call, round, log);
            }
            Then::Later => self.later.push(open),
            Then::Drop(after) => sleep(Duration::from_millis(after.into())).await,
            Then::Cancel(after) => {
                sleep(Duration::from_millis(after.into())).await;
                open.peer.cancel(id).await;
                sleep(Duration::from_millis(1)).await;
            }
        }
    }

    /// Takes in what came of a round.
    fn came(&mut self, call: Call, round: Round, log: usize) {
        let line = &mut self.log[log];
        match round {
            Round::Asked(questions) => {
                let number = self.held.len();
                let _ = write!(line, "\n      -> S{number} {:?}", questions.messages());
                self.held.push(Held { questions, call });
            }
            Round::Ended(end) => {
                let _ = write!(line, "\n      -> {}", end["content"][0]["text"]);
                self.ends.entry(call.number).or_default().push(end);
            }
            Round::Refused(_, why) => {
                let _ = write!(line, "\n      -> refused: {why}");
            }
        }
    }

    /// Somebody else has a conversation, and knows nothing of all this.
    async fn honest(&mut self, node: u8) {
        self.fleet.world.faults.store(0, Ordering::SeqCst);
        (0..3).for_each(|node| self.fleet.stall(node, Duration::ZERO));
        let log = self.say(&format!("ada on {node}"));
        let began = Instant::now();
        let mut round = Round::Refused(0, String::new());
        let mut later: Option<(String, Value)> = None;
        for turn in 0..4 {
            let mut ada = Peer::known(self.fleet.service(node + turn), "ada");
            let later_now = later.as_ref().map(|(state, answers)| (&**state, answers));
            let params = call_text("three", r#"{"what":"hat"}"#, later_now);
            round = ada.ask_text(&params).await;
            if let Round::Asked(questions) = &round {
                let answers = questions.answers(|_, question| say(question, 0));
                later = Some((questions.state.clone(), answers));
            }
        }
        let _ = write!(self.log[log], "\n      -> {round:?}");
        let served = matches!(&round, Round::Ended(_)) && round.text().0 == "three 0 0 0";
        if !served {
            self.faults
                .push((7, format!("ada is not served: {round:?}")));
        }
        if began.elapsed() > Duration::from_secs(10) {
            self.faults
                .push((7, format!("ada waits for {:?}", began.elapsed())));
        }
    }

    fn say(&mut self, line: &str) -> usize {
        let at = self.fleet.world.now();
        self.log.push(format!("{at:?}: {line}"));
        self.log.len() - 1
    }

    /// Waits for the end of everything. Was all of it as it should be?
    async fn judge(mut self) -> Result<(), String> {
        for mut open in std::mem::take(&mut self.later) {
            let round = open.peer.answer(open.id).await;
            self.came(open.call, round, open.log);
        }
        sleep(Duration::from_secs(60)).await;
        let mut faults = oracle::faults(&self.fleet.world.ledger(), &self.ends);
        faults.append(&mut self.faults);
        // To look for the fault of one kind behind those of another.
        if let Ok(rules) = std::env::var("BOWLINE_RULES") {
            faults.retain(|(rule, _)| rules.contains(&rule.to_string()));
        }
        if faults.is_empty() {
            return Ok(());
        }
        let mut report = String::from("what should not be:\n");
        for (rule, what) in &faults {
            let _ = writeln!(report, "  rule {rule}, {what}");
        }
        report += "what was done:\n";
        for line in &self.log {
            let _ = writeln!(report, "  {line}");
        }
        Err(report)
    }
}

/// What is answered to all questions of a state.
fn answers(questions: &Questions, send: &Send) -> Value {
    let mut answers = questions.answers(|_, question| say(question, send.mood));
    let members = answers.as_object_mut().expect("an object");
    match send.shape {
        Shape::Whole => {}
        Shape::Partial => {
            if let Some((last, _)) = questions.asked.last() {
                members.remove(last);
            }
        }
        Shape::Unknown => {
            members.insert("nobody_asked".to_owned(), json!({"action": "decline"}));
        }
    }
    answers
}

/// What is answered in this mood. It repeats the question, so that answers in
/// the wrong place are found out.
fn say(question: &Value, mood: u8) -> Value {
    let message = question["params"]["message"].as_str().unwrap_or_default();
    if mood == 3 {
        return json!({"action": "decline"});
    }
    if message.starts_with("confirm") {
        return json!({"action": "accept", "content": {"confirmed": mood != 1}});
    }
    let text = format!("{mood} to {message}");
    json!({"action": "accept", "content": {"text": text}})
}
