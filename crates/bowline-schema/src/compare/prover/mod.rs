//! Proofs that every value of one schema is valid for another.
//!
//! Everything here answers "this was shown" or "this was not shown". An answer of the
//! first kind is a promise; one of the second may only mean that a proof was not found,
//! or took too long.

mod arrays;
mod conditions;
mod disjoint;
mod evaluate;
mod included;
mod members;
mod numbers;
mod same;
mod strings;
mod unions;
mod values;
mod view;

use std::{
    cell::{Cell, RefCell},
    collections::{HashMap, HashSet},
    rc::Rc,
};

use regex_lite::Regex;
use serde_json::Value;

use self::included::Proofs;
pub(super) use self::{
    members::{named, other_members},
    numbers::{Bound, End},
    unions::Tag,
    view::{Union, View, ViewKey},
};
use super::{
    canonical::{Canonical, Id, Reading},
    document::{Address, Document, Node, Target, address},
    keyword::Role,
    report::Version,
};

/// The maximum number of steps of all proofs for a verdict, and again for describing
/// it. A step is one schema that is compared with another, or one value with a keyword:
/// less than a microsecond.
const MAX_STEPS: u64 = 3_000_000;

/// The maximum number of keywords that are compared to find out what is the same. Enough
/// for a document of a few megabytes.
const MAX_SAME_STEPS: u64 = 1_000_000;

/// How deep schemas may be applied within each other.
const MAX_DEPTH: u32 = 100;

/// Whether a proof may assume that values have no members of which their schema says
/// nothing. See [`compare`](super::compare).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    Strict,
    Practical,
}

/// What is known about two documents.
pub(super) struct Prover<'a> {
    old: Document<'a>,
    new: Document<'a>,
    canonical: Canonical<'a>,
    proofs: Proofs,
    /// Pairs of schemas that are the same, or not.
    same: HashMap<(usize, usize), bool>,
    /// Pairs of views that have no value in common, or may have one.
    disjoint: HashMap<(ViewKey, ViewKey), bool>,
    tags: HashMap<usize, Rc<Vec<Tag<'a>>>>,
    sets: HashMap<Address, Rc<HashSet<Id>>>,
    names: HashMap<Address, Rc<HashSet<&'a str>>>,
    patterns: HashMap<&'a str, Option<Regex>>,
    /// What references name, by the address of the reference.
    targets: RefCell<HashMap<usize, Target<'a>>>,
    steps_left: Cell<u64>,
    /// The steps for finding out what is the same, which is quick.
    same_steps_left: u64,
    depth: u32,
    /// How far down in the compared values the proof is.
    level: u32,
}

impl<'a> Prover<'a> {
    pub(super) fn new(old: &'a Value, new: &'a Value) -> Self {
        Self {
            old: Document::new(old, Version::Old),
            new: Document::new(new, Version::New),
            canonical: Canonical::default(),
            proofs: Proofs::default(),
            same: HashMap::new(),
            disjoint: HashMap::new(),
            tags: HashMap::new(),
            sets: HashMap::new(),
            names: HashMap::new(),
            patterns: HashMap::new(),
            targets: RefCell::default(),
            steps_left: Cell::new(MAX_STEPS),
            same_steps_left: MAX_SAME_STEPS,
            depth: 0,
            level: 0,
        }
    }

    pub(super) fn root(&self, version: Version) -> Node<'a> {
        self.document(version).root()
    }

    /// Returns whether both documents are the same JSON.
    pub(super) fn is_identical(&mut self) -> bool {
        let (old, new) = (self.old.root().value, self.new.root().value);
        self.canonical.id(old, Reading::Schema) == self.canonical.id(new, Reading::Schema)
    }

    /// Returns whether two values are the same JSON.
    pub(super) fn is_equal(&mut self, one: &'a Value, other: &'a Value) -> bool {
        self.id(one) == self.id(other)
    }

    /// Returns whether there were too few steps for all proofs.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps_left.get() == 0
    }

    /// Allows as many steps as at the beginning.
    pub(super) fn renew_steps(&mut self) {
        self.steps_left.set(MAX_STEPS);
    }

    /// Returns a schema within another.
    pub(super) fn child(&self, parent: Node<'a>, value: &'a Value) -> Node<'a> {
        self.document(parent.version).child(parent, value)
    }

    /// Returns the number of a value: equal values have the same.
    pub(super) fn id(&mut self, value: &'a Value) -> Id {
        self.canonical.id(value, Reading::Data)
    }

    fn document(&self, version: Version) -> &Document<'a> {
        match version {
            Version::Old => &self.old,
            Version::New => &self.new,
        }
    }

    fn resolve(&self, from: Node<'a>, keyword: &str, reference: &'a Value) -> Target<'a> {
        // A document may be a part of the other, and references mean other things there.
        let key = address(reference) | usize::from(from.version == Version::New);
        let mut targets = self.targets.borrow_mut();
        *targets.entry(key).or_insert_with(|| {
            let document = self.document(from.version);
            document.resolve(from, keyword, reference)
        })
    }

    /// Returns whether a keyword is a reference to a schema that is known.
    pub(super) fn is_followed(&self, node: Node<'a>, keyword: &str, value: &'a Value) -> bool {
        let is_reference = Role::of(keyword) == Role::Reference;
        is_reference && matches!(self.resolve(node, keyword, value), Target::Schema(_))
    }

    /// Spends steps and returns whether there were enough.
    fn spend(&self, steps: usize) -> bool {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let left = self.steps_left.get().saturating_sub(steps);
        self.steps_left.set(left);
        left > 0
    }
}

/// Returns whether every value is valid for a schema, at a glance.
fn is_trivial(schema: &Value) -> bool {
    match schema {
        Value::Bool(yes) => *yes,
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
