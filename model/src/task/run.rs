//! A run of a task on a node, as `TaskRun` of `task/run` does it.

use super::{Action, Next, Record, RecordedRound, State, Status, Tasks, action::Updated};
use crate::{
    journal::{Course, Entry, Work},
    node::{Holder, Node, Ownership},
    promise::Promise,
    round::{Opened, Phase, Progress, Round},
};

/// How often a round is run, as in the code.
const MAX_ATTEMPTS: u8 = 4;
/// How often a node looks for a task that it may have created, as in the code.
const CREATE_ATTEMPTS: u8 = 3;

/// A run of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskRun {
    task: u8,
    /// What its round begins with, from the record that it began with.
    course: Course,
    /// How often its round has failed.
    failures: u8,
    /// Whether the lease was taken again on this node since the run began.
    is_superseded: bool,
    stage: Stage,
}

/// What a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Looks for the task, whose creation was not confirmed. This often it got no reply.
    Creates(u8),
    /// Cancels the task, whose creation it has reported as an error.
    Cancels,
    /// Opens the journal next. It may wait for a permit before that.
    Start,
    /// Runs a round.
    Running(Round),
    /// Was stopped, and runs its step to the end.
    Drains(Round),
    /// Loads the record, to store how its round ended.
    Loads(RecordedRound),
    /// Has loaded the record, and replaces it next. The record is old if it was
    /// replaced meanwhile.
    Updates(RecordedRound, Record, bool),
    /// Has nothing left to do, and is still in the list of runs.
    Leaves,
}

impl TaskRun {
    pub(super) fn new(task: usize, record: &Record) -> Self {
        Self {
            task: task as u8,
            course: record.course(),
            failures: 0,
            is_superseded: false,
            stage: Stage::Start,
        }
    }

    /// Returns the run of a task that was created, which the node does not know yet.
    pub(super) fn unconfirmed(task: usize) -> Self {
        let created = Record::created(Node(0));
        Self::new(task, &created).with(Stage::Creates(0))
    }

    pub(super) fn task(&self) -> usize {
        usize::from(self.task)
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn is_stopped(&self) -> bool {
        matches!(self.stage, Stage::Drains(_))
    }

    /// Notes that a record was replaced.
    pub(super) fn outdate(&mut self, task: usize) {
        if let Stage::Updates(_, _, is_old) = &mut self.stage {
            *is_old |= usize::from(self.task) == task;
        }
    }

    pub(super) fn supersede(&mut self, task: usize) {
        self.is_superseded |= self.task() == task;
    }
}

impl Tasks {
    /// What the run of a node does next.
    pub(super) fn go_on(&self, state: &State, node: Node, next: &mut Next) {
        let Some(run) = state.runs[node.index()] else {
            return;
        };
        match run.stage {
            Stage::Creates(failures) => self.look_for_task(state, node, run, failures, next),
            Stage::Cancels => self.cancel_unseen(state, node, run, next),
            Stage::Start => self.open(state, node, run, next),
            Stage::Running(round) => {
                self.go_on_round(state, node, run, round, next);
                self.renew(state, node, run, round, next);
            }
            Stage::Drains(round) => self.go_on_round(state, node, run, round, next),
            Stage::Loads(recorded) => self.load(state, node, run, recorded, next),
            Stage::Updates(recorded, loaded, is_old) => {
                self.update(state, node, run, (recorded, loaded, is_old), next);
            }
            Stage::Leaves => {
                let mut after = state.clone();
                after.runs[node.index()] = None;
                next.push((Action::End(node, run.task()), after));
            }
        }
    }

    /// `Tasks::create`, after an error: the record is there.
    fn look_for_task(
        &self,
        state: &State,
        node: Node,
        run: TaskRun,
        failures: u8,
        next: &mut Next,
    ) {
        let mut after = state.clone();
        after.runs[node.index()] = Some(run.with(Stage::Start));
        next.push((Action::Find(node, run.task(), true), after));
        if state.left.lost_messages > 0 {
            let mut after = state.clone();
            after.left.lost_messages -= 1;
            let is_over = failures + 1 == CREATE_ATTEMPTS;
            after.clients[run.task()].got_error |= is_over;
            after.runs[node.index()] = Some(run.with(match is_over {
                true => Stage::Cancels,
                false => Stage::Creates(failures + 1),
            }));
            next.push((Action::Find(node, run.task(), false), after));
        }
    }

    /// `UnseenTask`: the client got an error.
    fn cancel_unseen(&self, state: &State, node: Node, run: TaskRun, next: &mut Next) {
        let (mut after, task) = (state.clone(), run.task());
        let mut record = state.store.records[task];
        if !record.status.is_terminal() {
            record.status = Status::Cancelled;
            record.end_lease();
            after.replace(task, record);
        }
        after.runs[node.index()] = None;
        next.push((Action::Cancel(task), after));
    }

    /// `LoadedTask::is_held_by`.
    fn is_own(&self, record: &Record, node: Node, run: &TaskRun) -> bool {
        let is_process = record.lease == Holder::Node(node);
        is_process && (self.ownership == Ownership::Process || !run.is_superseded)
    }

    fn open(&self, state: &State, node: Node, run: TaskRun, next: &mut Next) {
        let (mut after, task) = (state.clone(), run.task());
        let mut conversation = after.conversation(task);
        let opened = self.script.open(&mut conversation, node, run.course);
        after.runs[node.index()] = Some(match opened {
            Opened::Waits => return,
            Opened::Runs(round) => run.with(Stage::Running(round)),
            Opened::Finished(outcome) => run.with(Stage::Loads(RecordedRound::Ended(outcome))),
            Opened::Suspended(_) => run.with(Stage::Loads(RecordedRound::Suspended)),
            Opened::Refused(_) => run.failed(),
        });
        next.push((Action::Open(node, task, opened), after));
    }

    fn go_on_round(
        &self,
        state: &State,
        node: Node,
        run: TaskRun,
        mut round: Round,
        next: &mut Next,
    ) {
        let (mut after, task) = (state.clone(), run.task());
        let entry = match round.phase {
            Phase::Append(entry) => entry,
            Phase::Granted(work) => {
                let conversation = &mut after.conversation(task);
                self.script.perform(conversation, &mut round, work);
                let has_effect = after.worlds[task].has_any_effect();
                if work == Work::Effect && after.clients[task].got_error && has_effect {
                    after.broken.insert(Promise::ErrorIsFinal);
                }
                after.runs[node.index()] = Some(run.with_round(round));
                next.push((Action::Perform(node, task, work), after));
                return;
            }
        };
        self.lose_reply(state, node, run, round, entry, next);
        let progress = self
            .script
            .append(&mut after.conversation(task), &mut round, node, entry);
        after.runs[node.index()] = match progress {
            Progress::Continues => Some(run.with_round(round)),
            _ if run.is_stopped() => None,
            Progress::Suspended(_) => Some(run.with(Stage::Loads(RecordedRound::Suspended))),
            Progress::Ended(outcome) => Some(run.with(Stage::Loads(RecordedRound::Ended(outcome)))),
            Progress::Failed => Some(run.failed()),
        };
        // Nothing new begins after a run was stopped.
        if run.is_stopped() && matches!(entry, Entry::Result(..)) {
            after.runs[node.index()] = None;
            after.store.journals[task].release(node);
        }
        next.push((Action::Append(node, task, entry, progress), after));
    }

    /// The reply to an append is lost. The round tries again, or gives up.
    fn lose_reply(
        &self,
        state: &State,
        node: Node,
        run: TaskRun,
        mut round: Round,
        entry: Entry,
        next: &mut Next,
    ) {
        let task = run.task();
        if round.retries && !run.is_stopped() {
            let mut after = state.clone();
            after.store.journals[task].release(node);
            after.runs[node.index()] = Some(run.failed());
            next.push((Action::GiveUp(node, task), after));
        }
        if state.left.lost_messages > 0 {
            let mut after = state.clone();
            after.left.lost_messages -= 1;
            let journal = &mut after.store.journals[task];
            self.script
                .append_unconfirmed(journal, &mut round, node, entry);
            after.runs[node.index()] = Some(run.with_round(round));
            next.push((Action::LoseReply(node, task, entry), after));
        }
    }

    /// `TaskRun::keep_lease` and `StoredJournal::renew_lease`.
    fn renew(&self, state: &State, node: Node, run: TaskRun, round: Round, next: &mut Next) {
        let task = run.task();
        let mut after = state.clone();
        if after.store.journals[task].renew(node) {
            next.push((Action::RenewJournal(node, task), after));
        }
        let mut after = state.clone();
        let record = &mut after.store.records[task];
        if self.is_own(record, node, &run) {
            if std::mem::take(&mut record.is_expired) {
                next.push((Action::Renew(node, task, true), after));
            }
            return;
        }
        let is_in_step = matches!(
            round.phase,
            Phase::Granted(_) | Phase::Append(Entry::Result(..))
        );
        after.runs[node.index()] = is_in_step.then(|| run.with(Stage::Drains(round)));
        if !is_in_step {
            after.store.journals[task].release(node);
        }
        next.push((Action::Renew(node, task, false), after));
    }

    /// The first half of `TaskRun::store_end`.
    fn load(
        &self,
        state: &State,
        node: Node,
        run: TaskRun,
        recorded: RecordedRound,
        next: &mut Next,
    ) {
        let mut after = state.clone();
        let mut record = state.store.records[run.task()];
        let is_own = self.is_own(&record, node, &run);
        // The update ends the lease, whosever it was.
        record.end_lease();
        let stage = match is_own {
            // A copy that may not be stored any more is not needed.
            true if self.has_versions => Stage::Updates(recorded, Record::default(), false),
            true => Stage::Updates(recorded, record, false),
            false => Stage::Leaves,
        };
        after.runs[node.index()] = Some(run.with(stage));
        next.push((Action::Load(node, run.task(), is_own), after));
    }

    /// The second half of `TaskRun::store_end`.
    fn update(
        &self,
        state: &State,
        node: Node,
        run: TaskRun,
        (recorded, mut record, is_old): (RecordedRound, Record, bool),
        next: &mut Next,
    ) {
        let (mut after, task) = (state.clone(), run.task());
        if is_old && self.has_versions {
            after.runs[node.index()] = Some(run.with(Stage::Loads(recorded)));
            next.push((
                Action::Update(node, task, recorded, Updated::Conflict),
                after,
            ));
            return;
        }
        if self.has_versions {
            record = state.store.records[task];
        }
        record.apply(recorded);
        after.check_end(task, &record, recorded);
        after.replace(task, record);
        if state.left.lost_messages > 0 {
            let mut lost = after.clone();
            lost.left.lost_messages -= 1;
            lost.runs[node.index()] = Some(run.with(Stage::Loads(recorded)));
            next.push((
                Action::Update(node, task, recorded, Updated::ReplyLost),
                lost,
            ));
        }
        after.runs[node.index()] = Some(run.with(Stage::Leaves));
        next.push((Action::Update(node, task, recorded, Updated::Stored), after));
    }
}

impl State {
    /// Checks what a run stores.
    fn check_end(&mut self, task: usize, record: &Record, recorded: RecordedRound) {
        let asks_again = record.status == Status::InputRequired && self.clients[task].has_answered;
        let has_failed = record.status == Status::Failed
            && recorded == RecordedRound::Retryable
            && !self.store.records[task].status.is_terminal();
        if asks_again || has_failed && !self.store.journals[task].has_ended() {
            self.broken.insert(Promise::AnswerKept);
        }
    }
}

impl TaskRun {
    fn with(mut self, stage: Stage) -> Self {
        self.stage = stage;
        self
    }

    fn with_round(self, round: Round) -> Self {
        match self.stage {
            Stage::Drains(_) => self.with(Stage::Drains(round)),
            _ => self.with(Stage::Running(round)),
        }
    }

    /// A round that failed is repeated. In the end, the task fails.
    fn failed(mut self) -> Self {
        self.failures += 1;
        self.stage = match self.failures < MAX_ATTEMPTS {
            true => Stage::Start,
            false => Stage::Loads(RecordedRound::Retryable),
        };
        self
    }
}
