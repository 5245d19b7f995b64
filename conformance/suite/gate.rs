//! What counts as passing, which is more than the suite asks for.
//!
//! The suite lets a scenario pass that checked nothing, takes warnings for
//! passes, and does not look at how clients end. Here a scenario passes if
//! something in it succeeded, nothing failed, nothing is warned of, and the
//! client ended well.

use crate::{
    check::{Check, Status},
    scenario::Leg,
};

/// What became of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many checks succeeded that say something about the scenario.
    pub successes: usize,
    /// Why it does not pass; it does if there is nothing here.
    pub faults: Vec<String>,
}

impl Verdict {
    pub fn passed(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Scenarios whose mock misbehaves, so that a client may well end with an
/// error. The suite has the same list.
const MAY_FAIL: &[&str] = &[
    "auth/iss-normalized",
    "auth/iss-supported-missing",
    "auth/iss-unexpected",
    "auth/iss-wrong-issuer",
    "auth/metadata-issuer-mismatch",
    "auth/resource-mismatch",
    "auth/scope-retry-limit",
    "http-invalid-tool-headers",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-frontmatter",
    "sep-2640-client-verify-size",
];

/// Judges a scenario by its checks, if it was run, and by how the client ended.
pub fn judge(leg: Leg, scenario: &str, checks: Option<&[Check]>, exit: Option<&str>) -> Verdict {
    let mut faults = Vec::new();
    match checks {
        None => faults.push("it was not run".to_owned()),
        Some(checks) => faults.extend(faults_of(checks)),
    }
    let successes = checks.unwrap_or_default().iter();
    let successes = successes.filter(|check| tells(check)).count();
    if successes == 0 && faults.is_empty() {
        faults.push("nothing in it succeeded".to_owned());
    }
    if leg == Leg::Client {
        faults.extend(ending(scenario, exit));
    }
    Verdict { successes, faults }
}

fn faults_of(checks: &[Check]) -> impl Iterator<Item = String> {
    checks.iter().filter_map(|check| {
        let what = match check.status {
            Status::Failure => "failure",
            Status::Warning => "warning",
            Status::Success | Status::Skipped | Status::Info => return None,
        };
        let message = check.message.as_deref().unwrap_or("no reason given");
        Some(format!("{what} of {}: {message}", check.id))
    })
}

fn ending(scenario: &str, exit: Option<&str>) -> Option<String> {
    match exit {
        Some("0") => None,
        // An error it may report, but not by dying.
        Some("1") if MAY_FAIL.contains(&scenario) => None,
        Some(exit) => Some(format!("the client ended with {exit}")),
        None => Some("the client was not started, or did not end".to_owned()),
    }
}

/// Whether a success says something about the scenario. That every message has
/// the right shape is looked at in all of them, even in one that skips
/// everything else.
fn tells(check: &Check) -> bool {
    check.status == Status::Success && check.id != "wire-schema-valid"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(statuses: &[Status]) -> Vec<Check> {
        let check = |status: &Status| Check {
            id: "it".to_owned(),
            status: *status,
            message: None,
        };
        statuses.iter().map(check).collect()
    }

    #[track_caller]
    fn check_server(statuses: &[Status], faults: &[&str]) {
        let verdict = judge(Leg::Server, "ping", Some(&checks(statuses)), None);
        assert_eq!(verdict.faults, faults, "{statuses:?}");
    }

    #[test]
    fn a_success_alone_passes() {
        check_server(&[Status::Success, Status::Info, Status::Skipped], &[]);
    }

    #[test]
    fn one_failure_or_warning_is_too_many() {
        let fault = "failure of it: no reason given";
        check_server(&[Status::Success, Status::Failure], &[fault]);
        let fault = "warning of it: no reason given";
        check_server(&[Status::Success, Status::Warning], &[fault]);
    }

    #[test]
    fn nothing_to_complain_of_is_not_enough() {
        check_server(&[], &["nothing in it succeeded"]);
        let nothing = [Status::Info, Status::Skipped];
        check_server(&nothing, &["nothing in it succeeded"]);
        let verdict = judge(Leg::Server, "ping", None, None);
        assert_eq!(verdict.faults, ["it was not run"]);
        let mut shape = checks(&[Status::Success]);
        shape[0].id = "wire-schema-valid".to_owned();
        let verdict = judge(Leg::Server, "ping", Some(&shape), None);
        assert_eq!(verdict.faults, ["nothing in it succeeded"]);
    }

    #[track_caller]
    fn check_client(scenario: &str, exit: Option<&str>, passes: bool) {
        let checks = checks(&[Status::Success]);
        let verdict = judge(Leg::Client, scenario, Some(&checks), exit);
        assert_eq!(verdict.passed(), passes, "{verdict:?}");
    }

    #[test]
    fn the_end_of_the_client_counts() {
        check_client("tools_call", Some("0"), true);
        check_client("tools_call", Some("1"), false);
        check_client("tools_call", None, false);
        check_client("http-invalid-tool-headers", Some("1"), true);
        check_client("http-invalid-tool-headers", Some("101"), false);
        check_client("http-invalid-tool-headers", Some("signal 9"), false);
    }
}
