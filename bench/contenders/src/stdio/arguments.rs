//! What stands on the command line.

use crate::Failure;

/// How long the text is that goes there and back, unless said.
const BYTES: usize = 100;

/// What to measure.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Whose client.
    pub(crate) client: String,
    /// Whose server.
    pub(crate) server: String,
    pub(crate) shape: Shape,
    pub(crate) calls: usize,
    /// How many calls are in flight, where they are parallel.
    pub(crate) width: usize,
    /// How long the text is.
    pub(crate) bytes: usize,
    pub(crate) era: Era,
    /// Without it exactly as many calls are made as were asked for.
    pub(crate) warm_up: bool,
}

/// How calls follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One by one; what counts is how long each takes.
    Sequential,
    /// Many at once; what counts is how many there are in a second.
    Parallel,
    /// One by one; what counts is how much text there is in a second.
    Text,
}

/// Which of the protocol's two eras is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// With a handshake.
    Handshake,
    /// Without.
    Stateless,
}

impl Era {
    /// The revision that stands for it.
    pub(crate) fn revision(self) -> &'static str {
        match self {
            Self::Handshake => "2025-11-25",
            Self::Stateless => "2026-07-28",
        }
    }
}

impl Plan {
    /// Reads `<client> --server <name> --shape <shape> --calls N [--width N]
    /// [--bytes N] [--revision R] [--no-warmup]`.
    pub(crate) fn read(arguments: &[&str]) -> Result<Self, Failure> {
        let (client, mut rest) = arguments.split_first().ok_or("which client?")?;
        let (mut server, mut shape, mut calls) = (None, None, None);
        let mut plan = Self {
            client: (*client).to_owned(),
            server: String::new(),
            shape: Shape::Sequential,
            calls: 0,
            width: 64,
            bytes: BYTES,
            era: Era::Handshake,
            warm_up: true,
        };
        while let Some((option, after)) = rest.split_first() {
            rest = after;
            if *option == "--no-warmup" {
                plan.warm_up = false;
                continue;
            }
            let (value, after) = rest.split_first().ok_or(format!("{option} of what?"))?;
            rest = after;
            match *option {
                "--server" => server = Some((*value).to_owned()),
                "--shape" => shape = Some(shape_named(value)?),
                "--calls" => calls = Some(number(value)?),
                "--width" => plan.width = number(value)?,
                "--bytes" => plan.bytes = number(value)?,
                "--revision" => plan.era = era_of(value)?,
                _ => return Err(format!("there is no option {option}")),
            }
        }
        plan.server = server.ok_or("--server is missing")?;
        plan.shape = shape.ok_or("--shape is missing")?;
        plan.calls = calls.ok_or("--calls is missing")?;
        match plan.calls.min(plan.width) {
            0 => Err("there must be calls".to_owned()),
            _ => Ok(plan),
        }
    }
}

/// Reads `<server> [--bytes N]`. Servers that look at what they are sent do not
/// need to know how long it is.
pub(crate) fn serving<'a>(arguments: &[&'a str]) -> Result<(&'a str, usize), Failure> {
    match *arguments {
        [name] => Ok((name, BYTES)),
        [name, "--bytes", bytes] => Ok((name, number(bytes)?)),
        _ => Err("`serve <name> [--bytes N]` is wanted".to_owned()),
    }
}

fn shape_named(name: &str) -> Result<Shape, Failure> {
    match name {
        "sequential" => Ok(Shape::Sequential),
        "parallel" => Ok(Shape::Parallel),
        "text" => Ok(Shape::Text),
        _ => Err(format!("there is no shape {name:?}")),
    }
}

fn era_of(revision: &str) -> Result<Era, Failure> {
    let all = [Era::Handshake, Era::Stateless];
    let found = all.into_iter().find(|era| era.revision() == revision);
    found.ok_or_else(|| format!("revision {revision:?} is not measured"))
}

fn number(text: &str) -> Result<usize, Failure> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}
