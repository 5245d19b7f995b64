//! Completion values.

use crate::proto::model::Completion;

/// The maximum number of values in one response.
const MAX_VALUES: usize = 100;

/// Completion values, the best first. Clients receive the first hundred and the
/// total number.
///
/// ```
/// use bowline::server::completion::Completions;
///
/// let all: Completions = ["rust", "ruby"].into();
/// let some = Completions::new(["a", "aa"]).total(40_000);
/// let unknown = Completions::new(["a", "aa"]).has_more();
/// # drop((all, some, unknown));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Completions {
    values: Vec<String>,
    total: Option<u64>,
    has_more: bool,
}

impl Completions {
    /// Creates a complete list of values.
    pub fn new<T: Into<String>>(values: impl IntoIterator<Item = T>) -> Self {
        Self {
            values: values.into_iter().map(Into::into).collect(),
            total: None,
            has_more: false,
        }
    }

    /// Sets the total number of values.
    pub fn total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// Declares that there are more values, of an unknown number.
    pub fn has_more(mut self) -> Self {
        self.has_more = true;
        self
    }

    pub(crate) fn into_completion(mut self) -> Completion {
        let given = self.values.len() as u64;
        if self.values.len() > MAX_VALUES {
            self.values.truncate(MAX_VALUES);
            if !self.has_more {
                self.total.get_or_insert(given);
            }
        }
        let sent = self.values.len() as u64;
        let hidden = self.total.is_some_and(|total| total > sent);
        let mut completion = Completion::new(self.values);
        completion.total = self.total;
        completion.has_more = Some(self.has_more || hidden || given > sent);
        completion
    }
}

impl<T: Into<String>> FromIterator<T> for Completions {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::new(values)
    }
}

impl<T: Into<String>> From<Vec<T>> for Completions {
    fn from(values: Vec<T>) -> Self {
        Self::new(values)
    }
}

impl<T: Into<String>, const N: usize> From<[T; N]> for Completions {
    fn from(values: [T; N]) -> Self {
        Self::new(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(completions: Completions, sent: usize, total: Option<u64>, more: bool) {
        let wire = completions.into_completion();
        assert_eq!(wire.values.len(), sent);
        assert_eq!((wire.total, wire.has_more), (total, Some(more)));
    }

    #[test]
    fn at_most_a_hundred_travel() {
        let many = |count: u32| (0..count).map(|n| n.to_string()).collect::<Completions>();
        check(many(0), 0, None, false);
        check(many(100), 100, None, false);
        check(many(101), 100, Some(101), true);
        check(many(101).total(500), 100, Some(500), true);
        check(many(101).has_more(), 100, None, true);
        check(many(3).total(7), 3, Some(7), true);
        check(many(3).total(3), 3, Some(3), false);
        check(many(3).has_more(), 3, None, true);
    }
}
