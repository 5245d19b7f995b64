//! More and more connections in one registry: what a call to one of them
//! costs.

use serde_json::json;

use super::{
    moment::Moment,
    numbers::report,
    registered::{self, Registered},
};
use crate::Failure;

/// Measures a registry with so many connections.
pub(super) async fn measure(connections: usize, times: usize) -> Result<(), Failure> {
    let servers = Registered::new()?;
    servers.open(0..connections).await?;
    let names: Vec<String> = (0..connections).map(registered::tool).collect();
    let text = "x".repeat(100);
    let call = async |times: usize| {
        for name in names.iter().cycle().take(times) {
            let result = servers
                .registry
                .call(name, json!({"text": text, "count": 3}))
                .await;
            let result = result.map_err(|error| error.to_string())?;
            if result.all_text().len() != text.len() {
                return Err(format!("{result:?}"));
            }
        }
        Ok::<(), Failure>(())
    };
    call(times / 10).await?;
    let start = Moment::now()?;
    call(times).await?;
    let each = start.spent()?.cpu * 1e6 / times as f64;
    report(&[(format!("growth.connections.{connections}.call"), each)]);
    Ok(())
}
