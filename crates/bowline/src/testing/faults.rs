//! A transport that harms what passes through it.

use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;

use super::plan::{Plan, Receiving, Sending};
use crate::{
    proto::revision::Revision,
    transport::{
        BoxFuture, Cause, CauseKind, Dial, Link, LinkEvent, Outgoing, Refusal, Transport, Wire,
    },
};

/// Wraps a transport and lets its links come to harm, as planned.
///
/// Links are counted from 0. Those without a plan of their own follow the one
/// for all, if there is one, and are left alone otherwise.
///
/// ```
/// use bowline::{testing::{Faults, Plan, Receiving}, transport::Memory};
///
/// let (transport, server_side) = Memory::new();
/// let transport = Faults::new(transport)
///     .link(0, Plan::new().receive(2, Receiving::Cut));
/// # drop((transport, server_side));
/// ```
#[derive(Debug)]
pub struct Faults<T> {
    inner: T,
    plans: Vec<(usize, Plan)>,
    otherwise: Plan,
    dialled: usize,
}

impl<T: Transport> Faults<T> {
    /// Does no harm yet.
    pub fn new(inner: T) -> Self {
        Self {
            inner,
            plans: Vec::new(),
            otherwise: Plan::new(),
            dialled: 0,
        }
    }

    /// Harms the link that is number `at`.
    #[must_use]
    pub fn link(mut self, at: usize, plan: Plan) -> Self {
        self.plans.push((at, plan));
        self
    }

    /// Harms every link that has no plan of its own.
    #[must_use]
    pub fn every_link(mut self, plan: Plan) -> Self {
        self.otherwise = plan;
        self
    }

    fn next_plan(&mut self) -> Plan {
        let number = self.dialled;
        self.dialled += 1;
        let planned = self.plans.iter().find(|(at, _)| *at == number);
        planned.map_or_else(|| self.otherwise.clone(), |(_, plan)| plan.clone())
    }
}

impl<T: Transport> Transport for Faults<T> {
    fn dial(&mut self, dial: Dial) -> BoxFuture<'static, Result<Box<dyn Link>, Cause>> {
        let plan = self.next_plan();
        let dialled = self.inner.dial(dial);
        Box::pin(async move {
            let link = FaultyLink::new(dialled.await?, plan);
            Ok(Box::new(link) as Box<dyn Link>)
        })
    }

    fn wire(&self) -> Wire {
        self.inner.wire()
    }

    fn describe(&self) -> String {
        format!("{}, with faults", self.inner.describe())
    }
}

struct FaultyLink {
    inner: Box<dyn Link>,
    plan: Plan,
    received: usize,
    sent: usize,
    bytes: usize,
    /// What arrives before anything else.
    due: VecDeque<LinkEvent>,
    /// Frames that are held back, and how many are to be.
    held: Vec<Bytes>,
    hold: usize,
    state: State,
    /// Who waits for the next event, to be told that the link was cut.
    reader: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Alive,
    Stalled,
    Cut,
}

impl FaultyLink {
    fn new(inner: Box<dyn Link>, plan: Plan) -> Self {
        Self {
            inner,
            plan,
            received: 0,
            sent: 0,
            bytes: 0,
            due: VecDeque::new(),
            held: Vec::new(),
            hold: 0,
            state: State::Alive,
            reader: None,
        }
    }

    /// Counts bytes; says whether the link survives them.
    fn pass(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let survives = self.plan.most_bytes.is_none_or(|most| self.bytes <= most);
        if !survives {
            self.cut();
        }
        survives
    }

    fn cut(&mut self) {
        self.state = State::Cut;
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// What is to be said of a frame that arrived, if anything now.
    fn harm(&mut self, frame: Bytes) {
        if !self.pass(frame.len()) {
            return;
        }
        let harm = self.plan.receiving.get(&self.received).cloned();
        self.received += 1;
        let due = &mut self.due;
        match harm {
            _ if self.hold > 0 => {
                self.held.push(frame);
                self.hold -= 1;
            }
            None => due.push_back(LinkEvent::Frame(frame)),
            Some(Receiving::Cut) => self.cut(),
            Some(Receiving::Stall) => self.state = State::Stalled,
            Some(Receiving::Garbage(bytes)) => {
                due.extend([LinkEvent::Frame(bytes), LinkEvent::Frame(frame)]);
            }
            Some(Receiving::Truncate) => {
                due.push_back(LinkEvent::Frame(frame.slice(..frame.len() / 2)));
            }
            Some(Receiving::Oversize(size)) => {
                let prefix = frame.slice(..frame.len().min(64));
                due.push_back(LinkEvent::Oversize { size, prefix });
            }
            Some(Receiving::Duplicate) => {
                due.extend([LinkEvent::Frame(frame.clone()), LinkEvent::Frame(frame)]);
            }
            Some(Receiving::Reverse(count)) => {
                self.held.push(frame);
                self.hold = count.saturating_sub(1);
            }
            Some(Receiving::Lose) => {}
        }
        if self.hold == 0 {
            let held = std::mem::take(&mut self.held);
            self.due
                .extend(held.into_iter().rev().map(LinkEvent::Frame));
        }
    }
}

impl Link for FaultyLink {
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        if self.state == State::Cut {
            return Err(Refusal::Failed(cut_cause()));
        }
        match self.plan.sending.get_mut(&self.sent) {
            Some(Sending::Busy(times)) if *times > 0 => {
                *times -= 1;
                return Err(Refusal::Busy(outgoing.frame));
            }
            Some(Sending::Cut) => {
                self.cut();
                return Err(Refusal::Failed(cut_cause()));
            }
            Some(Sending::Fail) => {
                self.sent += 1;
                return Err(Refusal::Failed(CauseKind::Io("refused".into()).into()));
            }
            Some(Sending::Lose) => {
                self.sent += 1;
                return Ok(());
            }
            Some(Sending::Busy(_)) | None => {}
        }
        if !self.pass(outgoing.frame.len()) {
            return Err(Refusal::Failed(cut_cause()));
        }
        self.inner.send(outgoing)?;
        self.sent += 1;
        Ok(())
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.inner.poll_flush(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            if let Some(event) = self.due.pop_front() {
                return Poll::Ready(event);
            }
            match self.state {
                State::Cut => return Poll::Ready(LinkEvent::Down(cut_cause())),
                State::Stalled | State::Alive => self.reader = Some(cx.waker().clone()),
            }
            if self.state == State::Stalled {
                return Poll::Pending;
            }
            match ready!(self.inner.poll_event(cx)) {
                LinkEvent::Frame(frame) => self.harm(frame),
                event => return Poll::Ready(event),
            }
        }
    }

    fn abort(&mut self, id: u64) {
        self.inner.abort(id);
    }

    fn last_words(&self) -> Option<String> {
        self.inner.last_words()
    }

    fn settle(&mut self, revision: Revision) {
        self.inner.settle(revision);
    }

    fn close(self: Box<Self>) {
        self.inner.close();
    }
}

fn cut_cause() -> Cause {
    CauseKind::Io("the link was cut by a planned fault".to_owned()).into()
}
