//! A client for tests of servers, whose user and model answer by script.
//!
//! [`TestClient`] talks to a service in the same process, over the protocol
//! itself. [`BothWays`] runs one scenario in several revisions and compares.
//! Below them, `script` holds the answers, `tap` and `record` write down what
//! passes, and `rounds` makes calls where the protocol keeps no state.

mod answer;
mod both_ways;
mod calling;
mod connect;
mod difference;
mod error;
mod node;
mod outcome;
mod output;
mod question;
mod record;
mod rounds;
mod script;
mod tap;
mod test_client;
mod transcript;

pub use answer::{ModelAnswer, UserAnswer, accept, cancel, confirmed, decline, visited};
pub use both_ways::BothWays;
pub use error::TestError;
pub use node::Nodes;
pub use outcome::Outcome;
pub use question::Question;
pub use test_client::TestClient;
pub use transcript::{Entry, Transcript};
