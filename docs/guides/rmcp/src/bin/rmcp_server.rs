//! A server whose tool asks the user, with rmcp.

use rmcp::{
    RoleServer, ServiceExt as _,
    handler::server::wrapper::Parameters,
    schemars::JsonSchema,
    service::{ElicitationError, RequestContext},
    tool, tool_router,
    transport::stdio,
};
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Booking {
    flight: String,
}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    #[schemars(description = "Which row?", range(min = 1, max = 40))]
    row: u8,
}

rmcp::elicit_safe!(Seat);

#[derive(Clone)]
struct Travel;

#[tool_router(server_handler)]
impl Travel {
    #[tool(description = "Books a seat on a flight")]
    async fn book(
        &self,
        Parameters(Booking { flight }): Parameters<Booking>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, String> {
        let seat = context
            .peer
            .elicit::<Seat>("Where would you like to sit?")
            .await;
        match seat {
            Ok(Some(seat)) => Ok(format!("{flight}, row {}", seat.row)),
            Ok(None) | Err(ElicitationError::NoContent) => Err("no seat was chosen".into()),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Travel.serve(stdio()).await?.waiting().await?;
    Ok(())
}
