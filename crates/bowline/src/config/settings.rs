//! Connection settings: Bowline's own keys of an entry.

use std::time::Duration;

use super::{fields::Fields, paths::Paths};
use crate::{
    client::ClientBuilder,
    proto::{
        client::{Backoff, Timeouts},
        model::Root,
        revision::Revision,
    },
};

/// The jitter of the delays between attempts, as in [`Backoff`]'s default.
const JITTER: f64 = 0.2;

/// The connection settings of a server. `None` leaves the setting to the program.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ConnectionSettings {
    /// The timeouts.
    pub timeouts: Option<Timeouts>,
    /// The delays between attempts to connect.
    pub backoff: Option<Backoff>,
    /// The maximum frame size, in both directions.
    pub max_frame_size: Option<usize>,
    /// The protocol revisions to offer.
    pub revisions: Option<Vec<Revision>>,
    /// The roots: where the server may work.
    pub roots: Option<Vec<Root>>,
}

impl ConnectionSettings {
    /// Applies the settings that are present, and leaves the others unchanged.
    #[must_use]
    pub fn apply(&self, mut builder: ClientBuilder) -> ClientBuilder {
        if let Some(timeouts) = &self.timeouts {
            builder = builder.timeouts(timeouts.clone());
        }
        if let Some(backoff) = &self.backoff {
            builder = builder.backoff(backoff.clone());
        }
        if let Some(max_frame) = self.max_frame_size {
            builder = builder.max_frame_size(max_frame);
        }
        if let Some(revisions) = &self.revisions {
            builder = builder.revisions(revisions.iter().copied());
        }
        if let Some(roots) = &self.roots {
            builder = builder.roots(roots.iter().cloned());
        }
        builder
    }

    pub(super) fn read(fields: &mut Fields<'_>, paths: &Paths) -> Self {
        Self {
            timeouts: timeouts(fields),
            backoff: backoff(fields),
            max_frame_size: fields.bytes("max_frame").map(to_usize),
            revisions: revisions(fields),
            roots: roots(fields, paths),
        }
    }
}

/// Converts a number of bytes, saturating.
pub(super) fn to_usize(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Creates a backoff from bounds, either of which may be left to the default.
pub(super) fn backoff_between(min: Option<u64>, max: Option<u64>) -> Result<Backoff, String> {
    let min = min.map_or(Duration::from_secs(1), Duration::from_millis);
    let max = max.map_or(Backoff::default().max(), Duration::from_millis);
    Backoff::new(min, max, JITTER).map_err(|error| error.to_string())
}

fn timeouts(fields: &mut Fields<'_>) -> Option<Timeouts> {
    let preset = fields
        .string("preset")
        .and_then(|name| match name.as_str() {
            "standard" => Some(Timeouts::standard()),
            "interactive" => Some(Timeouts::interactive()),
            _ => {
                fields.invalid_value("preset", "unknown preset; expected standard or interactive");
                None
            }
        });
    let Some(mut table) = fields.object("timeouts") else {
        return preset;
    };
    let mut timeouts = preset.unwrap_or_else(Timeouts::standard);
    let rows = [
        ("opening_ms", &mut timeouts.connect),
        ("probe_ms", &mut timeouts.probe),
        ("resource_ms", &mut timeouts.resource),
        ("tool_ms", &mut timeouts.tool),
        ("other_ms", &mut timeouts.other),
        ("input_ms", &mut timeouts.input),
    ];
    for (key, timeout) in rows {
        if let Some(ms) = table.positive(key) {
            *timeout = Duration::from_millis(ms);
        }
    }
    table.finish();
    Some(timeouts)
}

fn backoff(fields: &mut Fields<'_>) -> Option<Backoff> {
    let mut table = fields.object("backoff")?;
    let bounds = (table.positive("min_ms"), table.positive("max_ms"));
    table.finish();
    match backoff_between(bounds.0, bounds.1) {
        Ok(backoff) => Some(backoff),
        Err(reason) => {
            fields.invalid_value("backoff", reason);
            None
        }
    }
}

fn revisions(fields: &mut Fields<'_>) -> Option<Vec<Revision>> {
    let names = fields.strings("revisions")?;
    let mut revisions = Vec::new();
    for (at, name) in names.iter().enumerate() {
        match Revision::parse(name) {
            Some(revision) => revisions.push(revision),
            None => fields.invalid_value(&format!("revisions[{at}]"), unknown_revision()),
        }
    }
    if names.is_empty() {
        fields.invalid_value("revisions", "at least one revision is required");
    }
    Some(revisions)
}

fn unknown_revision() -> String {
    let known = Revision::ALL.map(Revision::as_str);
    format!("unknown revision; expected one of {}", known.join(", "))
}

fn roots(fields: &mut Fields<'_>, paths: &Paths) -> Option<Vec<Root>> {
    let paths_or_uris = fields.strings("roots")?;
    let mut roots = Vec::new();
    for (at, path_or_uri) in paths_or_uris.iter().enumerate() {
        match paths.root(path_or_uri) {
            Ok(root) => roots.push(root),
            Err(reason) => fields.invalid_value(&format!("roots[{at}]"), reason),
        }
    }
    Some(roots)
}
