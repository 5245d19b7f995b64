//! Our HTTP server, under attack by hostile clients.

use std::{env, net::Ipv4Addr, process::Stdio};

use bowline::{
    Client,
    server::{Conversation, Tool, http::HttpOptions},
    transport::Http,
};
use tokio::{net::TcpListener, process::Command};

use super::{
    Failure,
    figures::{Chance, Tally, Times},
    honest,
    hostile_client::Set,
    report::{call_honestly, measure},
    seed, start,
};

/// The number of notifications sent by the verbose tool.
const NOTES: u32 = 2_000;

/// Serves HTTP with the default options and prints the port.
pub(crate) async fn serve() -> Result<(), Failure> {
    let set = Tool::new("set")
        .description("Takes a set")
        .input::<Set>()
        .handler(async |set: Set| Ok(set.items.len().to_string()));
    let slow = Tool::new("slow")
        .description("Never answers")
        .no_input()
        .handler(async |_| std::future::pending::<bowline::server::Result<&str>>().await);
    let chatty = Tool::new("chatty")
        .description("Reports much progress")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let server = cx.context();
            for step in 0..NOTES {
                server.progress_with_message(step.into(), None, &"more".repeat(50));
            }
            Ok("done")
        });
    let ask = Tool::new("ask")
        .description("Asks, and asks again")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            for round in 0..100 {
                cx.confirm(format!("Is {round} enough?")).await?;
            }
            Ok("done")
        });
    let server = honest().tool(set).tool(slow).tool(chatty).tool(ask);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    println!("{}", listener.local_addr()?.port());
    let service = server.build()?;
    service.http(HttpOptions::default()).serve(listener).await?;
    Ok(())
}

/// Runs the attack for this many seconds. The attackers have their own process,
/// so the honest client does not wait for them.
pub(crate) async fn run(seconds: u64) -> Result<(), Failure> {
    let mut chance = Chance::new(seed());
    let (times, tally) = (Times::default(), Tally::default());
    let (mut server, port) = start(&["attacked-server"])?;
    let transport = Http::new(&format!("http://127.0.0.1:{port}/mcp"))?;
    let client = Client::builder().connect(transport).await?;
    let calling = tokio::spawn(call_honestly(client.clone(), times.clone(), tally.clone()));
    let mut attackers = Command::new(env::current_exe()?);
    attackers
        .args(["hostile-clients", &port.to_string()])
        .arg(chance.next().to_string())
        .stdin(Stdio::piped())
        .kill_on_drop(true);
    let mut attacking = None;
    let attack = async {
        let Ok(mut child) = attackers.spawn() else {
            return;
        };
        let stdin = child.stdin.take();
        let (child, _) = attacking.insert((child, stdin));
        let _ = child.wait().await;
    };
    let measured = measure(seconds, server.id(), &times, &tally, attack).await;
    if let Some((mut child, stdin)) = attacking {
        // It prints what it did, and exits.
        drop(stdin);
        child.wait().await?;
    }
    calling.abort();
    client.stop().await;
    server.kill()?;
    server.wait()?;
    measured
}
