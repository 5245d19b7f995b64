//! Scenarios in which the order of events is certain.

use std::{
    io,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    checker::{Evidence, Violation, check},
    client::{Reply, Stateless, accepted, end_of_result},
    effects::HELD_PREFIX,
    fleet::{Fleet, FleetOptions, NODES},
    outcome::{End, Kind, Outcome},
};

/// Something is wrong if it takes this long.
const TOO_LONG: Duration = Duration::from_secs(60);

/// A node is killed within a step that has happened, and the client repeats the round at
/// another node. Returns how it ended and what the checker says.
///
/// # Errors
///
/// Returns an error if the fleet cannot be started, or something does not happen.
pub async fn kill_in_step(options: FleetOptions) -> io::Result<(End, Vec<Violation>)> {
    let fleet = Fleet::start(options).await?;
    let conversation = format!("{HELD_PREFIX}0");
    let call = json!({"name": "book", "arguments": {"conversation": conversation}});
    let [first, second] = [0, 1].map(|node| Stateless::new(fleet.node_address(node)));
    let asked = result_of(first, "tools/call", &call).await?;
    let round = answered(&call, &asked);
    let held = async {
        let held = fleet.held.lock().await.recv().await;
        held.ok_or_else(|| io::Error::other("the effects process ended"))
    };
    let stays = first.ask("tools/call", round.clone());
    tokio::select! {
        held = timeout(TOO_LONG, held) => drop(held??),
        reply = stays => return Err(io::Error::other(format!("it did not stay: {reply:?}"))),
    }
    fleet.kill_node(0).await?;
    let asked = result_of(second, "tools/call", &round).await?;
    let end = match asked["resultType"] == "input_required" {
        true => {
            let round = answered(&call, &asked);
            end_of_result(&result_of(second, "tools/call", &round).await?)
        }
        false => end_of_result(&asked),
    };
    let outcome = Outcome {
        conversation: conversation.clone(),
        kind: Kind::Rounds,
        beginnings: 1,
        end: end.clone(),
        also_reported: Vec::new(),
    };
    let log = fleet.end().await?;
    let violations = check(&Evidence {
        log: &log,
        planned: &[conversation],
        outcomes: &[outcome],
        is_durable: true,
    });
    Ok((end, violations))
}

/// Redis loses everything between two rounds, and the client repeats both of them at all
/// nodes. Returns what each node said, and what the checker says.
///
/// # Errors
///
/// Returns an error if the fleet cannot be started, or something does not happen.
pub async fn forget_between_rounds(
    options: FleetOptions,
) -> io::Result<(Vec<String>, Vec<Violation>)> {
    let fleet = Fleet::start(options).await?;
    let conversation = "call".to_owned();
    let call = json!({"name": "book", "arguments": {"conversation": conversation}});
    let first = Stateless::new(fleet.node_address(0));
    let asked = result_of(first, "tools/call", &call).await?;
    let mut rounds = vec![answered(&call, &asked)];
    let asked = result_of(first, "tools/call", &rounds[0]).await?;
    rounds.push(answered(&call, &asked));
    {
        let mut redis = fleet.redis.lock().await;
        redis.kill().await?;
        redis.restart().await?;
    }
    let mut said = Vec::new();
    for node in 0..NODES {
        let stateless = Stateless::new(fleet.node_address(node));
        for round in &rounds {
            let reply = result_of(stateless, "tools/call", round).await;
            said.push(reply.map_or_else(|error| error.to_string(), |it| it.to_string()));
        }
    }
    let outcome = Outcome {
        conversation: conversation.clone(),
        kind: Kind::Rounds,
        beginnings: 1,
        end: End::Refused(said[0].clone()),
        also_reported: Vec::new(),
    };
    let log = fleet.end().await?;
    let violations = check(&Evidence {
        log: &log,
        planned: &[conversation],
        outcomes: &[outcome],
        is_durable: false,
    });
    Ok((said, violations))
}

/// Kills nodes within a step of a task. Returns how long it took each time until another
/// node had gone on with the task.
///
/// # Errors
///
/// Returns an error if the fleet cannot be started, or something does not happen.
pub async fn measure_takeovers(options: FleetOptions, count: usize) -> io::Result<Vec<Duration>> {
    let fleet = Fleet::start(options).await?;
    let mut times = Vec::new();
    for number in 0..count {
        let taken = timeout(TOO_LONG, measure_takeover(&fleet, number)).await;
        times.push(taken??);
    }
    fleet.end().await?;
    Ok(times)
}

async fn measure_takeover(fleet: &Fleet, number: usize) -> io::Result<Duration> {
    let stateless = Stateless::new(fleet.address);
    let arguments = json!({"conversation": format!("{HELD_PREFIX}{number}")});
    let call = json!({"name": "job", "arguments": arguments});
    let created = result_of(stateless, "tools/call", &call).await?;
    let get = json!({"taskId": created["taskId"]});
    while result_of(stateless, "tasks/get", &get).await?["status"] != "input_required" {
        sleep(Duration::from_millis(5)).await;
    }
    let answers = json!({"first": accepted("a")});
    let update = json!({"taskId": created["taskId"], "inputResponses": answers});
    result_of(stateless, "tasks/update", &update).await?;
    let held = fleet.held.lock().await.recv().await;
    let held = held.ok_or_else(|| io::Error::other("the effects process ended"))?;
    let node = (0..NODES).find(|node| Fleet::node_name(*node) == held.node);
    let node = node.ok_or_else(|| io::Error::other("an unknown node"))?;
    // So the kill does not always come at the same time after a renewal.
    sleep(Duration::from_millis(number as u64 * 37 % 400)).await;
    fleet.kill_node(node).await?;
    let killed = Instant::now();
    while result_of(stateless, "tasks/get", &get).await?["status"] == "working" {
        sleep(Duration::from_millis(5)).await;
    }
    let taken = killed.elapsed();
    fleet.start_node(node).await?;
    Ok(taken)
}

/// Sends a request until it has a result.
async fn result_of(stateless: Stateless, method: &str, params: &Value) -> io::Result<Value> {
    let asking = async {
        loop {
            match stateless.ask(method, params.clone()).await {
                Reply::Result(result) => return Ok(result),
                Reply::Refused(why) => return Err(io::Error::other(why)),
                Reply::Retry | Reply::NotProcessed => sleep(Duration::from_millis(20)).await,
            }
        }
    };
    timeout(TOO_LONG, asking).await?
}

fn answered(call: &Value, asked: &Value) -> Value {
    let mut round = call.clone();
    let questions = asked["inputRequests"].as_object();
    let keys = questions.into_iter().flatten().map(|(key, _)| key.clone());
    round["inputResponses"] = keys.map(|key| (key, accepted("a"))).collect();
    round["requestState"] = asked["requestState"].clone();
    round
}
