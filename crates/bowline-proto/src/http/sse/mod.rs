//! Server-sent events: encoding, decoding, and the legacy `endpoint` event.

mod decode;
mod encode;
mod endpoint;
mod event;
mod limits;
mod pending;

pub use decode::Decoder;
pub use encode::{EventEncoder, FieldError, KEEP_ALIVE, write_comment};
pub use endpoint::{EndpointError, resolve_endpoint};
pub use event::Event;
pub use limits::{SseError, SseLimits};
