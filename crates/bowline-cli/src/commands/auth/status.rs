//! `bowline auth status`.

use std::time::{SystemTime, UNIX_EPOCH};

use bowline::auth::SignInStatus;
use clap::Args;
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    fleet,
    output::escape_control,
    sign_in,
    target::{Target, interruptible, trust},
};

/// Show where you are signed in
#[derive(Args, Debug)]
pub(crate) struct Status {
    /// The servers; defaults to every server reached over HTTP
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
}

impl Status {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let mut states = Vec::new();
        let selected = fleet::select(cx, &self.servers)?;
        selected.warn_untrusted(cx);
        let is_named = !self.servers.is_empty();
        let targets = selected.targets.iter();
        for target in targets.filter(|it| is_named || it.url().is_some()) {
            sign_in::require_url(target)?;
            interruptible(trust::ensure_trusted(cx, target)).await?;
            states.push(SignInState::load(cx, target).await?);
        }
        if states.is_empty() && !cx.json() {
            cx.output.note("No HTTP servers are configured.");
            cx.output
                .note("Use `bowline auth status URL` for a server that is not configured.");
        }
        print(cx, &states)
    }
}

/// The user's sign-in at one server.
pub(super) struct SignInState {
    name: String,
    pub(super) signed_in: Option<SignInStatus>,
}

impl SignInState {
    pub(super) async fn load(cx: &Context, target: &Target) -> Result<Self, Failure> {
        let url = sign_in::require_url(target)?;
        Ok(Self {
            name: target.name().to_owned(),
            signed_in: cx.globals.accounts.sign_in_status(url).await?,
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
            "until": signed_in.expires_at.map(unix_seconds),
            "renewable": signed_in.renewable,
            "dpop": signed_in.dpop_bound,
        })
    }

    fn describe(&self) -> String {
        let Some(signed_in) = &self.signed_in else {
            return "not signed in".to_owned();
        };
        let mut description = format!("signed in at {}", escape_control(&signed_in.issuer));
        let scopes = signed_in.scopes.to_string();
        if !scopes.is_empty() {
            description.push_str(&format!(", scopes: {}", escape_control(&scopes)));
        }
        match (signed_in.expires_at, signed_in.renewable) {
            (_, true) => description.push_str("; renewed automatically"),
            (Some(expires_at), false) => match expires_at.duration_since(SystemTime::now()) {
                Ok(remaining) => description.push_str(&format!(
                    "; expires in {}",
                    format_duration(remaining.as_secs())
                )),
                Err(_) => description.push_str("; expired"),
            },
            (None, false) => {}
        }
        description
    }
}

/// Prints the sign-in states, one line per server.
pub(super) fn print(cx: &Context, states: &[SignInState]) -> Result<(), Failure> {
    if cx.json() {
        let all: Vec<_> = states.iter().map(SignInState::json).collect();
        return cx.output.json(&all);
    }
    for state in states {
        let name = cx.output.paint().bold(&state.name);
        cx.output.line(format!("{name}: {}", state.describe()))?;
    }
    Ok(())
}

fn unix_seconds(time: SystemTime) -> u64 {
    let since_epoch = time.duration_since(UNIX_EPOCH);
    since_epoch.map_or(0, |since_epoch| since_epoch.as_secs())
}

/// Formats a remaining time in the largest unit that fits.
fn format_duration(seconds: u64) -> String {
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
    use super::format_duration;

    #[test]
    fn times_that_are_left() {
        assert_eq!(format_duration(1), "1 second");
        assert_eq!(format_duration(119), "119 seconds");
        assert_eq!(format_duration(3600), "60 minutes");
        assert_eq!(format_duration(7200), "2 hours");
        assert_eq!(format_duration(200_000), "2 days");
    }
}
