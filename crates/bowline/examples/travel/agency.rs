//! The business logic, independent of the protocol: flights and bookings.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A flight on a date.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Flight {
    /// Its number.
    pub(crate) id: String,
    /// Its destination.
    pub(crate) destination: String,
    /// The date, as 2027-05-01.
    pub(crate) date: String,
    /// The departure time.
    pub(crate) departs: String,
    /// The price in euros.
    pub(crate) price: u32,
}

impl fmt::Display for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} ", self.id, self.destination)?;
        write!(f, "on {} at {}, ", self.date, self.departs)?;
        write!(f, "{} euros", self.price)
    }
}

/// An airline that the agency queries for flights.
pub(crate) struct Airline {
    pub(crate) name: &'static str,
    departs: &'static str,
    /// Its fee on top of the price of the route.
    fee: u32,
}

/// All airlines.
pub(crate) const AIRLINES: [Airline; 3] = [
    airline("Gull", "06:40", 0),
    airline("Heron", "12:15", 35),
    airline("Swift", "19:30", 20),
];

/// The destinations and their prices in euros.
const ROUTES: [(&str, u32); 3] = [("Lisbon", 120), ("Oslo", 150), ("Tokyo", 790)];

/// Returns the names of all destinations.
pub(crate) fn destinations() -> String {
    ROUTES.map(|(place, _)| place).join(", ")
}

const fn airline(name: &'static str, departs: &'static str, fee: u32) -> Airline {
    Airline { name, departs, fee }
}

impl Airline {
    /// Returns the flight to a destination on a date, if there is one.
    pub(crate) fn search(&self, place: &str, date: &str) -> Option<Flight> {
        let wanted = |(_, (name, _)): &(i32, (&str, u32))| name.eq_ignore_ascii_case(place);
        let (number, (place, price)) = (1..).zip(ROUTES).find(wanted)?;
        Some(Flight {
            id: format!("{}-{number}", self.name),
            destination: place.to_owned(),
            date: date.to_owned(),
            departs: self.departs.to_owned(),
            price: price + self.fee,
        })
    }
}

/// The bookings of the agency. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agency {
    /// By number, which is never reused: a cancelled booking stays as `None`.
    bookings: Arc<Mutex<BTreeMap<u32, Option<Flight>>>>,
}

impl Agency {
    /// Books a flight and returns the number of the booking.
    pub(crate) fn book(&self, flight: Flight) -> u32 {
        let mut bookings = self.bookings();
        let number = bookings.keys().next_back().map_or(1001, |last| last + 1);
        bookings.insert(number, Some(flight));
        number
    }

    /// Returns the flight booked under a number.
    pub(crate) fn booking(&self, number: u32) -> Option<Flight> {
        self.bookings().get(&number).cloned().flatten()
    }

    /// Cancels a booking. Returns whether it existed.
    pub(crate) fn cancel(&self, number: u32) -> bool {
        let mut bookings = self.bookings();
        bookings.get_mut(&number).and_then(Option::take).is_some()
    }

    fn bookings(&self) -> MutexGuard<'_, BTreeMap<u32, Option<Flight>>> {
        self.bookings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
