//! The business logic, independent of the protocol: flights and bookings.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of the initial booking.
const FIRST_BOOKING: u32 = 1000;

/// A flight on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Flight {
    /// Its number.
    pub(crate) id: String,
    /// Its destination.
    pub(crate) destination: String,
    /// The day, as 2027-05-01.
    pub(crate) date: String,
    /// Departure time.
    pub(crate) departs: String,
    /// Price in euros.
    pub(crate) price: u32,
}

impl fmt::Display for Flight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} ", self.id, self.destination)?;
        write!(f, "on {} at {}, ", self.date, self.departs)?;
        write!(f, "{} euros", self.price)
    }
}

/// An airline that the agency asks for flights.
pub(crate) struct Airline {
    pub(crate) name: &'static str,
    departs: &'static str,
    /// Added to the price of the route.
    fee: u32,
}

/// All airlines.
pub(crate) const AIRLINES: [Airline; 3] = [
    airline("Gull", "06:40", 0),
    airline("Heron", "12:15", 35),
    airline("Swift", "19:30", 20),
];

/// Destinations and prices, in euros.
const ROUTES: [(&str, u32); 3] = [("Lisbon", 120), ("Oslo", 150), ("Tokyo", 790)];

/// Returns the names of all destinations.
pub(crate) fn destinations() -> [&'static str; 3] {
    ROUTES.map(|(place, _)| place)
}

const fn airline(name: &'static str, departs: &'static str, fee: u32) -> Airline {
    Airline { name, departs, fee }
}

impl Airline {
    /// Returns the flight to a place on a day, if there is one.
    pub(crate) fn search(&self, place: &str, date: &str) -> Option<Flight> {
        let is_route = |(_, (name, _)): &(i32, (&str, u32))| name.eq_ignore_ascii_case(place);
        let (number, (place, price)) = (1..).zip(ROUTES).find(is_route)?;
        Some(Flight {
            id: format!("{}-{number}", self.name),
            destination: place.to_owned(),
            date: date.to_owned(),
            departs: self.departs.to_owned(),
            price: price + self.fee,
        })
    }
}

/// The agency's bookings.
#[derive(Debug)]
pub(crate) struct Agency {
    /// By number, which is never reused: a cancelled booking stays as `None`.
    bookings: Mutex<BTreeMap<u32, Option<Flight>>>,
}

impl Agency {
    /// Creates an agency with one booking, so there is something to cancel.
    pub(crate) fn with_one_booking() -> Self {
        let flight = AIRLINES[0].search(ROUTES[1].0, "2027-05-01");
        Self {
            bookings: Mutex::new([(FIRST_BOOKING, flight)].into()),
        }
    }

    /// Books a flight. Returns the booking number.
    pub(crate) fn book(&self, flight: Flight) -> u32 {
        let mut bookings = self.bookings();
        let last = bookings.keys().next_back();
        let number = last.map_or(FIRST_BOOKING, |last| last + 1);
        bookings.insert(number, Some(flight));
        number
    }

    /// Returns the flight of a booking.
    pub(crate) fn booking(&self, number: u32) -> Option<Flight> {
        self.bookings().get(&number).cloned().flatten()
    }

    /// Cancels a booking. Returns whether there was one.
    pub(crate) fn cancel(&self, number: u32) -> bool {
        let mut bookings = self.bookings();
        bookings.get_mut(&number).and_then(Option::take).is_some()
    }

    fn bookings(&self) -> MutexGuard<'_, BTreeMap<u32, Option<Flight>>> {
        self.bookings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
