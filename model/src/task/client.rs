//! What clients and other nodes do to tasks: create, answer, cancel, refuse, claim.

use super::{Action, Next, Record, Stage, State, Status, TaskRun, Tasks, action::Spawned};
use crate::{
    journal::Answer,
    node::{Holder, Node, Ownership},
    promise::Promise,
};

impl Tasks {
    /// `Core::create_task`.
    pub(super) fn create(&self, state: &State, node: Node, task: usize, next: &mut Next) {
        if state.clients[task].has_called || state.runs[node.index()].is_some() {
            return;
        }
        let mut after = state.clone();
        let record = Record::created(node);
        after.clients[task].has_called = true;
        after.store.records[task] = record;
        after.runs[node.index()] = Some(TaskRun::new(task, &record));
        next.push((Action::Create(node, task, true), after.clone()));
        if state.left.lost_messages > 0 {
            after.left.lost_messages -= 1;
            match self.checks_creation {
                true => after.runs[node.index()] = Some(TaskRun::unconfirmed(task)),
                false => {
                    after.runs[node.index()] = None;
                    after.clients[task].got_error = true;
                }
            }
            next.push((Action::Create(node, task, false), after));
        }
    }

    /// `Core::answer_task`. The record is loaded and replaced in one action: if it
    /// changes in between, the code begins again.
    pub(super) fn answer(&self, state: &State, node: Node, task: usize, next: &mut Next) {
        if state.store.records[task].status != Status::InputRequired {
            return;
        }
        // The first answer has the first name.
        let answers = match state.clients[task].has_answered {
            true => &[Answer::X, Answer::Y][..],
            false => &[Answer::X],
        };
        for answer in answers.iter().copied() {
            let mut after = state.clone();
            let mut record = state.store.records[task];
            record.status = Status::Working;
            record.answer = answer;
            record.take_lease(node);
            after.replace(task, record);
            after.clients[task].has_answered = true;
            self.got_task(state, after, node, task, next, |spawned| {
                Action::Answer(node, task, answer, spawned)
            });
        }
    }

    /// `Tasks::claim`.
    pub(super) fn claim(&self, state: &State, node: Node, task: usize, next: &mut Next) {
        let mut record = state.store.records[task];
        if !self.has_takeovers || record.lease == Holder::None || !record.is_expired {
            return;
        }
        record.take_lease(node);
        let mut after = state.clone();
        after.replace(task, record);
        self.got_task(state, after, node, task, next, |spawned| {
            Action::Claim(node, task, spawned)
        });
    }

    /// A node got a task, and runs it if it knows that and has room.
    fn got_task(
        &self,
        state: &State,
        mut after: State,
        node: Node,
        task: usize,
        next: &mut Next,
        action: impl Fn(Spawned) -> Action,
    ) {
        if state.left.lost_messages > 0 {
            let mut lost = after.clone();
            lost.left.lost_messages -= 1;
            lost.supersede(node, task);
            next.push((action(Spawned::ReplyLost), lost));
        }
        let spawned = self.spawn(&mut after, node, task);
        next.push((action(spawned), after));
    }

    /// `Core::spawn_task`.
    fn spawn(&self, after: &mut State, node: Node, task: usize) -> Spawned {
        after.supersede(node, task);
        let record = after.store.records[task];
        let run = &mut after.runs[node.index()];
        let spawned = match run {
            None => Spawned::Runs,
            Some(run) if run.task() != task => Spawned::NoRoom,
            // A run that has lost its lease to another one of the same node makes room,
            // except for a step in progress.
            Some(run) if self.ownership == Ownership::Run => match run.stage() {
                Stage::Running(_) | Stage::Drains(_) | Stage::Creates(_) | Stage::Cancels => {
                    Spawned::NoRoom
                }
                _ => Spawned::Runs,
            },
            Some(run) if run.is_stopped() => Spawned::NoRoom,
            Some(_) => Spawned::RunsAlready,
        };
        if spawned == Spawned::Runs {
            *run = Some(TaskRun::new(task, &record));
        }
        spawned
    }

    /// `Core::cancel_task`.
    pub(super) fn cancel(&self, state: &State, task: usize, next: &mut Next) {
        let mut record = state.store.records[task];
        let exists = record.status != Status::Absent;
        if self.has_cancellation && exists && !record.status.is_terminal() {
            record.status = Status::Cancelled;
            record.end_lease();
            let mut after = state.clone();
            after.replace(task, record);
            next.push((Action::Cancel(task), after));
        }
    }

    /// `Core::ask_for_task` and `Core::fail_task`: a question is asked on a request
    /// that waits for the result, and answered with an error there, perhaps much later.
    pub(super) fn refuse(&self, state: &State, task: usize, next: &mut Next) {
        let mut record = state.store.records[task];
        let is_asking = record.status == Status::InputRequired;
        let mut after = state.clone();
        if self.has_cancellation && is_asking && !state.clients[task].is_asked {
            after.clients[task].is_asked = true;
            next.push((Action::Ask(task), after));
        } else if state.clients[task].is_asked {
            after.clients[task].is_asked = false;
            let counts = is_asking || !self.checks_refusals;
            if counts && !record.status.is_terminal() {
                if state.clients[task].has_answered && !is_asking {
                    after.broken.insert(Promise::AnswerKept);
                }
                let before = record.status;
                record.status = Status::Failed;
                record.end_lease();
                after.replace(task, record);
                next.push((Action::Refuse(task, before), after));
            } else {
                next.push((Action::Refuse(task, record.status), after));
            }
        }
    }
}

impl State {
    /// Notes that the lease of a task was taken again: a run of this node had it for an
    /// earlier round.
    fn supersede(&mut self, node: Node, task: usize) {
        if let Some(run) = &mut self.runs[node.index()] {
            run.supersede(task);
        }
    }
}
