//! A page of tools as bytes, the same for all who read it.

use std::fmt::Write as _;

use crate::{Failure, growth::ours};

/// The schema of four properties.
const SCHEMA: &str = r#"{"type":"object","properties":{"text":{"type":"string","description":"What is wanted, in words."},"count":{"type":"integer","format":"uint32","minimum":0,"description":"How many."},"urgent":{"type":["boolean","null"],"description":"Whether somebody waits for it."},"note":{"type":["string","null"],"description":"Anything else that one should know."}},"required":["text","count"]}"#;

/// What follows the id in an answer with so many tools, to the end of the
/// line.
pub(super) fn page(tools: usize) -> Result<String, Failure> {
    let mut page = r#","result":{"tools":["#.to_owned();
    for number in 0..tools {
        let comma = if number == 0 { "" } else { "," };
        let (name, description) = (ours::name(number), ours::description(number));
        let written = write!(
            page,
            r#"{comma}{{"name":"{name}","description":"{description}","inputSchema":{SCHEMA}}}"#
        );
        written.map_err(|error| error.to_string())?;
    }
    page.push_str("]}}\n");
    Ok(page)
}
