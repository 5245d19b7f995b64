//! What the nodes promise.

use std::fmt;

/// A promise. It is broken in a state if something happened on the way there that it
/// excludes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// No effect of a step, and no call of a session, happens twice.
    EffectOnce,
    /// Effects belong to one course of a conversation.
    OneCourse,
    /// A result that was reported has happened.
    Truthful,
    /// A conversation, task or call ends once, and its end does not change.
    EndsOnce,
    /// A step that has begun does not begin again, and its outcome is decided once.
    OutcomeStands,
    /// From every state, without further faults, everything can end.
    Ends,
    /// What is recorded of a session is written by its owner.
    OneOwner,
    /// An answer that a task accepted is acted upon: its question is not asked again,
    /// and the task ends as its conversation does.
    AnswerKept,
    /// A call that was answered with an error has no effect afterwards.
    ErrorIsFinal,
    /// What `recover` found out stays true.
    RecoveryStands,
}

impl Promise {
    /// All promises, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::EffectOnce,
        Self::OneCourse,
        Self::Truthful,
        Self::EndsOnce,
        Self::OutcomeStands,
        Self::Ends,
        Self::OneOwner,
        Self::AnswerKept,
        Self::ErrorIsFinal,
        Self::RecoveryStands,
    ];

    /// Returns the promise as a sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::EffectOnce => "no effect happens twice",
            Self::OneCourse => "effects belong to one course",
            Self::Truthful => "a reported result has happened",
            Self::EndsOnce => "what has ended does not change",
            Self::OutcomeStands => "a step that began is not begun again",
            Self::Ends => "without further faults, everything can end",
            Self::OneOwner => "only the owner writes to a session",
            Self::AnswerKept => "an accepted answer is acted upon",
            Self::ErrorIsFinal => "no effect after an error was reported",
            Self::RecoveryStands => "what `recover` found stays true",
        }
    }
}

/// Shows its number.
impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P{}", *self as u8 + 1)
    }
}

/// A set of promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Promises(u16);

impl Promises {
    /// Adds a promise.
    pub fn insert(&mut self, promise: Promise) {
        self.0 |= 1 << promise as u16;
    }

    /// Returns whether a promise is in the set.
    #[must_use]
    pub fn contains(self, promise: Promise) -> bool {
        self.0 & (1 << promise as u16) != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the promises, in the order of their numbers.
    pub fn iter(self) -> impl Iterator<Item = Promise> {
        Promise::ALL
            .into_iter()
            .filter(move |it| self.contains(*it))
    }
}

impl FromIterator<Promise> for Promises {
    fn from_iter<I: IntoIterator<Item = Promise>>(promises: I) -> Self {
        let mut set = Self::default();
        promises.into_iter().for_each(|promise| set.insert(promise));
        set
    }
}

/// Shows the numbers.
impl fmt::Display for Promises {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.iter().map(|it| it.to_string()).collect();
        f.write_str(&numbers.join(", "))
    }
}
