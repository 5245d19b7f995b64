//! What one of many holds in memory, by asking the allocator: a program of its
//! own, since to count makes every allocation dearer.
//!
//! `heap tools|calls|connections <count>` prints one line of JSON, as
//! `contenders` does. Everything runs on one thread, which is what is counted.

mod answering;
mod asking;
mod lines;
mod link;
mod numbers;
mod ours;
mod registered;

use std::process::ExitCode;

use allocation_counter::measure;
use bowline::Client;
use serde_json::json;
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

use self::{
    answering::Answering,
    asking::Asking,
    link::{Pipe, link, pipe},
    numbers::{number, report},
    registered::Registered,
};

/// What went wrong, in words for the person at the terminal.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("heap: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let [what, count] = arguments else {
        return Err("what is wanted: tools, calls or connections, and how many".to_owned());
    };
    let count = number(count)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let bytes = match what.as_str() {
        "tools" => tools(&runtime, count),
        "calls" => calls(&runtime, count),
        "connections" => connections(&runtime, count),
        other => Err(format!("nothing is called {other:?}")),
    }?;
    let each = bytes as f64 / count as f64;
    report(&[(format!("growth.{what}.{count}.memory"), each)]);
    Ok(())
}

/// What is held after something was done that was not held before.
fn held(done: impl FnOnce() -> Result<(), Failure>) -> Result<i64, Failure> {
    let mut result = Ok(());
    let info = measure(|| result = done());
    result.map(|()| info.bytes_current)
}

/// What a server holds for so many tools more, when it has served its list and
/// one of them was called.
fn tools(runtime: &Runtime, count: usize) -> Result<i64, Failure> {
    let text = "x".repeat(100);
    let serve = |tools: usize| {
        held(|| {
            let service = ours::service(tools)?;
            let (listed, text) = (service.clone(), text.clone());
            runtime.block_on(async move {
                let (near, far) = pipe();
                let serving = tokio::spawn(async move { listed.serve(link(far)).await });
                let mut client = Asking::open(near).await?;
                client.list().await?;
                client.call(&ours::name(0), &text).await?;
                drop(client);
                serving.await.map_err(|error| error.to_string())
            })?;
            std::mem::forget(service);
            Ok(())
        })
    };
    // What is made once for all is there before.
    serve(1)?;
    Ok(serve(count + 1)? - serve(1)?)
}

/// What so many calls hold that wait for their answers, each in a task of its
/// own.
fn calls(runtime: &Runtime, count: usize) -> Result<i64, Failure> {
    let (near, far) = pipe();
    let (arrived, mut arrivals) = mpsc::unbounded_channel();
    runtime.spawn(async move {
        let mut server = Answering::new(far);
        while let Ok(Some(_)) = server.asked().await {
            // Never answered.
            let _ = arrived.send(());
        }
    });
    let client = runtime.block_on(Client::builder().connect(Pipe::new(near)));
    let client = client.map_err(|error| error.to_string())?;
    let text = "x".repeat(100);
    let mut fly = |calls: usize| {
        for _ in 0..calls {
            let (client, text) = (client.clone(), text.clone());
            runtime.spawn(async move {
                let arguments = json!({"text": text});
                drop(client.tools().call("echo", arguments).await);
            });
            runtime
                .block_on(arrivals.recv())
                .ok_or("the client is gone")?;
        }
        Ok(())
    };
    // So that what is made for the first call is there before.
    fly(1)?;
    held(|| fly(count))
}

/// What so many connections of one registry hold, at both ends.
fn connections(runtime: &Runtime, count: usize) -> Result<i64, Failure> {
    let servers = Registered::new()?;
    runtime.block_on(servers.open(0..1))?;
    let text = "x".repeat(100);
    held(|| {
        runtime.block_on(async {
            servers.open(1..count + 1).await?;
            // A connection that was never used holds less.
            for number in 0..=count {
                let arguments = json!({"text": text, "count": 3});
                let result = servers
                    .registry
                    .call(&registered::tool(number), arguments)
                    .await;
                result.map_err(|error| error.to_string())?;
            }
            Ok(())
        })
    })
}
