//! A transport that injects faults.

use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker, ready},
};

use bytes::Bytes;

use super::fault_plan::{FaultPlan, ReceiveFault, SendFault};
use crate::{
    proto::revision::Era,
    transport::{
        BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, InterceptedLink, Link,
        LinkEvent, LinkInterceptor, OutgoingFrame, SendError, Transport, TransportKind,
    },
};

/// Wraps a transport and injects planned faults into its links.
///
/// Links are counted from 0. A link without its own plan follows the plan for
/// every link, if there is one, and has no faults otherwise.
///
/// ```
/// use bowline::{testing::{FaultyTransport, FaultPlan, ReceiveFault}, transport::Memory};
///
/// let (transport, server_side) = Memory::new();
/// let transport = FaultyTransport::new(transport)
///     .on_link(0, FaultPlan::new().on_receive(2, ReceiveFault::Cut));
/// # drop((transport, server_side));
/// ```
#[derive(Debug)]
pub struct FaultyTransport<T> {
    inner: T,
    plans: Vec<(usize, FaultPlan)>,
    default_plan: FaultPlan,
    dialled: usize,
}

impl<T: Transport> FaultyTransport<T> {
    /// Wraps a transport, without any faults yet.
    pub fn new(inner: T) -> Self {
        Self {
            inner,
            plans: Vec::new(),
            default_plan: FaultPlan::new(),
            dialled: 0,
        }
    }

    /// Sets the plan of link number `index`.
    #[must_use]
    pub fn on_link(mut self, index: usize, plan: FaultPlan) -> Self {
        self.plans.push((index, plan));
        self
    }

    /// Sets the plan of every link without its own plan.
    #[must_use]
    pub fn on_every_link(mut self, plan: FaultPlan) -> Self {
        self.default_plan = plan;
        self
    }

    fn next_plan(&mut self) -> FaultPlan {
        let number = self.dialled;
        self.dialled += 1;
        let planned = self.plans.iter().find(|(index, _)| *index == number);
        planned.map_or_else(|| self.default_plan.clone(), |(_, plan)| plan.clone())
    }
}

impl<T: Transport> Transport for FaultyTransport<T> {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let plan = self.next_plan();
        let dialled = self.inner.dial(options);
        Box::pin(async move {
            let link = InterceptedLink::new(dialled.await?, FaultInjector::new(plan));
            Ok(Box::new(link) as Box<dyn Link>)
        })
    }

    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn known_era(&self) -> Option<Era> {
        self.inner.known_era()
    }

    fn describe(&self) -> String {
        format!("{}, with faults", self.inner.describe())
    }
}

/// Injects the faults of one link.
struct FaultInjector {
    plan: FaultPlan,
    received: usize,
    sent: usize,
    bytes: usize,
    /// Events that are reported before any others.
    ready_events: VecDeque<LinkEvent>,
    /// Frames that are held back, and how many to hold.
    held_frames: Vec<Bytes>,
    hold_count: usize,
    state: LinkState,
    /// The task that waits for the next event, woken when the link is cut.
    reader: Option<Waker>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkState {
    Alive,
    Stalled,
    Cut,
}

impl FaultInjector {
    fn new(plan: FaultPlan) -> Self {
        Self {
            plan,
            received: 0,
            sent: 0,
            bytes: 0,
            ready_events: VecDeque::new(),
            held_frames: Vec::new(),
            hold_count: 0,
            state: LinkState::Alive,
            reader: None,
        }
    }

    /// Counts bytes; returns whether the link survives them.
    fn count_bytes(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        let survives = self.plan.max_bytes.is_none_or(|max| self.bytes <= max);
        if !survives {
            self.cut();
        }
        survives
    }

    fn cut(&mut self) {
        self.state = LinkState::Cut;
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }

    /// Queues the events for a received frame, if any are due now.
    fn receive_frame(&mut self, frame: Bytes) {
        if !self.count_bytes(frame.len()) {
            return;
        }
        let fault = self.plan.receive_faults.get(&self.received).cloned();
        self.received += 1;
        let ready_events = &mut self.ready_events;
        match fault {
            _ if self.hold_count > 0 => {
                self.held_frames.push(frame);
                self.hold_count -= 1;
            }
            None => ready_events.push_back(LinkEvent::Frame(frame)),
            Some(ReceiveFault::Cut) => self.cut(),
            Some(ReceiveFault::Stall) => self.state = LinkState::Stalled,
            Some(ReceiveFault::Garbage(bytes)) => {
                ready_events.extend([LinkEvent::Frame(bytes), LinkEvent::Frame(frame)]);
            }
            Some(ReceiveFault::Truncate) => {
                ready_events.push_back(LinkEvent::Frame(frame.slice(..frame.len() / 2)));
            }
            Some(ReceiveFault::Oversize(size)) => {
                let prefix = frame.slice(..frame.len().min(64));
                ready_events.push_back(LinkEvent::OversizedFrame { size, prefix });
            }
            Some(ReceiveFault::Duplicate) => {
                ready_events.extend([LinkEvent::Frame(frame.clone()), LinkEvent::Frame(frame)]);
            }
            Some(ReceiveFault::Reverse(count)) => {
                self.held_frames.push(frame);
                self.hold_count = count.saturating_sub(1);
            }
            Some(ReceiveFault::Drop) => {}
        }
        if self.hold_count == 0 {
            let held = std::mem::take(&mut self.held_frames);
            self.ready_events
                .extend(held.into_iter().rev().map(LinkEvent::Frame));
        }
    }
}

impl LinkInterceptor for FaultInjector {
    fn send(&mut self, link: &mut dyn Link, outgoing: OutgoingFrame) -> Result<(), SendError> {
        if self.state == LinkState::Cut {
            return Err(SendError::Failed(cut_cause()));
        }
        match self.plan.send_faults.get_mut(&self.sent) {
            Some(SendFault::Busy(times)) if *times > 0 => {
                *times -= 1;
                return Err(SendError::Busy(outgoing.frame));
            }
            Some(SendFault::Cut) => {
                self.cut();
                return Err(SendError::Failed(cut_cause()));
            }
            Some(SendFault::Fail) => {
                self.sent += 1;
                return Err(SendError::Failed(
                    ConnectionErrorKind::Io("refused".into()).into(),
                ));
            }
            Some(SendFault::Drop) => {
                self.sent += 1;
                return Ok(());
            }
            Some(SendFault::Busy(_)) | None => {}
        }
        if !self.count_bytes(outgoing.frame.len()) {
            return Err(SendError::Failed(cut_cause()));
        }
        link.send(outgoing)?;
        self.sent += 1;
        Ok(())
    }

    fn poll_event(&mut self, link: &mut dyn Link, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            if let Some(event) = self.ready_events.pop_front() {
                return Poll::Ready(event);
            }
            match self.state {
                LinkState::Cut => return Poll::Ready(LinkEvent::Down(cut_cause())),
                LinkState::Stalled | LinkState::Alive => self.reader = Some(cx.waker().clone()),
            }
            if self.state == LinkState::Stalled {
                return Poll::Pending;
            }
            match ready!(link.poll_event(cx)) {
                LinkEvent::Frame(frame) => self.receive_frame(frame),
                event => return Poll::Ready(event),
            }
        }
    }
}

fn cut_cause() -> ConnectionError {
    ConnectionErrorKind::Io("the link was cut by a planned fault".to_owned()).into()
}
