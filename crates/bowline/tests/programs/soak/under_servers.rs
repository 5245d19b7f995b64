//! Our client, under attack by hostile servers.

use std::{env, time::Duration};

use bowline::{
    Client, Timeouts,
    cache::Cache,
    client::{ClientBuilder, progress_channel},
    model::ElicitResult,
    transport::{ChildProcess, Http, Transport},
};
use serde_json::json;
use tokio::time::timeout;

use super::{
    Failure,
    figures::{Chance, Tally, Times},
    report::{call_honestly, measure},
    seed, start,
};

/// The number of concurrent hostile servers over pipes and over HTTP.
pub(crate) const PIPES: usize = 3;
const WEB: usize = 3;
/// The number of transports to hostile servers.
pub(crate) const WAYS: f64 = 2.0;
/// The maximum duration of anything the client does, including all limits and
/// delays.
const AT_MOST: Duration = Duration::from_secs(40);

/// Connects to hostile servers for this many seconds.
pub(crate) async fn run(seconds: u64) -> Result<(), Failure> {
    let mut chance = Chance::new(seed());
    let (times, tally) = (Times::default(), Tally::default());
    let me = env::current_exe()?;
    let honest = ChildProcess::new(&me).arg("honest-server");
    let honest = Client::builder().connect(honest).await?;
    let calling = tokio::spawn(call_honestly(honest.clone(), times.clone(), tally.clone()));
    let (mut web, port) = start(&["hostile-http", &chance.next().to_string()])?;
    let attack = async {
        let mut victims = tokio::task::JoinSet::new();
        for _ in 0..PIPES {
            let chance = Chance::new(chance.next());
            victims.spawn(over_pipes(chance, tally.clone()));
        }
        for _ in 0..WEB {
            victims.spawn(over_http(port, tally.clone()));
        }
        while victims.join_next().await.is_some() {}
    };
    let measured = measure(seconds, std::process::id(), &times, &tally, attack).await;
    calling.abort();
    honest.stop().await;
    web.kill()?;
    web.wait()?;
    tally.print();
    measured
}

async fn over_pipes(mut chance: Chance, tally: Tally) {
    loop {
        let Ok(me) = env::current_exe() else { return };
        let seed = chance.next().to_string();
        let server = ChildProcess::new(me).args(["hostile-server", &seed]);
        let server = server.shutdown_timeout(Duration::from_millis(200));
        visit("pipe", server, &tally).await;
    }
}

async fn over_http(port: u16, tally: Tally) {
    loop {
        match Http::new(&format!("http://127.0.0.1:{port}/mcp")) {
            Ok(server) => visit("http", server, &tally).await,
            Err(_) => return,
        }
    }
}

/// Uses one server as hosts do. Whatever it does, this must end.
async fn visit(way: &str, server: impl Transport, tally: &Tally) {
    match timeout(AT_MOST, talk(way, server, tally)).await {
        Ok(()) => {}
        Err(_) => tally.fault(&format!("{way}: a visit did not end")),
    }
}

async fn talk(way: &str, server: impl Transport, tally: &Tally) {
    let client = match impatient(tally).connect(server).await {
        Ok(client) => client,
        Err(error) => {
            tally.count(&format!("{way}: connect: {:?}", error.reason()));
            return;
        }
    };
    // Subscribes, and never receives anything.
    let unheard = client.subscribe_to_list_changes();
    let cache = Cache::default();
    let cached = cache.wrap(client.clone());
    let list = cached.tools().await;
    let list = list.map(drop).map_err(|error| error.reason());
    tally.count(&format!("{way}: list: {list:?}"));
    // Progress that is never received, until the server is closed.
    let mut unread = Vec::new();
    for _ in 0..3 {
        let (notes, heard) = progress_channel();
        unread.push(heard);
        let call = client.tools().call("t", json!({})).progress_to(notes);
        let answer = call.await.map(drop).map_err(|error| error.reason());
        tally.count(&format!("{way}: call: {answer:?}"));
    }
    let _ = client.stop_and_wait(Duration::from_secs(2)).await;
    drop((unheard, unread));
}

/// Small limits, so the run covers many failures of each kind.
fn impatient(tally: &Tally) -> ClientBuilder {
    let second = Duration::from_secs(1);
    let timeouts = Timeouts {
        connect: 2 * second,
        tool: second,
        resource: second,
        other: second,
        ..Timeouts::standard()
    };
    let seen = tally.clone();
    Client::builder()
        .timeouts(timeouts)
        .max_frame_size(1024 * 1024)
        .on_elicit(async |_| ElicitResult::decline())
        .observer(move |observation| seen.count(&format!("(seen) {}", observation.name())))
}
