//! The checker finds what is there: all states, the shortest way, and dead ends.

use std::fmt;

use bowline_model::{
    checker::{Model, explore},
    promise::{Promise, Promises},
};

/// Two counters up to a limit. Their order does not matter.
struct Counters {
    limit: u8,
    /// The sum that breaks a promise.
    forbidden: u8,
    /// From here on, only a fault leads on.
    stuck: u8,
}

#[derive(Clone, Copy)]
enum Action {
    Add,
    Fault,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add => f.write_str("add"),
            Self::Fault => f.write_str("fault"),
        }
    }
}

impl Model for Counters {
    type State = [u8; 2];
    type Action = Action;

    fn initial(&self) -> [u8; 2] {
        [0, 0]
    }

    fn successors(&self, state: &[u8; 2], next: &mut Vec<(Action, [u8; 2])>) {
        for index in 0..2 {
            if state[index] < self.limit {
                let mut after = *state;
                after[index] += 1;
                let is_stuck = state[0] + state[1] >= self.stuck;
                let action = if is_stuck { Action::Fault } else { Action::Add };
                next.push((action, after));
            }
        }
    }

    fn is_fault(&self, action: &Action) -> bool {
        matches!(action, Action::Fault)
    }

    fn broken(&self, state: &[u8; 2]) -> Promises {
        let is_broken = state[0] + state[1] == self.forbidden;
        is_broken
            .then_some(Promise::EffectOnce)
            .into_iter()
            .collect()
    }

    fn is_done(&self, state: &[u8; 2]) -> bool {
        *state == [self.limit; 2]
    }

    fn canonical(&self, mut state: [u8; 2]) -> [u8; 2] {
        state.sort_unstable();
        state
    }
}

#[test]
fn all_states_are_visited_and_symmetric_ones_once() {
    let explored = explore(&Counters {
        limit: 3,
        forbidden: 99,
        stuck: 99,
    });
    // The pairs of 0 to 3 in order.
    assert_eq!((explored.states, explored.depth), (10, 6));
    assert!(explored.broken().is_empty());
}

#[test]
fn the_shortest_counterexample_is_found() {
    let explored = explore(&Counters {
        limit: 3,
        forbidden: 2,
        stuck: 99,
    });
    let steps = explored
        .counterexample(Promise::EffectOnce)
        .expect("it is broken");
    assert_eq!(steps, ["add", "add"]);
}

#[test]
fn a_state_that_needs_a_fault_to_go_on_is_a_dead_end() {
    let explored = explore(&Counters {
        limit: 3,
        forbidden: 99,
        stuck: 5,
    });
    let steps = explored
        .counterexample(Promise::Ends)
        .expect("it is a dead end");
    // Already the first state: no way leads around it.
    assert!(steps.is_empty());
    assert!(explored.counterexample(Promise::EffectOnce).is_none());
}
