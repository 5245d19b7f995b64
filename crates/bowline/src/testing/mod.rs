//! Testing utilities: a fake server, a client with prepared answers, fault
//! injection, and the contracts that transports and stores must satisfy.
//!
//! - [`FakeServer`] is the other end of a [`Memory`](crate::transport::Memory)
//!   transport. A test sends its responses, message by message, in any order.
//! - `TestClient` (with the feature `server`) calls a Bowline server; the test
//!   supplies the answers of its user and its model.
//! - [`FaultyTransport`] wraps any transport and injects faults into chosen
//!   frames.
//! - [`contract`] checks that a transport or a store does what the library
//!   relies on.
//!
//! All waits use tokio's clock, so tests with `#[tokio::test(start_paused =
//! true)]` take no time, however long the timeouts and backoffs are.
//!
//! ```
//! use bowline::{Client, testing::{FakeServer, ServerProfile}};
//! use serde_json::json;
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
//! let (client, mut session) =
//!     tokio::join!(Client::builder().connect(transport), server.session());
//! let client = client.unwrap();
//!
//! let call = async { client.tools().call("echo", json!({"say": "hi"})).await };
//! let respond = async {
//!     let request = session.expect("tools/call").await;
//!     assert_eq!(request.params()["arguments"]["say"], "hi");
//!     session.respond(&request, json!({"content": [{"type": "text", "text": "hi"}]})).await;
//! };
//! let (result, ()) = tokio::join!(call, respond);
//! assert_eq!(result.unwrap().content[0].as_text(), Some("hi"));
//! # });
//! ```

#[cfg(feature = "server")]
mod client;
pub mod contract;
mod fault_plan;
mod faulty_transport;
mod message;
mod server;
mod session;

#[cfg(feature = "server")]
pub use client::{
    CallOutcome, ModelAnswer, Nodes, ServerQuestion, TestClient, TestClients, TestError,
    Transcript, TranscriptEntry, UserAnswer, accept, accept_url, cancel, confirm, decline,
};
pub use fault_plan::{FaultPlan, ReceiveFault, SendFault};
pub use faulty_transport::FaultyTransport;
pub use message::{FakeResponse, ReceivedMessage};
pub use server::{FakeServer, ServerProfile};
pub use session::FakeSession;
