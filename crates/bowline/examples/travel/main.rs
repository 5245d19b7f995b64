//! A travel agency, over standard input and output.
//!
//! Its tools talk back: booking a flight asks the traveller which one, asks
//! the client's model to sum it up, and asks the traveller to confirm. The
//! same code serves every revision of the protocol. `agency.rs` is the
//! business, `tools.rs` is what the protocol makes of it.
//!
//! ```sh
//! cargo run -p bowline --features macros --example travel
//! ```
//!
//! It reads and writes one message a line, until its input ends. A client that
//! starts it sees more or less of it, by what it can do: the one in
//! `list_tools.rs` cannot ask anybody, and is only offered to search.
//!
//! ```sh
//! cargo run -p bowline --example list_tools -- target/debug/examples/travel
//! ```

mod agency;
mod tools;

use bowline::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let server = Server::new("travel", env!("CARGO_PKG_VERSION"));
    tools::offer(server, agency::Agency::default())
        .serve_stdio()
        .await
}
