//! The differences that were found so far, and where they are.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, map};

use super::{
    document::{Address, address},
    report::{ChangeKind, Comparison, Difference, Version},
};

/// The maximum number of differences that are listed.
const MAX_LISTED: usize = 100;

/// The differences that were found so far.
#[derive(Default)]
pub(super) struct Findings {
    found: Vec<Finding>,
    known: HashSet<(Address, String)>,
    omitted: usize,
    worst: Option<ChangeKind>,
    breaking_count: usize,
}

/// A difference whose place is not a pointer yet.
struct Finding {
    kind: ChangeKind,
    version: Version,
    address: Address,
    message: String,
}

/// Where a difference is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) version: Version,
    pub(super) value: &'a Value,
}

impl Findings {
    /// Adds a difference, unless it is known. A definition may be used many times.
    pub(super) fn add(&mut self, kind: ChangeKind, place: Place<'_>, message: String) {
        let address = address(place.value);
        self.worst = self.worst.max(Some(kind));
        self.breaking_count += usize::from(kind == ChangeKind::Breaking);
        if let Some(same) = self.position(address, &message) {
            let same = &mut self.found[same];
            same.kind = same.kind.max(kind);
            return;
        }
        let finding = Finding {
            kind,
            version: place.version,
            address,
            message,
        };
        if self.found.len() >= MAX_LISTED {
            self.omitted += 1;
            // The last of the least important ones makes room for a worse one.
            let least = self.found.iter().map(|it| it.kind).min();
            if least.is_none_or(|least| least >= kind) {
                return;
            }
            let last = self.found.iter().rposition(|it| Some(it.kind) == least);
            if let Some(last) = last {
                let removed = self.found.remove(last);
                self.known.remove(&(removed.address, removed.message));
            }
        }
        self.known.insert((address, finding.message.clone()));
        self.found.push(finding);
    }

    /// Returns the worst kind of all differences.
    pub(super) fn worst(&self) -> ChangeKind {
        self.worst.unwrap_or(ChangeKind::Identical)
    }

    /// Returns how often something breaking was found, even if it was known.
    pub(super) fn breaking_count(&self) -> usize {
        self.breaking_count
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Finds the pointers.
    pub(super) fn finish(self, old: &Value, new: &Value) -> Comparison {
        let kind = self.worst();
        let wanted = |version| {
            let found = self.found.iter().filter(move |it| it.version == version);
            found.map(|it| it.address).collect::<HashSet<_>>()
        };
        let old = pointers(old, wanted(Version::Old));
        let new = pointers(new, wanted(Version::New));
        let differences = self.found.into_iter().map(|finding| {
            let pointers = match finding.version {
                Version::Old => &old,
                Version::New => &new,
            };
            Difference {
                kind: finding.kind,
                version: finding.version,
                pointer: pointers.get(&finding.address).cloned().unwrap_or_default(),
                message: finding.message,
            }
        });
        Comparison {
            kind,
            differences: differences.collect(),
            omitted: self.omitted,
        }
    }

    fn position(&self, address: Address, message: &str) -> Option<usize> {
        let is_known = self.known.contains(&(address, message.to_owned()));
        let mut found = self.found.iter();
        let is_same = |it: &Finding| it.address == address && it.message == message;
        is_known.then(|| found.position(is_same)).flatten()
    }
}

/// The rest of an array or object on the way to a value.
enum Rest<'a> {
    Items(std::iter::Enumerate<std::slice::Iter<'a, Value>>),
    Members(map::Iter<'a>),
}

/// Returns the pointers of values in a document.
fn pointers(document: &Value, mut wanted: HashSet<Address>) -> HashMap<Address, String> {
    let mut found = HashMap::new();
    // A stack instead of recursion: a document may be deep.
    let mut stack: Vec<(Rest<'_>, usize)> = Vec::new();
    let mut pointer = String::new();
    let mut current = document;
    loop {
        if wanted.remove(&address(current)) {
            found.insert(address(current), pointer.clone());
        }
        if wanted.is_empty() {
            return found;
        }
        match current {
            Value::Array(items) => {
                stack.push((Rest::Items(items.iter().enumerate()), pointer.len()));
            }
            Value::Object(members) => stack.push((Rest::Members(members.iter()), pointer.len())),
            _ => {}
        }
        current = loop {
            let Some((rest, length)) = stack.last_mut() else {
                return found;
            };
            pointer.truncate(*length);
            match rest.next() {
                Some((token, value)) => {
                    pointer.push('/');
                    pointer.push_str(&token);
                    break value;
                }
                None => drop(stack.pop()),
            }
        };
    }
}

impl<'a> Rest<'a> {
    fn next(&mut self) -> Option<(String, &'a Value)> {
        match self {
            Self::Items(rest) => rest.next().map(|(at, item)| (at.to_string(), item)),
            Self::Members(rest) => rest.next().map(|(name, member)| {
                let token = name.replace('~', "~0").replace('/', "~1");
                (token, member)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pointer_leads_back_to_its_value() {
        let document = json!({"a/b": [1, {"~c": [true]}], "d": {}});
        for expected in ["", "/a~1b", "/a~1b/1/~0c/0", "/d"] {
            let value = document.pointer(expected).expect("it exists");
            let found = pointers(&document, [address(value)].into());
            assert_eq!(found.values().collect::<Vec<_>>(), [expected]);
        }
    }

    #[test]
    fn the_worst_differences_are_kept() {
        let document = json!([null]);
        let place = Place {
            version: Version::New,
            value: &document,
        };
        let mut findings = Findings::default();
        for at in 0..1000 {
            let kind = match at % 100 {
                50 => ChangeKind::Breaking,
                _ => ChangeKind::TextOnly,
            };
            findings.add(kind, place, format!("number {at}"));
        }
        let result = findings.finish(&document, &document);
        let is_breaking = |it: &&Difference| it.kind == ChangeKind::Breaking;
        assert_eq!(result.differences().len(), MAX_LISTED);
        assert_eq!(result.omitted(), 900);
        assert_eq!(result.differences().iter().filter(is_breaking).count(), 10);
    }
}
