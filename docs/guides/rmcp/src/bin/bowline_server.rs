//! A server whose tool asks the user, with Bowline.

use bowline::server::{Conversation, Result, Server, form::Elicit, tool};

#[derive(Elicit)]
struct Seat {
    /// Which row?
    #[elicit(min = 1, max = 40)]
    row: u8,
}

/// Books a seat on a flight
#[tool]
async fn book(flight: String, cx: Conversation) -> Result<String> {
    let seat = cx
        .elicit::<Seat>("Where would you like to sit?")
        .required()
        .await?;
    Ok(format!("{flight}, row {}", seat.row))
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    Server::new("travel", "1.0.0")
        .tool(book::tool())
        .serve_stdio()
        .await
}
