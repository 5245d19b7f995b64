//! What has happened in a conversation, whether or not anyone knows.

use crate::{
    journal::{Answer, Course, Outcome},
    promise::{Promise, Promises},
};

/// The effects of a conversation, and what its clients were told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct World {
    /// The courses in which the step of each round has had its effect.
    effects: [u32; 2],
    /// The rounds whose step was allowed to begin.
    begun: u8,
    /// The outcomes of each round's step that the conversation received.
    delivered: [u8; 2],
    /// The rounds whose step the service refuses: someone asked for its key before.
    refused_keys: u8,
    /// The end that was reported first.
    reported: Option<(Course, Outcome)>,
}

impl World {
    /// Whether the step of a course has had its effect.
    #[must_use]
    pub fn has_effect(&self, course: Course) -> bool {
        self.effects[usize::from(course.round)] & bit(course) != 0
    }

    /// Returns whether any step has had an effect.
    #[must_use]
    pub fn has_any_effect(&self) -> bool {
        self.effects != [0, 0]
    }

    /// Returns whether anything has happened in a round, or in a later one.
    #[must_use]
    pub fn has_begun(&self, round: u8) -> bool {
        let reported = self
            .reported
            .is_some_and(|(course, _)| course.round >= round);
        reported
            || self.begun >> round != 0
            || self
                .delivered
                .iter()
                .skip(usize::from(round))
                .any(|it| *it != 0)
    }

    /// A step is allowed to begin.
    pub fn begin(&mut self, course: Course, broken: &mut Promises) {
        let round = 1 << course.round;
        if self.begun & round != 0 {
            broken.insert(Promise::OutcomeStands);
        }
        self.begun |= round;
    }

    /// A step has its effect, unless the service refuses it. Returns what the step
    /// learns.
    pub fn perform(&mut self, course: Course, broken: &mut Promises) -> Outcome {
        let round = usize::from(course.round);
        if self.refused_keys & (1 << round) != 0 {
            return Outcome::NotFound;
        }
        if self.has_effect(course) {
            broken.insert(Promise::EffectOnce);
        }
        self.effects[round] |= bit(course);
        if !self.is_one_course() {
            broken.insert(Promise::OneCourse);
        }
        if self.delivered[round] & outcome_bit(Outcome::NotFound) != 0 {
            broken.insert(Promise::RecoveryStands);
        }
        Outcome::Value
    }

    /// `recover` asks whether a step has had its effect. A service that honours keys
    /// refuses the step from then on, if it did not happen.
    pub fn recover(&mut self, course: Course, honours_keys: bool) -> Outcome {
        if self.has_effect(course) {
            return Outcome::Found;
        }
        if honours_keys {
            self.refused_keys |= 1 << course.round;
        }
        Outcome::NotFound
    }

    /// The conversation receives the outcome of a step.
    pub fn deliver(&mut self, course: Course, outcome: Outcome, broken: &mut Promises) {
        let delivered = &mut self.delivered[usize::from(course.round)];
        *delivered |= outcome_bit(outcome);
        if delivered.count_ones() > 1 {
            broken.insert(Promise::OutcomeStands);
        }
        match (outcome, self.has_effect(course)) {
            (Outcome::Value | Outcome::Found, false) => broken.insert(Promise::Truthful),
            (Outcome::NotFound, true) => broken.insert(Promise::RecoveryStands),
            _ => {}
        }
    }

    /// A client is told how the conversation ended.
    pub fn report(&mut self, course: Course, outcome: Outcome, broken: &mut Promises) {
        let end = (course, outcome);
        if *self.reported.get_or_insert(end) != end {
            broken.insert(Promise::EndsOnce);
        }
        if outcome == Outcome::Value && !self.has_effect(course) {
            broken.insert(Promise::Truthful);
        }
    }

    fn is_one_course(&self) -> bool {
        let [first, second] = self.effects;
        let agrees = |answer| {
            let others = first & !bit(first_round(answer)) == 0;
            first == 0 || second & courses_after(answer) == second && others
        };
        second.count_ones() <= 1
            && first.count_ones() <= 1
            && (agrees(Answer::X) || agrees(Answer::Y))
    }
}

fn first_round(first: Answer) -> Course {
    Course {
        round: 0,
        first,
        outcome: Outcome::NoStep,
        second: Answer::None,
    }
}

/// Returns the courses of a second round after this answer in the first.
fn courses_after(first: Answer) -> u32 {
    let outcomes = [
        Outcome::Value,
        Outcome::Unknown,
        Outcome::Found,
        Outcome::NotFound,
    ];
    let mut all = 0;
    for outcome in outcomes {
        for second in [Answer::X, Answer::Y] {
            all |= bit(Course {
                round: 1,
                first,
                outcome,
                second,
            });
        }
    }
    all
}

/// Returns the bit of a course among those of its round.
fn bit(course: Course) -> u32 {
    if course.round == 0 {
        return 1 << course.first as u32;
    }
    let first = u32::from(course.first == Answer::Y);
    let second = u32::from(course.second == Answer::Y);
    1 << ((first * 5 + course.outcome as u32) * 2 + second)
}

fn outcome_bit(outcome: Outcome) -> u8 {
    1 << outcome as u8
}
