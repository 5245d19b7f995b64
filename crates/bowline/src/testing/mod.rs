//! What tests need: a server to script, a client that answers by script,
//! faults to inject, and the contract that every transport keeps.
//!
//! - [`FakeServer`] is the other end of a [`Memory`](crate::transport::Memory)
//!   transport. A test says what it answers, message by message, in any order.
//! - `TestClient` (with the feature `server`) talks to a server of ours; its
//!   user and its model answer what the test says.
//! - [`Faults`] wraps any transport and lets chosen frames come to harm.
//! - [`contract`] checks whether a transport does what connections rely on.
//!
//! All waits go through tokio's clock, so that tests with
//! `#[tokio::test(start_paused = true)]` take no time however long the
//! deadlines and backoffs are.
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
//! let answer = async {
//!     let request = session.expect("tools/call").await;
//!     assert_eq!(request.params()["arguments"]["say"], "hi");
//!     session.answer(&request, json!({"content": [{"type": "text", "text": "hi"}]})).await;
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
