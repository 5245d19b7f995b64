//! A travel agency, over standard input and output.
//!
//! Its tools talk back: booking a flight asks the traveller which one, asks
//! the client's model to sum it up, and asks the traveller to confirm. The
//! same code serves every revision of the protocol.
//!
//! ```sh
//! cargo run -p bowline --features macros --example travel
//! ```

mod agency;
mod tools;

use bowline::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    tools::offer(Server::new("travel", env!("CARGO_PKG_VERSION")))
        .serve_stdio()
        .await
}
