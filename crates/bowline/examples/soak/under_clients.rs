//! Our HTTP server, among clients that are not honest.

use std::net::Ipv4Addr;

use bowline::{
    Client,
    server::{Tool, http::HttpOptions},
    transport::Http,
};
use tokio::net::TcpListener;

use super::{
    Failure,
    figures::{Chance, Tally, Times},
    honest,
    hostile_client::{self, Set},
    report::{call_honestly, measure},
    seed, start,
};

/// How many hostile clients there are at a time.
const ATTACKERS: usize = 8;

/// Serves HTTP as anybody would, and says the port.
pub(crate) async fn serve() -> Result<(), Failure> {
    let set = Tool::new("set")
        .description("Takes a set")
        .input::<Set>()
        .headless(async |set: Set| Ok(set.items.len().to_string()));
    let slow = Tool::new("slow")
        .description("Never answers")
        .no_input()
        .headless(async |_| std::future::pending::<bowline::server::Result<&str>>().await);
    let service = honest().tool(set).tool(slow).build()?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    service.http(HttpOptions::default()).serve(listener).await?;
    Ok(())
}

/// Is attacked for so many seconds.
pub(crate) async fn run(seconds: u64) -> Result<(), Failure> {
    let mut chance = Chance::new(seed());
    let (times, tally) = (Times::default(), Tally::default());
    let (mut server, port) = start(&["attacked-server"])?;
    let transport = Http::new(&format!("http://127.0.0.1:{port}/mcp"))?;
    let client = Client::builder().connect(transport).await?;
    let calling = tokio::spawn(call_honestly(client.clone(), times.clone(), tally.clone()));
    let attack = async {
        let mut attackers = tokio::task::JoinSet::new();
        for _ in 0..ATTACKERS {
            let chance = Chance::new(chance.next());
            attackers.spawn(hostile_client::run(port, chance, tally.clone()));
        }
        while attackers.join_next().await.is_some() {}
    };
    let measured = measure(seconds, server.id(), &times, attack).await;
    calling.abort();
    client.stop().await;
    server.kill()?;
    server.wait()?;
    tally.print();
    measured
}
