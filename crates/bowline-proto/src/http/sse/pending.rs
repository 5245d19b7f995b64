//! An event under construction.

use std::{mem, time::Duration};

use super::{Event, SseError, SseLimits};

/// The known fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Data,
    Id,
    Event,
    Retry,
    /// A comment, or an unknown name.
    Ignored,
}

/// The event under construction.
#[derive(Debug, Default)]
pub(super) struct PendingEvent {
    /// `None` until there is a line of data.
    data: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    name: Option<Vec<u8>>,
    retry: Option<u64>,
    /// The id or the retry of the current line, until it is known to be valid.
    scratch: Vec<u8>,
    number: Number,
}

impl PendingEvent {
    pub(super) fn begin(&mut self, field: Field, limits: &SseLimits) -> Result<(), SseError> {
        match field {
            Field::Data => match &mut self.data {
                // The line feed that joins two lines of data counts as data.
                Some(data) if data.len() >= limits.max_event => {
                    return Err(SseError::EventTooLarge);
                }
                Some(data) => data.push(b'\n'),
                None => self.data = Some(Vec::new()),
            },
            Field::Event => self.name.get_or_insert_default().clear(),
            Field::Id => self.scratch.clear(),
            Field::Retry => self.number = Number::Empty,
            Field::Ignored => {}
        }
        Ok(())
    }

    /// Returns how much more of this field may be kept, and the error if it
    /// exceeds that.
    pub(super) fn remaining(&self, field: Field, limits: &SseLimits) -> (usize, SseError) {
        let length = |buffer: &Option<Vec<u8>>| buffer.as_ref().map_or(0, Vec::len);
        match field {
            Field::Data => (
                limits.max_event - length(&self.data),
                SseError::EventTooLarge,
            ),
            Field::Event => (limits.max_name - length(&self.name), SseError::NameTooLong),
            Field::Id => (limits.max_name - self.scratch.len(), SseError::NameTooLong),
            Field::Retry | Field::Ignored => (usize::MAX, SseError::LineTooLong),
        }
    }

    pub(super) fn extend(&mut self, field: Field, part: &[u8]) {
        match field {
            Field::Data => self.data.get_or_insert_default().extend_from_slice(part),
            Field::Event => self.name.get_or_insert_default().extend_from_slice(part),
            Field::Id => self.scratch.extend_from_slice(part),
            Field::Retry => {
                self.number = part
                    .iter()
                    .fold(self.number, |number, byte| number.push(*byte));
            }
            Field::Ignored => {}
        }
    }

    pub(super) fn end(&mut self, field: Field) {
        match (field, self.number) {
            // The standard ignores an id with a NUL, and a retry that is not a
            // number.
            (Field::Id, _) if !self.scratch.contains(&0) => {
                self.id = Some(mem::take(&mut self.scratch));
            }
            (Field::Retry, Number::Digits(milliseconds)) => self.retry = Some(milliseconds),
            _ => {}
        }
    }

    pub(super) fn has_content(&self) -> bool {
        self.data.is_some() || self.id.is_some() || self.name.is_some() || self.retry.is_some()
    }

    /// A name alone is not an event; an id or a retry alone is.
    pub(super) fn into_event(self, max_retry: Duration) -> Option<Event> {
        if self.data.is_none() && self.id.is_none() && self.retry.is_none() {
            return None;
        }
        let lossy_string = |bytes: Vec<u8>| {
            String::from_utf8_lossy(&bytes)
                .into_owned()
                .into_boxed_str()
        };
        Some(Event {
            id: self.id.map(lossy_string),
            name: self.name.filter(|name| !name.is_empty()).map(lossy_string),
            data: self.data.unwrap_or_default().into(),
            retry: self
                .retry
                .map(|millis| Duration::from_millis(millis).min(max_retry)),
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum Number {
    #[default]
    Empty,
    Digits(u64),
    Invalid,
}

impl Number {
    fn push(self, byte: u8) -> Self {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        match self {
            Self::Empty if digit <= 9 => Self::Digits(digit),
            Self::Digits(number) if digit <= 9 => {
                Self::Digits(number.saturating_mul(10).saturating_add(digit))
            }
            _ => Self::Invalid,
        }
    }
}
