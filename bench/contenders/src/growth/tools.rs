//! More and more tools on one server: what a call to one of them costs, and
//! what the list costs for each of them.

use super::{
    asking::Asking,
    link::{link, pipe},
    moment::Moment,
    numbers::report,
    ours, rmcp,
};
use crate::Failure;

/// Measures a server with so many tools.
pub(super) async fn measure(who: &str, tools: usize, times: usize) -> Result<(), Failure> {
    let mut client = serving(who, tools).await?;
    let text = "x".repeat(100);
    // A stride that has no divisor in common with the counts reaches them all.
    let names: Vec<String> = (0..tools)
        .map(|number| ours::name(number * 7 % tools))
        .collect();
    let mut names = names.iter().cycle();
    let mut call = async |client: &mut Asking, times: usize| {
        for name in names.by_ref().take(times) {
            client.call(name, &text).await?;
        }
        Ok::<(), Failure>(())
    };
    call(&mut client, times / 10).await?;
    let start = Moment::now()?;
    call(&mut client, times).await?;
    let calls = start.spent()?;

    // About as many tools are listed in all, whatever their number.
    let lists = (times * 10 / tools).max(2);
    client.list().await?;
    let start = Moment::now()?;
    for _ in 0..lists {
        client.list().await?;
    }
    let listed = start.spent()?;
    let each = |seconds: f64, count: usize| seconds * 1e6 / count as f64;
    report(&[
        (format!("growth.tools.{tools}.call"), each(calls.cpu, times)),
        (
            format!("growth.tools.{tools}.list"),
            each(listed.cpu, lists * tools),
        ),
    ]);
    Ok(())
}

/// A client of such a server.
async fn serving(who: &str, tools: usize) -> Result<Asking, Failure> {
    let (near, far) = pipe();
    match who {
        "ours" => {
            let service = ours::service(tools)?;
            tokio::spawn(async move { service.serve(link(far)).await });
        }
        "rmcp" => drop(tokio::spawn(rmcp::serve(tools, far))),
        "rmcp-tuned" => drop(tokio::spawn(rmcp::serve_tuned(tools, far))),
        other => return Err(format!("nobody is called {other:?}")),
    }
    Asking::open(near).await
}
