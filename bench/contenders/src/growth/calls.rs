//! More and more calls in flight on one client: what a call costs while so
//! many others wait.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ::rmcp::{RoleClient, ServiceExt as _, model::CallToolRequestParams, service::RunningService};
use bowline::Client;
use serde_json::json;
use tokio::io::DuplexStream;

use super::{
    answering::Answering,
    link::{Pipe, pipe},
    moment::{Moment, Spent},
    numbers::report,
};
use crate::Failure;

/// Started together, so that no queue overflows.
const TOGETHER: usize = 500;

/// Measures a client with so many calls in flight. Each is made by a task of
/// its own, which makes the next one when it has its answer.
pub(super) async fn measure(who: &str, flying: usize, times: usize) -> Result<(), Failure> {
    let (near, far) = pipe();
    let warm = flying + times / 10;
    let server = tokio::spawn(hold(far, flying, warm, warm + times));
    let left = Arc::new(AtomicUsize::new(warm + times));
    match who {
        "ours" => {
            let client = Client::builder().connect(Pipe::new(near)).await;
            let client = client.map_err(|error| error.to_string())?;
            fly(&Ours(client), flying, &left).await?;
        }
        "rmcp" => {
            let client = ().serve(near).await.map_err(|error| error.to_string())?;
            fly(&Rmcp(Arc::new(client)), flying, &left).await?;
        }
        other => return Err(format!("nobody is called {other:?}")),
    }
    let spent = server.await.map_err(|error| error.to_string())??;
    let each = spent.cpu * 1e6 / times as f64;
    report(&[(format!("growth.calls.{flying}.call"), each)]);
    Ok(())
}

/// A client that can be called by many at once.
trait Caller: Clone + Send + 'static {
    /// Calls a tool with 100 bytes of text, and says how long the answer is.
    fn call(&self) -> impl Future<Output = Result<usize, Failure>> + Send;
}

#[derive(Clone)]
struct Ours(Client);

#[derive(Clone)]
struct Rmcp(Arc<RunningService<RoleClient, ()>>);

impl Caller for Ours {
    async fn call(&self) -> Result<usize, Failure> {
        let arguments = json!({"text": TEXT});
        let result = self.0.tools().call("echo", arguments).await;
        let result = result.map_err(|error| error.to_string())?;
        Ok(result
            .content
            .first()
            .and_then(|block| block.as_text())
            .map_or(0, str::len))
    }
}

impl Caller for Rmcp {
    async fn call(&self) -> Result<usize, Failure> {
        let arguments = json!({"text": TEXT})
            .as_object()
            .cloned()
            .unwrap_or_default();
        let params = CallToolRequestParams::new("echo").with_arguments(arguments);
        let result = self.0.call_tool(params).await;
        let result = result.map_err(|error| error.to_string())?;
        let text = result.content.first().and_then(|block| block.as_text());
        Ok(text.map_or(0, |text| text.text.len()))
    }
}

/// 100 bytes.
const TEXT: &str = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789";

/// Makes as many calls as are left, so many at a time.
async fn fly(client: &impl Caller, flying: usize, left: &Arc<AtomicUsize>) -> Result<(), Failure> {
    let mut callers = Vec::new();
    for number in 0..flying {
        let (client, left) = (client.clone(), Arc::clone(left));
        callers.push(tokio::spawn(async move {
            let take = |left: usize| left.checked_sub(1);
            while left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
                .is_ok()
            {
                if client.call().await? != TEXT.len() {
                    return Err("the answer is not what it should be".to_owned());
                }
            }
            Ok(())
        }));
        if number % TOGETHER == 0 {
            settle().await;
        }
    }
    for caller in callers {
        caller.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}

/// Lets everybody else go on for a while.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

/// A server that answers nobody until so many wait, then whoever has waited
/// longest each time another comes. Measures from one request to another, the
/// last of all.
async fn hold(
    end: DuplexStream,
    flying: usize,
    first: usize,
    last: usize,
) -> Result<Spent, Failure> {
    let answer = format!(r#","result":{{"content":[{{"type":"text","text":"{TEXT}"}}]}}}}"#) + "\n";
    let mut server = Answering::new(end);
    let mut waiting = VecDeque::new();
    let mut start = Moment::now()?;
    for number in 1..=last {
        let id = server.asked().await?.ok_or("the client is gone")?;
        if number == first {
            start = Moment::now()?;
        }
        waiting.push_back(id);
        if waiting.len() >= flying
            && let Some(oldest) = waiting.pop_front()
        {
            server.answer(oldest, answer.as_bytes()).await?;
        }
    }
    let spent = start.spent()?;
    for id in waiting {
        server.answer(id, answer.as_bytes()).await?;
    }
    Ok(spent)
}
