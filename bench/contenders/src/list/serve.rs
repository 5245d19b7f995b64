//! Serving a list, again and again, to a client that only reads bytes.

use tokio::io::DuplexStream;

use super::page::page;
use crate::{
    Failure,
    growth::{
        answering::Answering,
        asking::Asking,
        link::{link, pipe},
        moment::Moment,
        numbers::report,
        ours, rmcp,
    },
};

/// Measures one server.
pub(super) async fn measure(who: &str, tools: usize, times: usize) -> Result<(), Failure> {
    let (near, far) = pipe();
    start(who, tools, far)?;
    let mut client = Asking::open(near).await?;
    // Nobody may leave something out: a name and four properties take 400
    // bytes and more.
    let bytes = client.list().await?;
    if bytes < 400 * tools {
        return Err(format!("{bytes} bytes are no list of {tools} tools"));
    }
    for _ in 0..times / 10 {
        client.list().await?;
    }
    let start = Moment::now()?;
    for _ in 0..times {
        if client.list().await? < bytes {
            return Err("a later list is shorter than the first".to_owned());
        }
    }
    let spent = start.spent()?;
    report(&[
        ("list.serve.rate".to_owned(), times as f64 / spent.seconds),
        ("list.serve.cpu".to_owned(), spent.cpu * 1e6 / times as f64),
    ]);
    Ok(())
}

fn start(who: &str, tools: usize, end: DuplexStream) -> Result<(), Failure> {
    match who {
        "ours" => {
            let service = ours::service(tools)?;
            tokio::spawn(async move { service.serve(link(end)).await });
        }
        "rmcp" => drop(tokio::spawn(rmcp::serve(tools, end))),
        "rmcp-tuned" => drop(tokio::spawn(rmcp::serve_tuned(tools, end))),
        "limit" => drop(tokio::spawn(serve(end, page(tools)?))),
        other => return Err(format!("nobody is called {other:?}")),
    }
    Ok(())
}

/// Finds the id, and sends what was ready before.
async fn serve(end: DuplexStream, page: String) -> Result<(), Failure> {
    let mut server = Answering::new(end);
    while let Some(id) = server.asked().await? {
        server.answer(id, page.as_bytes()).await?;
    }
    Ok(())
}
