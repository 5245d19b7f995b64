//! What the agency offers, and how it talks with those who ask.

use bowline::{
    Server,
    server::{Conversation, Error, Json, Need, Result, ServerContext, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agency::{Agency, Flight};

/// All that the agency offers.
pub(crate) fn offer(server: Server) -> Server<Agency> {
    server
        .title("Bowline Travel")
        .instructions("Search first, then book. Bookings are confirmed by the traveller.")
        .state(Agency::default())
        .tool(search_flights())
        .tool(book_flight())
        .tool(cancel_booking())
}

#[derive(Deserialize, Serialize, JsonSchema)]
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

fn search_flights() -> Tool<Agency> {
    Tool::new("search_flights")
        .title("Search flights")
        .description("Finds flights to a destination on a day")
        .input::<Trip>()
        .read_only()
        .execute(async |trip, cx: Conversation<Agency>| {
            let flights = cx.state().search(&trip.destination, &trip.date);
            Ok(Json(Found { flights }))
        })
}

/// The traveller's choice.
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

fn book_flight() -> Tool<Agency> {
    Tool::new("book_flight")
        .title("Book a flight")
        .description("Books a flight, with the traveller's choice and confirmation")
        .input::<Trip>()
        .requires([Need::Elicitation, Need::Sampling])
        .elicits::<Choice>()
        .handoff()
        .before(find)
        .client(choose)
        .after(async |_, chosen: Chosen, cx| {
            let booking = cx.state().book(chosen.flight, chosen.seat);
            Ok(format!(
                "Booked {} to {} on {}, seat: {}. Your number is {}.",
                booking.flight.id,
                booking.flight.destination,
                booking.flight.date,
                booking.seat,
                booking.number,
            ))
        })
}

/// Happens once, before the traveller is asked.
async fn find(trip: Trip, cx: ServerContext<Agency>) -> Result<Vec<Flight>> {
    let flights = cx.state().search(&trip.destination, &trip.date);
    if flights.is_empty() {
        let places: Vec<_> = Agency::destinations().collect();
        let places = places.join(", ");
        let place = trip.destination;
        return Err(Error::failed(format!(
            "nobody flies to {place}; we fly to {places}"
        )));
    }
    Ok(flights)
}

struct Chosen {
    flight: Flight,
    seat: String,
}

/// The conversation with the traveller.
async fn choose(flights: Vec<Flight>, cx: Conversation<Agency>) -> Result<Chosen> {
    let list: Vec<_> = flights.iter().map(describe).collect();
    let question = format!("{} flights. Which one?\n{}", flights.len(), list.join("\n"));
    let choice = cx.elicit::<Choice>(question).strict().await?;
    let flight = flights
        .into_iter()
        .find(|flight| flight.id == choice.flight);
    let flight = flight.ok_or_else(|| Error::failed("there is no such flight"))?;
    let seat = match choice.seat {
        Seat::Window => "window",
        Seat::Aisle => "aisle",
        Seat::Any => "any",
    };

    let wish = format!(
        "Sum up in one sentence: {}, seat: {seat}",
        describe(&flight)
    );
    let summary = cx.sample(wish).max_tokens(100).await?;
    cx.confirm(format!("{summary}\n\nBook it?")).await?;
    Ok(Chosen {
        flight,
        seat: seat.to_owned(),
    })
}

fn describe(flight: &Flight) -> String {
    let Flight {
        id,
        destination,
        date,
        departs,
        price,
    } = flight;
    format!("{id} to {destination} on {date} at {departs}, {price} euros")
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    /// The number of the booking.
    number: u32,
}

fn cancel_booking() -> Tool<Agency> {
    Tool::new("cancel_booking")
        .title("Cancel a booking")
        .description("Gives a seat back, if the traveller confirms")
        .input::<Number>()
        .requires([Need::Elicitation])
        .destructive(true)
        .execute(async |wish, cx: Conversation<Agency>| {
            let booking = cx.state().booking(wish.number);
            let booking = booking.ok_or_else(|| Error::failed("there is no such booking"))?;
            cx.confirm(format!("Cancel {}?", describe(&booking.flight)))
                .await?;
            let cancel = async { Ok(cx.state().cancel(wish.number).is_some()) };
            match cx.step("cancel", cancel).await? {
                true => Ok("Cancelled."),
                false => Ok("It was cancelled before."),
            }
        })
}
