//! A client for tests of servers, whose user and model answer by script.
//!
//! [`TestClient`] talks to a service in the same process, over the protocol
//! itself. [`TestClients`] runs one scenario in several revisions and compares.
//! Below them, `script` holds the answers, `tap` and `record` write down what
//! passes, and `rounds` makes calls where the protocol keeps no state.

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
