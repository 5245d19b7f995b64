//! The link between machine and server, and what goes wrong on it.

use std::time::Duration;

use bowline_proto::{
    Instant,
    client::{
        ConnectionError, ConnectionErrorKind, HttpStatusError, HttpVariant, Input, LinkId,
        SendError,
    },
};
use bytes::Bytes;

use super::{
    rig::exited,
    sim::World,
    sim_op::Fault,
    sim_server::MAX_FRAME,
    sim_words::{About, Emission, What},
};

/// Faults that wait for their victim.
#[derive(Default)]
pub(crate) struct Faults {
    truncate: u32,
    drop: u32,
    drop_back: u32,
    duplicate: u32,
    hold: Option<u64>,
    oversize: Option<bool>,
    busy: u32,
    fail: u32,
    unanswered: u32,
    status: Option<(u16, bool)>,
    refuse_dials: u32,
    hang_dials: u32,
}

/// Something that is on its way.
pub(crate) enum Transit {
    Dialled {
        link: LinkId,
        works: bool,
    },
    ToServer {
        link: LinkId,
        frame: Bytes,
    },
    ToClient {
        link: LinkId,
        frame: Bytes,
        about: Option<About>,
    },
    Oversize {
        link: LinkId,
        prefix: Bytes,
    },
    Refused {
        link: LinkId,
        id: Option<u64>,
        refusal: SendError,
    },
    Down {
        link: LinkId,
    },
    /// The server has made up its mind.
    Emitted {
        link: LinkId,
        emission: Emission,
    },
}

fn take(count: &mut u32) -> bool {
    let any = *count > 0;
    *count = count.saturating_sub(1);
    any
}

fn io(why: &str) -> ConnectionError {
    ConnectionErrorKind::Io(why.to_owned()).into()
}

/// Outward.
impl World {
    pub(crate) fn dial(&mut self, link: LinkId, wiring: HttpVariant) {
        if take(&mut self.faults.hang_dials) {
            return;
        }
        let refused = take(&mut self.faults.refuse_dials);
        // No server here has the two endpoints of the first revision.
        let works = !refused && wiring == HttpVariant::Streamable;
        let wait = 1 + self.chance.below(20) as u64;
        self.schedule(wait, Transit::Dialled { link, works });
    }

    /// Takes a frame from the machine, or does not.
    pub(crate) fn carry(&mut self, link: LinkId, id: Option<u64>, frame: Bytes) {
        if id.is_some() && take(&mut self.faults.busy) {
            let refusal = SendError::Busy(frame);
            return self.schedule(0, Transit::Refused { link, id, refusal });
        }
        if id.is_some() && take(&mut self.faults.fail) {
            let refusal = SendError::Failed(io("it does not fit"));
            return self.schedule(0, Transit::Refused { link, id, refusal });
        }
        if self.setup.http && id.is_some() {
            if take(&mut self.faults.unanswered) {
                let refusal = SendError::NoResponse(io("the exchange broke"));
                return self.schedule(3, Transit::Refused { link, id, refusal });
            }
            if let Some((status, with_body)) = self.faults.status.take() {
                let refusal = status_of(status, if with_body { ERROR_BODY } else { "" });
                return self.schedule(3, Transit::Refused { link, id, refusal });
            }
        }
        if id.is_some() && take(&mut self.faults.drop) {
            return;
        }
        self.schedule(1, Transit::ToServer { link, frame });
    }

    /// Carries what the server says, through all that may go wrong.
    fn carry_back(&mut self, link: LinkId, emission: Emission) {
        let Emission {
            what,
            sturdy,
            about,
            ..
        } = emission;
        let frame = match what {
            What::Close => {
                self.server.closed(link);
                return self.schedule(1, Transit::Down { link });
            }
            What::Status { id, code, body } => {
                let refusal = status_of(code, &body);
                return self.schedule(2, Transit::Refused { link, id, refusal });
            }
            What::Frame(frame) => Bytes::from(frame),
        };
        if sturdy {
            let wait = self.latency(0);
            return self.schedule(wait, Transit::ToClient { link, frame, about });
        }
        if take(&mut self.faults.drop_back) {
            return;
        }
        if let Some(told) = self.faults.oversize.take() {
            return self.carry_oversize(link, &frame, told);
        }
        if take(&mut self.faults.truncate) {
            let keep = self.chance.below(frame.len());
            let (frame, about) = (frame.slice(..keep), None);
            return self.schedule(1, Transit::ToClient { link, frame, about });
        }
        let hold = self.faults.hold.take().unwrap_or_default();
        let wait = self.latency(hold);
        if take(&mut self.faults.duplicate) {
            let copy = Transit::ToClient {
                link,
                frame: frame.clone(),
                about: about.clone(),
            };
            self.schedule(wait, copy);
        }
        self.schedule(wait, Transit::ToClient { link, frame, about });
    }

    /// How long a frame takes to the client: on a stream as long as those
    /// before it at least, otherwise as it comes.
    fn latency(&mut self, hold: u64) -> u64 {
        if self.setup.http {
            return 1 + hold + self.chance.below(100) as u64;
        }
        let arrival = self.now + Duration::from_millis(1 + hold);
        self.stalled_until = self.stalled_until.max(arrival);
        let wait = self.stalled_until - self.now;
        u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)
    }

    fn carry_oversize(&mut self, link: LinkId, frame: &Bytes, told: bool) {
        if told {
            let prefix = frame.slice(..frame.len().min(40));
            return self.schedule(1, Transit::Oversize { link, prefix });
        }
        let mut grown = frame.to_vec();
        grown.resize(MAX_FRAME + 1, b' ');
        let frame = grown.into();
        let about = None;
        self.schedule(1, Transit::ToClient { link, frame, about });
    }

    fn schedule(&mut self, wait: u64, transit: Transit) {
        self.sequence += 1;
        let at = self.now + Duration::from_millis(wait);
        self.transit.insert((at, self.sequence), transit);
    }

    pub(crate) fn emit(&mut self, link: LinkId, emissions: Vec<Emission>) {
        for emission in emissions {
            let wait = emission.after;
            self.schedule(wait, Transit::Emitted { link, emission });
        }
    }
}

/// Inward.
impl World {
    /// When the next thing arrives.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.transit.first_key_value().map(|((at, _), _)| *at)
    }

    pub(crate) fn arrive(&mut self) {
        let Some((_, transit)) = self.transit.pop_first() else {
            return;
        };
        let live = self.oracle.link.as_ref().map(|live| live.link);
        match transit {
            Transit::Dialled { link, works: true } => {
                if live == Some(link) {
                    self.server.now = self.now;
                    self.server.opened(link);
                    self.oracle.link.iter_mut().for_each(|live| live.up = true);
                }
                self.handle(Input::Up { link });
            }
            Transit::Dialled { link, works: false } => {
                self.oracle.gone(link);
                let cause = ConnectionErrorKind::Unreachable("nobody there".to_owned()).into();
                self.handle(Input::DialFailed { link, cause });
            }
            Transit::ToServer { link, frame } => {
                let json = serde_json::from_slice(&frame).expect("frames are JSON");
                self.server.now = self.now;
                let emissions = self.server.receive(link, &json, &mut self.chance);
                self.emit(link, emissions);
            }
            Transit::Emitted { link, emission } => self.carry_back(link, emission),
            Transit::ToClient { link, frame, about } => {
                if let Some(about) = about {
                    self.oracle.deliver(self.now, link, &about);
                }
                self.handle(Input::Frame { link, frame });
                self.oracle.delivering = None;
            }
            Transit::Oversize { link, prefix } => {
                let size = MAX_FRAME + 1;
                self.handle(Input::OversizedFrame { link, size, prefix });
            }
            Transit::Refused { link, id, refusal } => {
                if let (SendError::Busy(_), Some(id)) = (&refusal, id) {
                    self.oracle.busy(id);
                }
                self.handle(Input::SendFailed {
                    link,
                    id,
                    error: refusal,
                });
            }
            Transit::Down { link } => {
                self.oracle.gone(link);
                self.server.closed(link);
                self.handle(Input::Down {
                    link,
                    cause: exited(),
                });
            }
        }
    }
}

/// Faults.
impl World {
    pub(crate) fn fault(&mut self, fault: Fault) {
        let live = self.oracle.link.as_ref();
        let link = live.filter(|live| live.up).map(|live| live.link);
        let faults = &mut self.faults;
        match fault {
            Fault::Cut => {
                if let Some(link) = link {
                    self.schedule(0, Transit::Down { link });
                }
            }
            Fault::Garbage { which } => {
                if let Some(link) = link {
                    let frame = Bytes::from_static(GARBAGE[usize::from(which) % GARBAGE.len()]);
                    let about = None;
                    self.schedule(0, Transit::ToClient { link, frame, about });
                }
            }
            Fault::Truncate => faults.truncate += 1,
            Fault::Drop => faults.drop += 1,
            Fault::DropBack => faults.drop_back += 1,
            Fault::Duplicate => faults.duplicate += 1,
            Fault::Hold { ms } => faults.hold = Some(ms.into()),
            Fault::Oversize { told } => faults.oversize = Some(told),
            Fault::Busy { times } => faults.busy += u32::from(times),
            Fault::Fail => faults.fail += 1,
            Fault::Unanswered => faults.unanswered += 1,
            Fault::Status { code, body } => faults.status = Some((code, body)),
            Fault::RefuseDials { times } => faults.refuse_dials += u32::from(times),
            Fault::HangDials { times } => faults.hang_dials += u32::from(times),
            Fault::Ghost { which } => self.ghost(which),
        }
    }

    /// A link that was given up still has something to say.
    fn ghost(&mut self, which: u8) {
        let live = self.oracle.link.as_ref().map(|live| live.link);
        let Some(link) = self
            .ghosts
            .iter()
            .rev()
            .copied()
            .find(|link| Some(*link) != live)
        else {
            return;
        };
        self.handle(match which % 4 {
            0 => Input::Up { link },
            1 => Input::Down {
                link,
                cause: exited(),
            },
            2 => Input::Frame {
                link,
                frame: Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            },
            _ => Input::DialFailed {
                link,
                cause: exited(),
            },
        });
    }
}

const ERROR_BODY: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;

const GARBAGE: [&[u8]; 8] = [
    b"",
    b"hello, world",
    b"{",
    b"[]",
    b"[1,2]",
    br#"{"jsonrpc":"2.0"}"#,
    br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{}}}"#,
    &[0xff, 0xfe, 0x00],
];

fn status_of(status: u16, body: &str) -> SendError {
    SendError::Status(HttpStatusError {
        status,
        body: body.to_owned().into(),
        retry_after: None,
    })
}

impl Transit {
    /// Whether this is the good news that `link` is up.
    pub(crate) fn brings_up(&self, link: LinkId) -> bool {
        matches!(self, Self::Dialled { link: dialled, works: true } if *dialled == link)
    }
}

impl World {
    /// The link was told to close. It confirms, sooner or later.
    pub(crate) fn hang_up(&mut self, link: LinkId) {
        let wait = self.chance.below(150) as u64;
        self.schedule(wait, Transit::Down { link });
    }
}
