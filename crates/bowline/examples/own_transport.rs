//! A transport of your own: a client and a server that are connected by a pipe
//! in memory. Sockets and serial lines work the same way.
//!
//! ```sh
//! cargo run -p bowline --example own_transport --features server
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use bowline::{
    Client,
    server::{Server, Service, Tool},
    transport::{BoxFuture, ConnectionError, DialOptions, Link, StreamLink, Transport},
};
use serde_json::json;

/// The largest message, and how many bytes may wait to be sent.
const MAX_FRAME: usize = 1024 * 1024;
const MAX_QUEUE: usize = 4 * MAX_FRAME;

/// Turns one end of a pipe into a link: messages as lines of JSON.
fn link(end: tokio::io::DuplexStream) -> impl Link {
    let (reader, writer) = tokio::io::split(end);
    StreamLink::new(reader, writer, MAX_FRAME, MAX_QUEUE)
}

/// Opens a new pipe to the server each time that the client connects.
struct Pipe(Service);

impl Transport for Pipe {
    fn dial(
        &mut self,
        _options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let service = self.0.clone();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(64 * 1024);
            tokio::spawn(async move { service.serve(link(far)).await });
            Ok(Box::new(link(near)) as Box<dyn Link>)
        })
    }

    fn describe(&self) -> String {
        "a pipe in memory".to_owned()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let echo = Tool::new("echo")
        .description("Answers")
        .no_input()
        .handler(async |_| Ok("Hello through a pipe!"));
    let service = Server::new("piped", "1.0.0").tool(echo).build()?;
    let client = Client::builder().connect(Pipe(service)).await?;
    let result = client.tools().call("echo", json!({})).await?;
    println!("{}", result.all_text());
    client.stop().await;
    Ok(())
}
