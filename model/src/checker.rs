//! A breadth-first checker: visits every state that a model can reach, and finds the
//! shortest way to a broken promise or to a dead end.

use std::{
    fmt,
    hash::{BuildHasherDefault, Hash, Hasher},
};

use indexmap::IndexSet;

use crate::promise::{Promise, Promises};

/// Something to check: states, and the actions that lead from one to the next.
pub trait Model {
    /// A state of the world, as a plain value.
    type State: Clone + Eq + Hash;
    /// An action, which its text describes.
    type Action: Copy + fmt::Display;

    /// The state in which everything begins.
    fn initial(&self) -> Self::State;

    /// Adds every action that is possible in a state, and the state that it leads to.
    fn successors(&self, state: &Self::State, next: &mut Vec<(Self::Action, Self::State)>);

    /// Whether an action is a fault or the doing of an adversary. Nothing may depend on
    /// it to go on.
    fn is_fault(&self, action: &Self::Action) -> bool;

    /// The promises that have been broken on the way to a state.
    fn broken(&self, state: &Self::State) -> Promises;

    /// Whether everything has ended.
    fn is_done(&self, state: &Self::State) -> bool;

    /// The representative of all states that differ only in the names of nodes.
    fn canonical(&self, state: Self::State) -> Self::State;
}

/// What the checker found in a model.
pub struct Exploration {
    /// The number of different states.
    pub states: usize,
    /// The number of actions between them.
    pub transitions: usize,
    /// The length of the longest of the shortest ways to a state.
    pub depth: usize,
    /// For each broken promise, the actions that break it, shortest first.
    pub counterexamples: Vec<(Promise, Vec<String>)>,
}

impl Exploration {
    /// Returns the promises that are broken.
    #[must_use]
    pub fn broken(&self) -> Promises {
        self.counterexamples.iter().map(|(it, _)| *it).collect()
    }

    /// Returns the shortest way to break a promise.
    #[must_use]
    pub fn counterexample(&self, promise: Promise) -> Option<&[String]> {
        let mut all = self.counterexamples.iter();
        let (_, steps) = all.find(|(it, _)| *it == promise)?;
        Some(steps)
    }
}

/// Visits every state of a model.
///
/// # Panics
///
/// Panics if the model has more than four billion states, or if states that
/// [`Model::canonical`] takes for the same are not.
pub fn explore<M: Model>(model: &M) -> Exploration {
    let mut search = Search::new(model);
    let mut current = 0;
    while current < search.states.len() {
        search.visit(current);
        current += 1;
    }
    if let Some(stuck) = search.dead_end() {
        search.found.push((Promise::Ends, stuck));
    }
    search.found.sort_by_key(|(promise, _)| *promise);
    let found = search.found.iter();
    let counterexamples = found.map(|(promise, at)| (*promise, search.trace(*at)));
    Exploration {
        counterexamples: counterexamples.collect(),
        states: search.states.len(),
        transitions: search.transitions,
        depth: search.depth(),
    }
}

struct Search<'a, M: Model> {
    model: &'a M,
    /// In the order in which they were found, so the nearest first.
    states: IndexSet<M::State, BuildHasherDefault<StateHasher>>,
    /// From which state each was found.
    parents: Vec<u32>,
    /// The successors of each state by actions that are no faults: those of state `n`
    /// are `progress[starts[n]..starts[n + 1]]`.
    progress: Vec<u32>,
    starts: Vec<usize>,
    transitions: usize,
    /// The first state in which each promise is broken.
    found: Vec<(Promise, usize)>,
    /// Reused from state to state.
    next: Vec<(M::Action, M::State)>,
}

impl<'a, M: Model> Search<'a, M> {
    fn new(model: &'a M) -> Self {
        let mut states = IndexSet::default();
        states.insert(model.canonical(model.initial()));
        Self {
            model,
            states,
            parents: vec![0],
            progress: Vec::new(),
            starts: vec![0],
            transitions: 0,
            found: Vec::new(),
            next: Vec::new(),
        }
    }

    fn visit(&mut self, current: usize) {
        let state = &self.states[current];
        for promise in self.model.broken(state).iter() {
            if self.found.iter().all(|(known, _)| *known != promise) {
                self.found.push((promise, current));
            }
        }
        let mut next = std::mem::take(&mut self.next);
        self.model.successors(state, &mut next);
        self.transitions += next.len();
        for (action, state) in next.drain(..) {
            let (index, is_new) = self.states.insert_full(self.model.canonical(state));
            if is_new {
                self.parents.push(narrow(current));
            }
            if !self.model.is_fault(&action) {
                self.progress.push(narrow(index));
            }
        }
        self.next = next;
        self.starts.push(self.progress.len());
    }

    /// Returns the first state from which nothing leads to an end without the help of
    /// a fault.
    fn dead_end(&self) -> Option<usize> {
        let count = self.states.len();
        let (sources, ends) = self.predecessors();
        let done = self.states.iter().map(|state| self.model.is_done(state));
        let mut can_end: Vec<bool> = done.collect();
        let mut open: Vec<usize> = (0..count).filter(|index| can_end[*index]).collect();
        while let Some(index) = open.pop() {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            for from in &sources[start..ends[index]] {
                let from = *from as usize;
                if !std::mem::replace(&mut can_end[from], true) {
                    open.push(from);
                }
            }
        }
        can_end.iter().position(|can_end| !can_end)
    }

    /// Returns the predecessors of all states in one list, and where those of each state
    /// end in it.
    fn predecessors(&self) -> (Vec<u32>, Vec<usize>) {
        let mut ends = vec![0; self.states.len()];
        self.progress.iter().for_each(|to| ends[*to as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // The start, until the predecessors are filled in.
            sum += std::mem::replace(end, sum);
        }
        let mut sources = vec![0; self.progress.len()];
        for from in 0..self.states.len() {
            for to in &self.progress[self.starts[from]..self.starts[from + 1]] {
                let end = &mut ends[*to as usize];
                sources[*end] = narrow(from);
                *end += 1;
            }
        }
        (sources, ends)
    }

    /// Returns the actions on the shortest way to a state. The states on the way are
    /// representatives, so the way is walked again with one set of names.
    fn trace(&self, to: usize) -> Vec<String> {
        let mut way = vec![to];
        while let Some(last) = way.last().filter(|last| **last != 0) {
            way.push(self.parents[*last] as usize);
        }
        let mut state = self.model.initial();
        let mut steps = Vec::new();
        for index in way.into_iter().rev().skip(1) {
            let mut next = Vec::new();
            self.model.successors(&state, &mut next);
            let wanted = &self.states[index];
            let is_wanted =
                |(_, it): &(M::Action, M::State)| self.model.canonical(it.clone()) == *wanted;
            let step = next.into_iter().find(is_wanted);
            let step = step.expect("states with the same representative have the same successors");
            steps.push(step.0.to_string());
            state = step.1;
        }
        steps
    }

    fn depth(&self) -> usize {
        let mut depths = vec![0; self.parents.len()];
        for index in 1..depths.len() {
            depths[index] = depths[self.parents[index] as usize] + 1;
        }
        depths.into_iter().max().unwrap_or_default()
    }
}

fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than four billion states")
}

/// A quick hash. States are compared too, so a collision costs time and nothing else.
#[derive(Default)]
struct StateHasher(u64);

impl Hasher for StateHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
