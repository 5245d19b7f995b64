//! Whatever happens to a task, in any order and with any clocks: it ends once, and
//! what it asked is asked and answered once.

use std::{collections::BTreeSet, time::Duration};

use bowline_proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::{InputRequests, InputResponses, TaskStatus},
    task::{AnswerOutcome, Task, TaskParts, Timestamp},
};
use proptest::prelude::*;
use serde_json::json;

/// Something that a node or a client does to a task.
#[derive(Clone, Debug)]
enum Operation {
    Ask(u8),
    Answer(BTreeSet<u8>),
    Resume,
    Complete(bool),
    Fail,
    Cancel,
    Describe,
    /// The task is stored and loaded by another node.
    Move,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        3 => (1u8..4).prop_map(Operation::Ask),
        4 => prop::collection::btree_set(0u8..12, 0..4).prop_map(Operation::Answer),
        3 => Just(Operation::Resume),
        1 => any::<bool>().prop_map(Operation::Complete),
        1 => Just(Operation::Fail),
        1 => Just(Operation::Cancel),
        1 => Just(Operation::Describe),
        1 => Just(Operation::Move),
    ]
}

/// What we know about a task from what was done to it.
#[derive(Default)]
struct Model {
    asked: u8,
    open: BTreeSet<u8>,
    answered: BTreeSet<u8>,
    is_asking: bool,
    end: Option<TaskStatus>,
}

impl Model {
    fn status(&self) -> TaskStatus {
        match &self.end {
            Some(end) => end.clone(),
            None if self.open.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
        }
    }

    fn finish(&mut self, status: TaskStatus) -> bool {
        let is_first = self.end.is_none();
        self.end.get_or_insert(status);
        is_first
    }
}

fn key(number: u8) -> String {
    format!("q{number}")
}

fn questions(numbers: impl Iterator<Item = u8>) -> InputRequests {
    let questions = numbers.map(|number| (key(number), json!({"method": "roots/list"})));
    let questions: serde_json::Map<_, _> = questions.collect();
    serde_json::from_value(questions.into()).expect("they are questions")
}

fn apply(task: &mut Task, model: &mut Model, now: Timestamp, operation: &Operation) {
    let ok = || RawJson::from_string("{}".to_owned()).expect("it is JSON");
    match operation {
        Operation::Ask(count) => {
            let numbers = model.asked..model.asked + count;
            let can_ask = model.end.is_none() && !model.is_asking;
            assert_eq!(task.ask(now, questions(numbers.clone())), can_ask);
            if can_ask {
                model.asked += count;
                model.open = numbers.collect();
                model.is_asking = true;
            }
        }
        Operation::Answer(numbers) => {
            let mut answers = InputResponses::new();
            for number in numbers {
                answers.insert(key(*number), ok());
            }
            let accepted: BTreeSet<u8> = match model.end {
                None => numbers.intersection(&model.open).copied().collect(),
                Some(_) => BTreeSet::new(),
            };
            model.open.retain(|number| !accepted.contains(number));
            let expected = match (accepted.is_empty(), model.open.is_empty()) {
                (true, _) => AnswerOutcome::Ignored,
                (false, false) => AnswerOutcome::Partial,
                (false, true) => AnswerOutcome::Complete,
            };
            assert_eq!(task.answer(now, &answers), expected);
            for number in accepted {
                assert!(model.answered.insert(number), "a question is answered once");
            }
        }
        Operation::Resume => {
            let can_resume = model.end.is_none() && model.is_asking && model.open.is_empty();
            assert_eq!(task.resume(now).is_some(), can_resume);
            model.is_asking &= !can_resume;
        }
        Operation::Complete(is_error) => {
            let ended = task.complete(now, ok(), *is_error);
            assert_eq!(ended, model.finish(TaskStatus::Completed));
        }
        Operation::Fail => {
            let error = ErrorObject::new(-32603, "no");
            assert_eq!(task.fail(now, error), model.finish(TaskStatus::Failed));
        }
        Operation::Cancel => assert_eq!(task.cancel(now), model.finish(TaskStatus::Cancelled)),
        Operation::Describe => {
            assert_eq!(task.set_status_message(now, "busy"), model.end.is_none());
        }
        Operation::Move => *task = Task::from(TaskParts::from(task.clone())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn a_task_ends_once_and_asks_once(
        operations in prop::collection::vec((operation(), 0u64..100), 1..60),
    ) {
        let ttl = Some(Duration::from_secs(1));
        let start = Timestamp::from_unix_millis(50);
        let mut task = Task::new("t", start, ttl, Duration::from_secs(1));
        let mut model = Model::default();
        for (operation, now) in operations {
            // The clocks of nodes differ.
            let now = Timestamp::from_unix_millis(now);
            let before = task.clone();
            apply(&mut task, &mut model, now, &operation);
            prop_assert_eq!(task.status(), model.status());
            prop_assert!(task.updated_at() >= before.updated_at());
            prop_assert_eq!(task.is_terminal(), task.status().is_terminal());
            prop_assert!(!before.is_terminal() || task == before, "what has ended stays");
            let seen = task.to_get_result();
            let open = seen.input_requests.map_or(0, |questions| questions.len());
            let expected = if model.end.is_none() { model.open.len() } else { 0 };
            prop_assert_eq!(open, expected);
            prop_assert_eq!(seen.result.is_some(), seen.status == TaskStatus::Completed);
            prop_assert_eq!(seen.error.is_some(), seen.status == TaskStatus::Failed);
        }
    }
}
