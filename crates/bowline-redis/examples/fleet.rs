//! One node of a server that runs on many, with Redis.
//!
//! Start Redis and two nodes, each in a terminal of its own:
//!
//! ```text
//! redis-server --port 6399 --appendonly yes
//! cargo run -p bowline-redis --example fleet -- redis://127.0.0.1:6399 8001
//! cargo run -p bowline-redis --example fleet -- redis://127.0.0.1:6399 8002
//! ```
//!
//! Then call either of them, and end one while it has questions open or a task running:
//!
//! ```text
//! bowline call http://127.0.0.1:8001/mcp book flight=LIS-BER
//! bowline call http://127.0.0.1:8002/mcp report
//! ```

#![expect(clippy::print_stdout, reason = "a program for people")]

use std::{error::Error, time::Duration};

use bowline::{
    Server,
    server::{
        Conversation, TaskPolicy, Tool,
        form::Elicit,
        http::{Cluster, HttpOptions},
        seal::SealKeys,
    },
};
use bowline_redis::RedisStores;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Booking {
    /// The flight to book.
    flight: String,
}

#[derive(Elicit)]
struct Passenger {
    /// Who travels?
    name: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [redis, port] = &arguments[..] else {
        return Err("usage: fleet REDIS_URL PORT".into());
    };
    // The same on all nodes. Yours is random, and comes from where you keep secrets.
    let secret = std::env::var("SEAL_SECRET");
    let secret = secret.unwrap_or_else(|_| "an example, which everyone knows".to_owned());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).await?;
    // How other nodes reach this one.
    let address = format!("http://{}/mcp", listener.local_addr()?);

    let service = Server::new("travel", "1.0.0")
        .seal_keys(SealKeys::from_secret(secret.as_bytes())?)
        .stores(RedisStores::connect(redis).await?)
        .lease_timeout(Duration::from_secs(2))
        .tool(book())
        .tool(report())
        .build()?;
    let options = HttpOptions {
        cluster: Some(Cluster::new(&address)),
        ..HttpOptions::default()
    };
    println!("{address}");
    service.http(options).serve(listener).await?;
    Ok(())
}

/// Reserves and books once each, whichever nodes run the parts of the conversation.
fn book() -> Tool {
    Tool::new("book")
        .description("Books a flight")
        .input::<Booking>()
        .handler_with_conversation(async |booking: Booking, cx: Conversation| {
            let seat: String = cx
                .step("reserve", async {
                    Ok(format!("seat 12A on {}", booking.flight))
                })
                .await?;
            let question = format!("I have {seat}. Who travels?");
            let passenger = cx.elicit::<Passenger>(question).required().await?;
            cx.step("book", async {
                Ok(format!("{seat} for {}", passenger.name))
            })
            .await
        })
}

/// Runs as a task; another node goes on with it if this one dies.
fn report() -> Tool {
    Tool::new("report")
        .description("Writes a report, which takes a while")
        .no_input()
        .task(TaskPolicy::Optional)
        .handler_with_conversation(async |_, cx: Conversation| {
            for page in 1..=5 {
                cx.progress_with_message(f64::from(page), 5.0, &format!("page {page}"));
                cx.step(&format!("page {page}"), async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(())
                })
                .await?;
            }
            Ok("five pages")
        })
}
