//! Changes that clients of other nodes should hear of.
//!
//! A client is connected to one node. If a list or a resource changes, the node on which
//! the change is reported
//! ([`Service::resource_updated`](crate::server::Service::resource_updated) and the like)
//! notifies its own clients, and sends the change to the other nodes on a [`ChangeBus`],
//! which notify theirs. Changes of tasks travel in the same way.
//!
//! A bus may lose changes. A node that missed some tells its clients that everything they
//! are subscribed to has changed, so none keeps old data.
//!
//! Log messages and progress need no bus: they belong to a request, and are sent by the
//! node that processes it.

mod bus;
mod memory;
mod relay;

pub use bus::{ChangeBus, ChangeSubscription, ReceivedChange};
pub use memory::MemoryChangeBus;
pub(crate) use relay::{Change, ChangeRelay, RELAY_FEATURE};
