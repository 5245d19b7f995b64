//! The tools of the agency and their conversations.

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

use super::agency::{AIRLINES, Agency, Flight, destinations};

/// Adds all tools of the agency.
pub(crate) fn offer(server: Server, agency: Agency) -> Server<Agency> {
    server
        .title("Bowline Travel")
        .instructions("Search first, then book. The traveller confirms every booking.")
        .state(agency)
        .tool(search_flights::tool())
        .tool(book_flight())
        .tool(cancel_booking::tool())
}

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where to.
    destination: String,
    /// The day, as 2027-05-01.
    #[schemars(regex(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    date: String,
}

#[derive(Serialize, JsonSchema)]
struct Found {
    flights: Vec<Flight>,
}

// A tool is an async function. Its doc comment is the description that models
// read, and its types define the input and output schemas.

/// Finds flights to a destination on a day
#[tool(title = "Search flights", read_only)]
async fn search_flights(#[input] trip: Trip, cx: HandlerContext<Agency>) -> Result<Json<Found>> {
    let flights = search(&trip, &cx);
    Ok(Json(Found { flights }))
}

/// Queries one airline after the other, and reports progress.
fn search(trip: &Trip, cx: &HandlerContext<Agency>) -> Vec<Flight> {
    let mut flights = Vec::new();
    for (airline, asked) in AIRLINES.iter().zip(1..) {
        flights.extend(airline.search(&trip.destination, &trip.date));
        let answered = format!("{} has answered", airline.name);
        cx.progress_with_message(f64::from(asked), AIRLINES.len() as f64, &answered);
    }
    flights
}

/// The form for the traveller: flat, and validated by the server.
#[derive(Elicit)]
#[elicit(key = "choice")]
struct Choice {
    /// The number of the flight
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
fn book_flight() -> Tool<Agency> {
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
async fn find(trip: Trip, cx: HandlerContext<Agency>) -> Result<Vec<Flight>> {
    let flights = search(&trip, &cx);
    if flights.is_empty() {
        // The model reads this, and can correct its call.
        let (place, places) = (trip.destination, destinations());
        let why = format!("no flights to {place}; available destinations: {places}");
        return Err(Error::failed(why));
    }
    Ok(flights)
}

/// The conversation with the traveller.
async fn choose(flights: Vec<Flight>, cx: Conversation<Agency>) -> Result<(Flight, Seat)> {
    let list: Vec<_> = flights.iter().map(Flight::to_string).collect();
    let question = format!("{} flights. Which one?\n{}", list.len(), list.join("\n"));
    // An invalid answer is asked for once more.
    let choice = cx.elicit::<Choice>(question).retry(2, OnDecline::Error);
    let Choice { flight, seat } = choice.await?.accepted()?;
    let chosen = flights.into_iter().find(|found| found.id == flight);
    let chosen = chosen.ok_or_else(|| Error::failed(format!("flight {flight} not found")))?;

    let wish = format!("Sum up in one sentence: {chosen}, seat: {seat}");
    let summary = cx.sample(wish).max_tokens(100).await?;
    // If the traveller declines or cancels, the call ends here.
    cx.confirm(format!("{summary}\n\nBook it?")).await?;
    Ok((chosen, seat))
}

/// Runs after the conversation.
async fn book(
    _: Vec<Flight>,
    (flight, seat): (Flight, Seat),
    cx: HandlerContext<Agency>,
) -> Result<String> {
    let text = format!("Booked {flight}, seat: {seat}.");
    let number = cx.state().book(flight);
    cx.log(LogLevel::Info, &format!("booking {number} is made"));
    Ok(format!("{text} The number of the booking is {number}."))
}

/// Gives a seat back, if the traveller confirms
#[tool(title = "Cancel a booking", requires(elicitation), destructive = true)]
async fn cancel_booking(
    /// The number of the booking.
    number: u32,
    cx: Conversation<Agency>,
) -> Result<String> {
    // Time passes while the traveller decides. A step runs once, and its result
    // is stored.
    let find = async { Ok(cx.state().booking(number)) };
    let flight = cx.step("find", find).await?;
    let flight = flight.ok_or_else(|| Error::failed(format!("booking {number} not found")))?;
    cx.confirm(format!("Cancel {flight}?")).await?;
    let cancel = async { Ok(cx.state().cancel(number)) };
    if !cx.step("cancel", cancel).await? {
        return Err(Error::failed("the booking was already cancelled"));
    }
    cx.log(LogLevel::Info, &format!("booking {number} is cancelled"));
    Ok(format!("Booking {number} is cancelled."))
}
