//! Descriptions of the differences between two documents.
//!
//! What is compatible is decided by proofs; a description only says what changed and
//! where. If no description explains why a proof was not found, a general one does.

mod arrays;
mod keywords;
mod limits;
mod objects;
mod path;
mod text;
mod unions;
mod values;

use std::collections::HashSet;

use serde_json::Value;

use self::path::Path;
use super::{
    document::{Address, Node},
    findings::{Findings, Place},
    prover::{Mode, Prover, View, ViewKey},
    report::{ChangeKind, Comparison, Usage, Version},
};

/// How deep differences are described.
const MAX_DEPTH: u32 = 60;

/// A walk through both documents.
pub(super) struct Walk<'a> {
    prover: Prover<'a>,
    usage: Usage,
    findings: Findings,
    seen: HashSet<(ViewKey, ViewKey, bool)>,
    /// The text that was described. What several references name is described once.
    seen_text: HashSet<Address>,
    depth: u32,
}

/// What one document says about a part of the values.
#[derive(Clone)]
struct Part<'a> {
    view: View<'a>,
    /// The schemas whose text is about this part.
    text: Vec<Node<'a>>,
    place: Place<'a>,
}

/// What both documents say about a part of the values.
#[derive(Clone, Copy)]
struct Pair<'p, 'a> {
    old: &'p Part<'a>,
    new: &'p Part<'a>,
}

/// What is known about a pair that is described.
#[derive(Clone, Copy)]
struct Scope<'p> {
    path: &'p Path<'p>,
    verdict: Verdict,
    /// Whether it was shown that the values in which the part occurs are compatible.
    is_shown: bool,
}

/// What was shown about a pair.
#[derive(Clone, Copy)]
struct Verdict {
    /// Whether all old values are valid for the new schemas.
    forward: bool,
    /// Whether all new values are valid for the old schemas.
    backward: bool,
    is_compatible: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(prover: Prover<'a>, usage: Usage) -> Self {
        Self {
            prover,
            usage,
            findings: Findings::default(),
            seen: HashSet::new(),
            seen_text: HashSet::new(),
            depth: 0,
        }
    }

    /// Compares the documents.
    pub(super) fn run(mut self) -> Comparison {
        let [old, new] = [Version::Old, Version::New].map(|it| self.prover.root(it));
        let pair = [old, new].map(|node| self.part(&[node], place(node)));
        let pair = Pair {
            old: &pair[0],
            new: &pair[1],
        };
        let is_same = self.prover.is_same(old, new);
        let verdict = match is_same {
            true => Verdict::SAME,
            false => self.verdict(pair),
        };
        let is_exhausted = self.prover.is_exhausted();
        self.prover.renew_steps();
        let path = Path::Root(self.usage);
        let scope = Scope {
            path: &path,
            verdict,
            is_shown: verdict.is_compatible,
        };
        // Without a verdict there is nothing to describe.
        if !is_exhausted {
            self.describe_parts(pair, scope);
        }
        self.describe_rest(pair, scope, is_exhausted);
        self.findings.finish(old.value, new.value)
    }

    /// Adds what must be said if no description says it.
    fn describe_rest(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>, is_exhausted: bool) {
        let verdict = scope.verdict;
        let worst = self.findings.worst();
        let place = pair.new.place;
        if !verdict.is_compatible {
            if worst < ChangeKind::Breaking {
                let message = match is_exhausted {
                    true => {
                        "the schema is too large to compare, so this cannot be shown to be compatible"
                    }
                    false => "this cannot be shown to be compatible",
                };
                self.findings
                    .add(ChangeKind::Breaking, place, message.to_owned());
            }
        } else if verdict.forward && verdict.backward {
            if self.findings.is_empty() {
                let message = "the schema is written differently, but says the same";
                self.findings
                    .add(ChangeKind::TextOnly, place, message.to_owned());
            }
        } else if worst < ChangeKind::Compatible {
            let message = match self.usage {
                Usage::Input => "all values that were accepted still are",
                Usage::Output => "all values were allowed before",
            };
            self.findings
                .add(ChangeKind::Compatible, place, message.to_owned());
        }
    }

    /// Describes a part within another.
    fn describe(&mut self, pair: Pair<'_, 'a>, path: &Path<'_>, outer: Scope<'_>) {
        if self.prover.is_exhausted() {
            return;
        }
        let keys = (pair.old.view.key(), pair.new.view.key(), outer.is_shown);
        if !self.seen.insert(keys) {
            // Text may be beside a reference to what was described elsewhere.
            return self.describe_text(pair, path);
        }
        let verdict = match outer.verdict.is_same() {
            true => Verdict::SAME,
            false => self.verdict(pair),
        };
        let scope = Scope {
            path,
            verdict,
            is_shown: outer.is_shown || verdict.is_compatible,
        };
        let before = self.findings.breaking_count();
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            self.describe_parts(pair, scope);
            self.depth -= 1;
        }
        if !scope.is_shown && self.findings.breaking_count() == before {
            let subject = path.subject();
            let message = match self.depth < MAX_DEPTH {
                true => format!("{subject} changed in a way that cannot be shown to be compatible"),
                false => format!("{subject} is too deep to compare"),
            };
            self.add_judged(false, pair.new.place, message);
        }
    }

    fn describe_parts(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        let [old, new] = [pair.old, pair.new].map(|part| self.alternatives(part));
        match (old.as_slice(), new.as_slice()) {
            ([old], [new]) => {
                self.describe_kinds(pair, scope);
                self.describe_one(Pair { old, new }, scope);
            }
            _ => self.describe_alternatives(pair, &old, &new, scope),
        }
    }

    /// Describes a pair without alternatives.
    fn describe_one(&mut self, pair: Pair<'_, 'a>, scope: Scope<'_>) {
        self.describe_text(pair, scope.path);
        if !scope.verdict.is_same() {
            self.describe_numbers(pair, scope);
            self.describe_keywords(pair, scope);
        }
        self.describe_items(pair, scope);
        self.describe_members(pair, scope);
    }

    fn verdict(&mut self, pair: Pair<'_, 'a>) -> Verdict {
        let (old, new) = (&pair.old.view, &pair.new.view);
        let forward = self.prover.is_within(old, new, Mode::Strict);
        let backward = self.prover.is_within(new, old, Mode::Strict);
        let is_compatible = match self.usage {
            Usage::Input => forward || self.prover.is_within(old, new, Mode::Practical),
            Usage::Output => backward || self.prover.is_within(new, old, Mode::Practical),
        };
        Verdict {
            forward,
            backward,
            is_compatible,
        }
    }

    /// Adds a difference that makes fewer or more values valid.
    fn add(&mut self, change: Change, place: Place<'a>, message: String, scope: Scope<'_>) {
        self.add_judged(self.is_compatible(change, scope), place, message);
    }

    fn add_judged(&mut self, is_compatible: bool, place: Place<'a>, message: String) {
        // Then nothing is known, which is said once.
        if self.prover.is_exhausted() {
            return;
        }
        let kind = match is_compatible {
            true => ChangeKind::Compatible,
            false => ChangeKind::Breaking,
        };
        self.findings.add(kind, place, message);
    }

    fn is_compatible(&self, change: Change, scope: Scope<'_>) -> bool {
        let safe = match self.usage {
            Usage::Input => Change::Wider,
            Usage::Output => Change::Narrower,
        };
        change == safe || scope.is_shown
    }

    /// Returns what a document says about a part, and where: at the first of the
    /// schemas, or where the whole is.
    fn part(&self, nodes: &[Node<'a>], whole: Place<'a>) -> Part<'a> {
        let view = self.prover.view(nodes);
        Part {
            text: view.nodes.clone(),
            place: nodes.first().map_or(whole, |node| place(*node)),
            view,
        }
    }

    /// Returns the verb for what schemas do.
    fn accepts(&self) -> &'static str {
        match self.usage {
            Usage::Input => "accept",
            Usage::Output => "allow",
        }
    }
}

/// In which direction a schema changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Wider,
    Narrower,
    Other,
}

impl Change {
    /// Returns the change by what was shown, if there is one.
    fn of(forward: bool, backward: bool) -> Option<Self> {
        match (forward, backward) {
            (true, true) => None,
            (true, false) => Some(Self::Wider),
            (false, true) => Some(Self::Narrower),
            (false, false) => Some(Self::Other),
        }
    }
}

impl Verdict {
    const SAME: Self = Self {
        forward: true,
        backward: true,
        is_compatible: true,
    };

    fn is_same(self) -> bool {
        self.forward && self.backward
    }
}

fn place(node: Node<'_>) -> Place<'_> {
    Place {
        version: node.version,
        value: node.value,
    }
}

/// Returns the place of a keyword.
fn place_of<'a>(node: Node<'a>, value: &'a Value) -> Place<'a> {
    Place {
        version: node.version,
        value,
    }
}
