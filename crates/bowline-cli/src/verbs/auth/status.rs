//! `bowline auth status`.

use std::time::{SystemTime, UNIX_EPOCH};

use bowline::auth::SignedIn;
use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    fleet,
    output::clean,
    sign_in,
    target::{Target, interruptible, trust},
};

/// Say where you are signed in
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The servers; all that are reached over HTTP unless some are named
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

impl Status {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut standings = Vec::new();
        let choice = fleet::choose(cx, &self.servers)?;
        choice.remark(cx);
        let is_named = !self.servers.is_empty();
        let targets = choice.targets.iter();
        for target in targets.filter(|it| is_named || it.address().is_some()) {
            sign_in::address(target)?;
            interruptible(trust::admit(cx, target)).await?;
            standings.push(Standing::of(cx, target).await?);
        }
        if standings.is_empty() && !cx.json() {
            cx.output
                .remark("No server that is reached over HTTP is configured.");
            cx.output
                .remark("`bowline auth status URL` asks about one that is not.");
        }
        print(cx, &standings)
    }
}

/// How a person stands with a server.
pub(super) struct Standing {
    name: String,
    pub(super) signed_in: Option<SignedIn>,
}

impl Standing {
    pub(super) async fn of(cx: &Context, target: &Target) -> Result<Self, Failure> {
        let url = sign_in::address(target)?;
        Ok(Self {
            name: target.name().to_owned(),
            signed_in: cx.globals.accounts.signed_in(url).await?,
        })
    }

    fn json(&self) -> Value {
        let Some(signed_in) = &self.signed_in else {
            return json!({"server": self.name, "signed_in": false});
        };
        json!({
            "server": self.name,
            "signed_in": true,
            "issuer": signed_in.issuer,
            "resource": signed_in.resource,
            "client_id": signed_in.client_id,
            "scopes": signed_in.scopes.to_string(),
            "until": signed_in.until.map(seconds),
            "renewable": signed_in.renewable,
            "dpop": signed_in.bound,
        })
    }

    fn words(&self) -> String {
        let Some(signed_in) = &self.signed_in else {
            return "not signed in".to_owned();
        };
        let mut words = format!("signed in at {}", clean(&signed_in.issuer));
        let scopes = signed_in.scopes.to_string();
        if !scopes.is_empty() {
            words.push_str(&format!(", for {}", clean(&scopes)));
        }
        match (signed_in.until, signed_in.renewable) {
            (_, true) => words.push_str("; renewed by itself"),
            (Some(until), false) => match until.duration_since(SystemTime::now()) {
                Ok(left) => words.push_str(&format!("; for {} more", span(left.as_secs()))),
                Err(_) => words.push_str("; that has ended"),
            },
            (None, false) => {}
        }
        words
    }
}

/// Prints how a person stands, a line for each server.
pub(super) fn print(cx: &Context, standings: &[Standing]) -> Result<(), Failure> {
    if cx.json() {
        let all: Vec<_> = standings.iter().map(Standing::json).collect();
        return cx.output.json(&all);
    }
    for standing in standings {
        let name = cx.output.paint().strong(&standing.name);
        cx.output.line(format!("{name}: {}", standing.words()))?;
    }
    Ok(())
}

fn seconds(moment: SystemTime) -> u64 {
    let since = moment.duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A time that is left, in the largest unit that fits.
fn span(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7200 => (seconds / 60, "minute"),
        7200..172_800 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

#[cfg(test)]
mod tests {
    use super::span;

    #[test]
    fn times_that_are_left() {
        assert_eq!(span(1), "1 second");
        assert_eq!(span(119), "119 seconds");
        assert_eq!(span(3600), "60 minutes");
        assert_eq!(span(7200), "2 hours");
        assert_eq!(span(200_000), "2 days");
    }
}
