//! A travel agency with tools that ask questions: the traveller which flight,
//! the client's model for a summary, and the traveller again whether to book
//! it.
//!
//! `agency` is the business logic; this file exposes it over the protocol.
//!
//! The tests of the library use these two files for a server of their own
//! (`crates/bowline/tests/programs/travel`), with an `App` of their own.

pub(super) mod agency;

use std::fmt;

use bowline::{
    Server,
    model::LogLevel,
    server::{
        ClientCapability, Conversation, Error, HandlerContext, Json, OnDecline, Result, Tool,
        form::Elicit, tool,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::agency::{AIRLINES, Flight, destinations};
use super::App;

/// Registers the agency's tools.
pub(super) fn register(server: Server<App>) -> Server<App> {
    server
        .tool(search_flights::tool())
        .tool(book_flight())
        .tool(cancel_booking::tool())
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Lisbon, Oslo or Tokyo
    destination: String,
    /// Day of the flight
    #[serde(default = "some_day")]
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    date: String,
}

fn some_day() -> String {
    "2027-05-01".to_owned()
}

#[derive(Serialize, JsonSchema)]
struct Found {
    flights: Vec<Flight>,
}

// A tool is an async function. Its doc comment is the description that models
// read, and its types define the input and output schemas.

/// Finds flights to a destination on a day
#[tool(title = "Search flights", read_only)]
async fn search_flights(#[input] trip: Trip, cx: HandlerContext<App>) -> Result<Json<Found>> {
    let flights = search(&trip, &cx);
    Ok(Json(Found { flights }))
}

/// Queries one airline after the other, and reports progress.
fn search(trip: &Trip, cx: &HandlerContext<App>) -> Vec<Flight> {
    let mut flights = Vec::new();
    for (airline, count) in AIRLINES.iter().zip(1..) {
        flights.extend(airline.search(&trip.destination, &trip.date));
        let answered = format!("{} has answered", airline.name);
        cx.progress_with_message(f64::from(count), AIRLINES.len() as f64, &answered);
    }
    flights
}

/// The form for the traveller: flat, and validated by the server.
#[derive(Elicit)]
#[elicit(key = "choice")]
struct Choice {
    /// Number of the flight
    #[elicit(title = "Flight", min_length = 1)]
    flight: String,
    /// Where to sit
    #[elicit(title = "Seat", default = Seat::Any)]
    seat: Seat,
}

#[derive(Elicit)]
#[elicit(rename_all = "lowercase")]
enum Seat {
    #[elicit(title = "At the window")]
    Window,
    #[elicit(title = "At the aisle")]
    Aisle,
    #[elicit(title = "No matter")]
    Any,
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Window => "at the window",
            Self::Aisle => "at the aisle",
            Self::Any => "anywhere",
        })
    }
}

// A tool in three phases. The first and the last run once, even if the
// conversation between them is replayed.
fn book_flight() -> Tool<App> {
    Tool::new("book_flight")
        .title("Book a flight")
        .description("Books a flight, with the traveller's choice and confirmation")
        .input::<Trip>()
        // Clients without elicitation and sampling do not see this tool.
        .requires([ClientCapability::Elicitation, ClientCapability::Sampling])
        .elicits::<Choice>()
        .phases()
        .before(find)
        .ask(choose)
        .after(book)
}

/// Runs before any question.
async fn find(trip: Trip, cx: HandlerContext<App>) -> Result<Vec<Flight>> {
    let flights = search(&trip, &cx);
    if flights.is_empty() {
        // The model reads this, and can correct its call.
        let (place, places) = (trip.destination, destinations().join(", "));
        let why = format!("no flights to {place}; available destinations: {places}");
        return Err(Error::failed(why));
    }
    persist_secret(&cx);
    Ok(flights)
}

/// The conversation with the traveller.
async fn choose(flights: Vec<Flight>, cx: Conversation<App>) -> Result<(Flight, Seat)> {
    let list: Vec<_> = flights.iter().map(Flight::to_string).collect();
    let question = format!("{} flights. Which one?\n{}", list.len(), list.join("\n"));
    // An invalid answer is asked for once more.
    let choice = cx.elicit::<Choice>(question).retry(2, OnDecline::Error);
    let Choice { flight, seat } = choice.await?.accepted()?;
    let chosen = flights.into_iter().find(|found| found.id == flight);
    let chosen = chosen.ok_or_else(|| Error::failed(format!("flight {flight} not found")))?;

    let request = format!("Sum up in one sentence: {chosen}, seat: {seat}");
    let summary = cx.sample(request).max_tokens(100).await?;
    // If the traveller declines or cancels, the call ends here.
    cx.confirm(format!("{summary}\n\nBook it?")).await?;
    Ok((chosen, seat))
}

/// Runs after all questions are answered.
async fn book(
    _: Vec<Flight>,
    (flight, seat): (Flight, Seat),
    cx: HandlerContext<App>,
) -> Result<String> {
    let text = format!("Booked {flight}, seat: {seat}.");
    let number = cx.state().agency.book(flight);
    cx.log(LogLevel::Info, &format!("booking {number} is made"));
    Ok(format!("{text} The number of the booking is {number}."))
}

/// Cancels a booking, if the traveller confirms
#[tool(title = "Cancel a booking", requires(elicitation), destructive = true)]
async fn cancel_booking(
    /// Number of the booking; 1000 always exists
    number: u32,
    cx: Conversation<App>,
) -> Result<String> {
    // Time passes while the traveller decides. A step runs once, and its result is
    // stored.
    let agency = &cx.state().agency;
    let flight = cx
        .step("find", async { Ok(agency.booking(number)) })
        .await?;
    let flight = flight.ok_or_else(|| Error::failed(format!("booking {number} not found")))?;
    persist_secret(&cx);
    cx.confirm(format!("Cancel {flight}?")).await?;
    if !cx
        .step("cancel", async { Ok(agency.cancel(number)) })
        .await?
    {
        return Err(Error::failed("the booking was already cancelled"));
    }
    cx.log(LogLevel::Info, &format!("booking {number} is cancelled"));
    Ok(format!("Booking {number} is cancelled."))
}

/// Stores the secret that seals the conversation, so the answer may go to another
/// process.
fn persist_secret(cx: &HandlerContext<App>) {
    if let Err(why) = cx.state().persist_secret() {
        let warning = format!("the conversation can only resume in this process: {why}");
        cx.log(LogLevel::Warning, &warning);
    }
}
