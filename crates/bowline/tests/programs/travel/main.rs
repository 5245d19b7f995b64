//! The travel agency of the command's demo, over standard input and output or over
//! HTTP.
//!
//! Its tools are conversations: booking a flight asks the traveller to choose
//! one, asks the client's model for a summary, and asks the traveller to
//! confirm. The same code serves every revision of the protocol over every
//! transport. It is in `crates/bowline-cli/src/demo/travel`.
//!
//! ```sh
//! cargo run -p bowline --features macros --example travel
//! ```
//!
//! It reads and writes one message per line, until its input ends. The tools a
//! client sees depend on its capabilities: the one in `list_tools.rs` cannot
//! answer questions, and only sees the search.
//!
//! ```sh
//! cargo run -p bowline --example list_tools -- target/debug/examples/travel
//! ```
//!
//! With `--http` and an optional address it serves over HTTP, on any free port
//! by default, until it is stopped. It prints the URL.
//!
//! ```sh
//! cargo run -p bowline --features macros,http-server --example travel -- --http 127.0.0.1:8000
//! ```

mod app;
#[path = "../../../../bowline-cli/src/demo/travel/mod.rs"]
mod tools;

use std::io;

use app::App;
use bowline::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let server = Server::new("travel", env!("CARGO_PKG_VERSION"));
    let server = app::offer(server, App::new());
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        None => server.serve_stdio().await,
        Some("--http") => serve_http(server, arguments.next()).await,
        Some(other) => Err(io::Error::other(format!("unknown argument {other}"))),
    }
}

#[cfg(feature = "http-server")]
async fn serve_http(server: Server<App>, address: Option<String>) -> io::Result<()> {
    use std::io::Write as _;

    use bowline::server::http::HttpOptions;

    let address = address.unwrap_or_else(|| "127.0.0.1:0".to_owned());
    let service = server.build().map_err(io::Error::other)?;
    let http = service.http(HttpOptions::default());
    http.bind_and_serve(address, |bound| {
        // The service ignores the path; this is where clients expect it. If the
        // line cannot be printed, clients can still connect.
        let _ = writeln!(io::stdout(), "http://{bound}/mcp");
    })
    .await
}

#[cfg(not(feature = "http-server"))]
async fn serve_http(_: Server<App>, _: Option<String>) -> io::Result<()> {
    Err(io::Error::other("built without the `http-server` feature"))
}
