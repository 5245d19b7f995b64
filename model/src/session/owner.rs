//! What nodes do with requests: handle them, forward them, or take the session up.

use super::{Action, Belief, CallPhase, CallRun, CallStatus, Next, Sessions, State};
use crate::{
    node::{Holder, Node, Ownership},
    promise::Promise,
};

impl Sessions {
    /// A request arrives at a node: for the first time, or again.
    pub(super) fn request(
        &self,
        state: &State,
        node: Node,
        session: usize,
        call: usize,
        next: &mut Next,
    ) {
        let record = &state.sessions[session];
        if state.beliefs[node.index()][session] != Belief::Other {
            if let Some(after) = state.accept(node, session, call) {
                next.push((Action::Accept(node, session, call), after));
            }
            return;
        }
        match record.owner {
            Holder::None => self.take_up(state, node, session, next),
            _ if record.is_expired => self.take_up(state, node, session, next),
            Holder::Node(owner) if state.forwarded[session].is_none() => {
                let mut after = state.clone();
                after.forwarded[session] = Some((call as u8, owner));
                next.push((Action::Forward(node, session, call, owner), after));
            }
            _ => {}
        }
    }

    /// A node becomes the owner of a session. Calls in progress are lost.
    fn take_up(&self, state: &State, node: Node, session: usize, next: &mut Next) {
        let mut after = state.clone();
        let record = &mut after.sessions[session];
        record.owner = Holder::Node(node);
        record.is_expired = false;
        let running = record.calls.map(|it| it == CallStatus::Running);
        for (call, is_running) in running.into_iter().enumerate() {
            if is_running {
                after.lose(session, call);
            }
        }
        for beliefs in &mut after.beliefs {
            if beliefs[session] == Belief::Owner {
                beliefs[session] = Belief::Former;
            }
        }
        after.beliefs[node.index()][session] = Belief::Owner;
        for run in after.runs.iter_mut().flatten() {
            run.is_old |= usize::from(run.session) == session;
        }
        next.push((Action::TakeUp(node, session), after));
    }

    /// A forwarded request arrives, or is lost. It may also arrive twice: clients repeat
    /// requests as often as they like.
    pub(super) fn deliver(&self, state: &State, session: usize, next: &mut Next) {
        let Some((call, to)) = state.forwarded[session] else {
            return;
        };
        let mut dropped = state.clone();
        dropped.forwarded[session] = None;
        if let Some(mut after) = state.accept(to, session, usize::from(call)) {
            after.forwarded[session] = None;
            next.push((Action::Accept(to, session, usize::from(call)), after));
            if state.left.lost_messages > 0 {
                dropped.left.lost_messages -= 1;
                next.push((Action::LoseForwarded(session), dropped));
            }
        } else if state.beliefs[to.index()][session] == Belief::Other {
            next.push((Action::Decline(to, session), dropped));
        }
    }

    pub(super) fn renew(&self, state: &State, node: Node, session: usize, next: &mut Next) {
        let mut after = state.clone();
        let belief = &mut after.beliefs[node.index()][session];
        match belief {
            Belief::Owner if state.sessions[session].is_expired => {
                after.sessions[session].is_expired = false;
            }
            Belief::Former => *belief = Belief::Other,
            _ => return,
        }
        next.push((Action::Renew(node, session), after));
    }

    /// What a node does next with the call that it handles.
    pub(super) fn go_on(&self, state: &State, node: Node, next: &mut Next) {
        let Some(run) = state.runs[node.index()] else {
            return;
        };
        if run.phase == CallPhase::Granted {
            let (mut after, (session, call)) = (state.clone(), run.place());
            let facts = &mut after.world[session][call];
            if std::mem::replace(&mut facts.has_effect, true) {
                after.broken.insert(Promise::EffectOnce);
            }
            after.runs[node.index()] = Some(run.with(CallPhase::Performed));
            next.push((Action::Perform(node, session, call), after));
            return;
        }
        self.write(state, node, run, next);
    }

    /// Writes the beginning or the end of a call, with the node's token.
    fn write(&self, state: &State, node: Node, run: CallRun, next: &mut Next) {
        let (mut after, (session, call)) = (state.clone(), run.place());
        let is_former = match self.ownership {
            Ownership::Process => state.beliefs[node.index()][session] != Belief::Owner,
            Ownership::Run => run.is_old,
        };
        let status = state.sessions[session].calls[call];
        let is_repeated = run.phase == CallPhase::Begins && status != CallStatus::Unseen;
        if is_former && self.has_fencing || is_repeated {
            after.runs[node.index()] = None;
            next.push((Action::Write(node, run.phase, session, call, false), after));
            return;
        }
        if is_former {
            after.broken.insert(Promise::OneOwner);
        }
        let granted = (CallStatus::Running, Some(run.with(CallPhase::Granted)));
        let (status, run_after) = match run.phase {
            CallPhase::Begins if self.records_calls => granted,
            CallPhase::Begins => (status, granted.1),
            CallPhase::Abandons => (CallStatus::Lost, None),
            CallPhase::Granted | CallPhase::Performed => (CallStatus::Done, None),
        };
        after.sessions[session].calls[call] = status;
        if state.left.lost_messages > 0 {
            let mut lost = after.clone();
            lost.left.lost_messages -= 1;
            let is_begin = run.phase == CallPhase::Begins;
            let phase = if is_begin {
                CallPhase::Abandons
            } else {
                run.phase
            };
            lost.runs[node.index()] = Some(run.with(phase));
            next.push((Action::LoseReply(node, run.phase, session, call), lost));
        }
        after.runs[node.index()] = run_after;
        match status {
            CallStatus::Done => after.report(session, call),
            CallStatus::Lost => after.lose(session, call),
            _ => {}
        }
        next.push((Action::Write(node, run.phase, session, call, true), after));
    }
}

impl CallRun {
    fn place(&self) -> (usize, usize) {
        (usize::from(self.session), usize::from(self.call))
    }

    fn with(mut self, phase: CallPhase) -> Self {
        self.phase = phase;
        self
    }
}

impl State {
    /// A node that believes to own a session begins to handle a call, if it has room.
    fn accept(&self, node: Node, session: usize, call: usize) -> Option<Self> {
        let believes = self.beliefs[node.index()][session] != Belief::Other;
        if !believes || self.runs[node.index()].is_some() {
            return None;
        }
        let mut after = self.clone();
        after.runs[node.index()] = Some(CallRun {
            session: session as u8,
            call: call as u8,
            phase: CallPhase::Begins,
            is_old: self.beliefs[node.index()][session] != Belief::Owner,
        });
        Some(after)
    }

    /// The client gets the result of a call.
    fn report(&mut self, session: usize, call: usize) {
        let facts = &mut self.world[session][call];
        facts.has_result = true;
        if facts.is_lost {
            self.broken.insert(Promise::EndsOnce);
        }
        if !facts.has_effect {
            self.broken.insert(Promise::Truthful);
        }
    }

    /// The client is told that a call is lost.
    fn lose(&mut self, session: usize, call: usize) {
        self.sessions[session].calls[call] = CallStatus::Lost;
        let facts = &mut self.world[session][call];
        facts.is_lost = true;
        if facts.has_result {
            self.broken.insert(Promise::EndsOnce);
        }
    }
}
