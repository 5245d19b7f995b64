//! Reading a list as a client does: from bytes to tools that the application
//! can keep.

use std::{borrow::Cow, hint::black_box};

use bowline::Client;
use rmcp::{RoleClient, ServiceExt as _, service::RunningService};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;

use super::page::page;
use crate::{
    Failure,
    growth::{
        answering::Answering,
        link::{Pipe, pipe},
        moment::Moment,
        numbers::report,
    },
};

/// Measures one client, with a server at its other end that sends what was
/// ready before.
pub(super) async fn measure(who: &str, tools: usize, times: usize) -> Result<(), Failure> {
    let page = page(tools)?;
    let warm = times.div_ceil(10);
    let (near, far) = pipe();
    let expected = warm + times;
    match who {
        "ours" => {
            let server = serve(far, page);
            let client = Client::builder().connect(Pipe::new(near)).await;
            let client = client.map_err(|error| error.to_string())?;
            all(&Ours(client), tools, warm, times).await?;
            finished(server, expected).await
        }
        "rmcp" | "rmcp-tuned" => {
            let server = serve(far, page);
            let client = ().serve(near).await.map_err(|error| error.to_string())?;
            all(&Rmcp(client), tools, warm, times).await?;
            finished(server, expected).await
        }
        "limit" => {
            let limit = Limit(format!("{{\"jsonrpc\":\"2.0\",\"id\":1{page}"));
            all(&limit, tools, warm, times).await
        }
        other => Err(format!("nobody is called {other:?}")),
    }
}

async fn all(lister: &impl Lister, tools: usize, warm: usize, times: usize) -> Result<(), Failure> {
    let list = async |times: usize| {
        for _ in 0..times {
            match lister.list().await? {
                length if length == tools => {}
                other => return Err(format!("{other} tools came, and not {tools}")),
            }
        }
        Ok(())
    };
    list(warm).await?;
    let start = Moment::now()?;
    list(times).await?;
    let spent = start.spent()?;
    let each = |seconds: f64| seconds * 1e3 / times as f64;
    report(&[
        ("list.decode.time".to_owned(), each(spent.seconds)),
        ("list.decode.cpu".to_owned(), each(spent.cpu)),
    ]);
    Ok(())
}

/// Somebody who asks for a list and reads it.
trait Lister {
    /// How many tools there are.
    async fn list(&self) -> Result<usize, Failure>;
}

struct Ours(Client);

struct Rmcp(RunningService<RoleClient, ()>);

/// Reads the bytes and keeps nothing.
struct Limit(String);

impl Lister for Ours {
    async fn list(&self) -> Result<usize, Failure> {
        let tools = self.0.tools().list().await;
        let tools = tools.map_err(|error| error.to_string())?;
        Ok(black_box(tools).len())
    }
}

impl Lister for Rmcp {
    async fn list(&self) -> Result<usize, Failure> {
        let tools = self.0.list_all_tools().await;
        let tools = tools.map_err(|error| error.to_string())?;
        Ok(black_box(tools).len())
    }
}

impl Lister for Limit {
    async fn list(&self) -> Result<usize, Failure> {
        let answer: Answer<'_> =
            serde_json::from_str(black_box(&self.0)).map_err(|error| error.to_string())?;
        Ok(black_box(answer).result.tools.len())
    }
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(rename = "id")]
    _id: u64,
    #[serde(borrow)]
    result: Page<'a>,
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<Tool<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tool<'a> {
    #[serde(borrow, rename = "name")]
    _name: Cow<'a, str>,
    #[serde(borrow, rename = "description")]
    _description: Cow<'a, str>,
    #[serde(borrow, rename = "inputSchema")]
    _input_schema: &'a RawValue,
}

/// Sends the page to whoever asks, and says how often.
fn serve(end: tokio::io::DuplexStream, page: String) -> JoinHandle<Result<usize, Failure>> {
    tokio::spawn(async move {
        let mut server = Answering::new(end);
        let mut times = 0;
        while let Some(id) = server.asked().await? {
            server.answer(id, page.as_bytes()).await?;
            times += 1;
        }
        Ok(times)
    })
}

/// The client is gone: it must have asked each time, rather than remembered.
async fn finished(
    server: JoinHandle<Result<usize, Failure>>,
    expected: usize,
) -> Result<(), Failure> {
    match server.await.map_err(|error| error.to_string())?? {
        asked if asked == expected => Ok(()),
        asked => Err(format!("it asked {asked} times, and not {expected}")),
    }
}
