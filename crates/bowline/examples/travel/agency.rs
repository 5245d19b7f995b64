//! The business itself, which knows nothing of the protocol: flights that one
//! can look for, and bookings.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All that the agency knows.
#[derive(Debug, Default)]
pub(crate) struct Agency {
    bookings: Mutex<BTreeMap<u32, Booking>>,
}

/// A flight on some day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Flight {
    /// Its number.
    pub(crate) id: String,
    /// Where it goes to.
    pub(crate) destination: String,
    /// The day, as 2027-05-01.
    pub(crate) date: String,
    /// When it leaves.
    pub(crate) departs: String,
    /// What it costs, in euros.
    pub(crate) price: u32,
}

/// A seat on a flight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Booking {
    /// The number by which it is known.
    pub(crate) number: u32,
    /// The flight.
    pub(crate) flight: Flight,
    /// Where one sits.
    pub(crate) seat: String,
}

/// Where the agency flies to, and what that costs at least.
const DESTINATIONS: &[(&str, u32)] = &[
    ("Lisbon", 120),
    ("New York", 480),
    ("Oslo", 150),
    ("Tokyo", 790),
];

impl Agency {
    /// The names of all destinations.
    pub(crate) fn destinations() -> impl Iterator<Item = &'static str> {
        DESTINATIONS.iter().map(|(name, _)| *name)
    }

    /// The flights to a place on a day.
    pub(crate) fn search(&self, destination: &str, date: &str) -> Vec<Flight> {
        let places = DESTINATIONS.iter().zip(1..);
        let place = places
            .into_iter()
            .find(|((name, _), _)| name.eq_ignore_ascii_case(destination));
        let Some(((name, price), route)) = place else {
            return Vec::new();
        };
        let flight = |(nth, departs): (u32, &str)| Flight {
            id: format!("BL{}", route * 100 + nth),
            destination: (*name).to_owned(),
            date: date.to_owned(),
            departs: departs.to_owned(),
            price: price + nth * 35,
        };
        (1..).zip(["06:40", "12:15", "19:30"]).map(flight).collect()
    }

    /// Books a seat.
    pub(crate) fn book(&self, flight: Flight, seat: String) -> Booking {
        let mut bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        let number = bookings.keys().next_back().map_or(1001, |last| last + 1);
        let booking = Booking {
            number,
            flight,
            seat,
        };
        bookings.insert(number, booking.clone());
        booking
    }

    /// A booking by its number.
    pub(crate) fn booking(&self, number: u32) -> Option<Booking> {
        let bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        bookings.get(&number).cloned()
    }

    /// Gives a seat back.
    pub(crate) fn cancel(&self, number: u32) -> Option<Booking> {
        let mut bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        bookings.remove(&number)
    }
}
