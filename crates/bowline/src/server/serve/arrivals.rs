//! Requests that nobody works on yet.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    proto::server::Incoming,
    server::{request::Request, schema::Allowance},
};

/// A request that arrived.
pub(super) struct Arrived {
    pub(super) incoming: Incoming,
    pub(super) request: Request,
    /// The frame that it came in.
    frame: u64,
}

/// Requests that nobody works on yet.
#[derive(Default)]
pub(super) struct Arrivals {
    /// Those that came since somebody last looked.
    new: Vec<Arrived>,
    /// Those that came with so many others that they wait for another turn.
    put_off: VecDeque<Arrived>,
    /// How many frames there were.
    frame: u64,
}

impl Arrivals {
    /// A request of the frame that is read.
    pub(super) fn push(&mut self, incoming: Incoming, request: Request) {
        let frame = self.frame;
        self.new.push(Arrived {
            incoming,
            request,
            frame,
        });
    }

    /// All of a frame was read. What came together shares what it may be to
    /// check it.
    pub(super) fn end_frame(&mut self) {
        let frame = self.frame;
        let together = self.new.iter_mut().rev();
        let mut together = together.take_while(|it| it.frame == frame);
        if let (Some(last), Some(other)) = (together.next(), together.next()) {
            let allowance = Arc::new(Allowance::default());
            for it in together.chain([last, other]) {
                it.request.allowance = Some(Arc::clone(&allowance));
            }
        }
        self.frame += 1;
    }

    /// Which requests nobody has looked at so far.
    #[cfg(feature = "http-server")]
    pub(super) fn new_ones(&self) -> impl Iterator<Item = Incoming> {
        self.new.iter().map(|it| it.incoming)
    }

    pub(super) fn take_new(&mut self) -> Vec<Arrived> {
        std::mem::take(&mut self.new)
    }

    /// Takes a list back that was taken, to be used again.
    pub(super) fn spare(&mut self, list: Vec<Arrived>) {
        if self.new.capacity() == 0 {
            self.new = list;
        }
    }

    /// Keeps requests for another turn.
    pub(super) fn put_off(&mut self, requests: impl IntoIterator<Item = Arrived>) {
        self.put_off.extend(requests);
    }

    /// Keeps what was taken of those that were put off, and not looked at.
    pub(super) fn put_back(&mut self, requests: impl DoubleEndedIterator<Item = Arrived>) {
        for request in requests.rev() {
            self.put_off.push_front(request);
        }
    }

    pub(super) fn has_put_off(&self) -> bool {
        !self.put_off.is_empty()
    }

    /// As many of those that were put off as one turn is for.
    pub(super) fn take_put_off(&mut self, most: usize) -> Vec<Arrived> {
        let most = most.min(self.put_off.len());
        self.put_off.drain(..most).collect()
    }

    /// Nobody waits for the answer to this one any more.
    pub(super) fn remove(&mut self, request: Incoming) {
        self.new.retain(|it| it.incoming != request);
        self.put_off.retain(|it| it.incoming != request);
    }

    pub(super) fn clear(&mut self) {
        self.new.clear();
        self.put_off.clear();
    }
}
