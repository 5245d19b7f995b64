//! A client for tests of servers, with prepared answers of its user and model.
//!
//! [`TestClient`] calls a service in the same process, over the real protocol.
//! [`TestClients`] runs one scenario in several revisions and compares. Below
//! them, `answer_queues` holds the answers, `recorded_transport` and `recorder`
//! write the transcript, and `rounds` makes calls in the stateless era.

mod answer;
mod answer_queues;
mod call;
mod connect;
mod difference;
mod error;
mod nodes;
mod outcome;
mod published_tools;
mod question;
mod recorded_transport;
mod recorder;
mod rounds;
mod test_client;
mod test_clients;
mod transcript;

pub use answer::{ModelAnswer, UserAnswer, accept, accept_url, cancel, confirm, decline};
pub use error::TestError;
pub use nodes::Nodes;
pub use outcome::CallOutcome;
pub use question::ServerQuestion;
pub use test_client::TestClient;
pub use test_clients::TestClients;
pub use transcript::{Transcript, TranscriptEntry};
