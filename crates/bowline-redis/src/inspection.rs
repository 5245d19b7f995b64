//! Checks of the server when the stores connect: whether it can keep the promises.

use bowline::server::store::StoreError;
use redis::{Value, cmd};

use crate::{connection::Connection, error::ConnectError};

/// The oldest version that has all the commands.
const MIN_VERSION: (u32, u32) = (6, 2);

/// What is known about a server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspection {
    /// Why it cannot be used.
    problem: Option<&'static str>,
    /// What it does not promise.
    warnings: Vec<&'static str>,
}

impl Inspection {
    /// Asks the server.
    pub(crate) async fn of(
        connection: &Connection,
        allows_eviction: bool,
    ) -> Result<Self, StoreError> {
        let info = connection.query(&cmd("INFO")).await?;
        let text = match &info {
            Value::BulkString(bytes) => String::from_utf8_lossy(bytes),
            Value::SimpleString(text) => text.into(),
            Value::VerbatimString { text, .. } => text.into(),
            _ => "".into(),
        };
        Ok(Self::read(&text, allows_eviction))
    }

    /// Reads the answer to `INFO`.
    fn read(info: &str, allows_eviction: bool) -> Self {
        let field = |name: &str| {
            let mut lines = info.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        };
        let mut found = Self::default();
        let version = field("redis_version").and_then(parse_version);
        if version.is_some_and(|version| version < MIN_VERSION) {
            found.problem = Some("it is too old: version 6.2 or newer is needed");
        }
        if matches!(field("role"), Some("slave" | "replica")) {
            found.problem = Some("it is a replica, which rejects writes: connect to the primary");
        }
        let has_maximum = field("maxmemory").is_none_or(|bytes| bytes != "0");
        let policy = field("maxmemory_policy").unwrap_or("noeviction");
        if has_maximum && policy != "noeviction" {
            let evicts = "it drops data if its memory is full, so side effects could happen \
                          twice: set its `maxmemory-policy` to `noeviction`, or call \
                          `allow_eviction`";
            match allows_eviction {
                true => found.warnings.push(evicts),
                false => found.problem = Some(evicts),
            }
        }
        match field("aof_enabled") {
            Some("0") => found.warnings.push(
                "it does not write a log (`appendonly no`): a crash of it loses what was \
                 stored last, and side effects could happen twice",
            ),
            Some(_) => {}
            None => found.warnings.push(
                "it does not say how it is configured: check `maxmemory-policy` and `appendonly`",
            ),
        }
        found
    }

    /// Returns the warnings, or the error.
    pub(crate) fn into_warnings(self) -> Result<Vec<&'static str>, ConnectError> {
        match self.problem {
            Some(problem) => Err(ConnectError::unsuitable(problem)),
            None => Ok(self.warnings),
        }
    }
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# Server\r\nredis_version:7.2.4\r\nmaxmemory:100\r\n\
        maxmemory_policy:noeviction\r\naof_enabled:1\r\nrole:master\r\n";

    #[track_caller]
    fn check(from: &str, to: &str, problem: &str, warning: &str) {
        let found = Inspection::read(&GOOD.replace(from, to), false);
        let shown = found.problem.unwrap_or_default();
        assert!(
            shown.contains(problem) && shown.is_empty() == problem.is_empty(),
            "{shown}"
        );
        let shown = found.warnings.concat();
        assert!(
            shown.contains(warning) && shown.is_empty() == warning.is_empty(),
            "{shown}"
        );
    }

    #[test]
    fn a_server_that_can_lose_data_is_refused_or_warned_about() {
        check("", "", "", "");
        check("7.2.4", "6.0.16", "too old", "");
        check("role:master", "role:slave", "replica", "");
        check("noeviction", "allkeys-lru", "maxmemory-policy", "");
        check("aof_enabled:1", "aof_enabled:0", "", "appendonly");
        let unlimited = GOOD.replace("maxmemory:100", "maxmemory:0");
        let unlimited = unlimited.replace("noeviction", "allkeys-lru");
        assert_eq!(Inspection::read(&unlimited, false), Inspection::default());
        let allowed = Inspection::read(&GOOD.replace("noeviction", "allkeys-lru"), true);
        assert_eq!((allowed.problem, allowed.warnings.len()), (None, 1));
    }
}
