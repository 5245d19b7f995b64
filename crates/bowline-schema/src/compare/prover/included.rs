//! Whether every value of a view is valid for a schema.

use std::{collections::HashMap, mem, rc::Rc};

use serde_json::Value;

use super::{
    super::{
        document::{Node, Target},
        keyword::Role,
        kinds::Kinds,
    },
    MAX_DEPTH, Mode, Prover, View, ViewKey,
    evaluate::Truth,
};

/// What is to be shown: that the values of a view are valid for a schema.
type Claim = (ViewKey, usize, Mode);

/// The claims that were proven or are being proven.
///
/// A claim about a recursive schema leads back to itself. It may be assumed there, as
/// in a proof by induction on the size of values, if it is about a part of the value
/// that the claim itself is about.
#[derive(Default)]
pub(super) struct Proofs {
    states: HashMap<Rc<Claim>, State>,
    open_count: usize,
    /// The outermost claim that was assumed in the proof of the current one.
    assumed: Option<usize>,
    /// The claims that were shown under an assumption that is still open.
    provisional: Vec<Rc<Claim>>,
}

#[derive(Clone, Copy)]
enum State {
    /// The claim is being proven. Its position among those, and the level of the
    /// value that it is about.
    Open {
        position: usize,
        level: u32,
    },
    /// Shown, perhaps under the assumption of an open claim.
    Shown {
        assumed: Option<usize>,
    },
    NotShown,
}

impl Proofs {
    /// Returns what is known about a claim.
    fn find(&mut self, claim: &Claim, level: u32) -> Option<bool> {
        let assumed = match *self.states.get(claim)? {
            State::NotShown => return Some(false),
            State::Open { level: outer, .. } if outer >= level => return Some(false),
            State::Open { position, .. } => Some(position),
            State::Shown { assumed } => assumed,
        };
        self.assume(assumed);
        Some(true)
    }

    fn assume(&mut self, position: Option<usize>) {
        let both = self.assumed.into_iter().chain(position);
        self.assumed = both.min();
    }

    fn open(&mut self, claim: &Rc<Claim>, level: u32) -> Attempt {
        let position = self.open_count;
        self.open_count += 1;
        let state = State::Open { position, level };
        self.states.insert(Rc::clone(claim), state);
        Attempt {
            position,
            outer_assumed: mem::take(&mut self.assumed),
            provisional: self.provisional.len(),
        }
    }

    fn close(&mut self, claim: &Rc<Claim>, attempt: &Attempt, is_shown: bool) {
        self.open_count -= 1;
        let assumed = mem::replace(&mut self.assumed, attempt.outer_assumed);
        let assumed = assumed.filter(|position| *position < attempt.position);
        let mut state = State::NotShown;
        if is_shown {
            state = State::Shown { assumed };
            self.assume(assumed);
        }
        match assumed {
            Some(_) if is_shown => self.provisional.push(Rc::clone(claim)),
            _ => {
                // What was shown under the assumption of this claim holds if it does.
                for other in self.provisional.drain(attempt.provisional..) {
                    match is_shown {
                        true => drop(self.states.insert(other, state)),
                        false => drop(self.states.remove(&other)),
                    }
                }
            }
        }
        self.states.insert(Rc::clone(claim), state);
    }
}

/// An attempt to prove a claim.
struct Attempt {
    position: usize,
    outer_assumed: Option<usize>,
    /// The number of provisional claims before it.
    provisional: usize,
}

impl<'a> Prover<'a> {
    /// Shows that every value of a view is valid for a schema.
    pub(in super::super) fn is_included(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        mode: Mode,
    ) -> bool {
        match schema.value {
            Value::Bool(true) => return true,
            Value::Bool(false) => return self.is_never(view),
            _ if view.is_never || view.contains(schema) => return true,
            _ => {}
        }
        if !self.spend(1) {
            return false;
        }
        if self.depth >= MAX_DEPTH {
            return self.has_same(view, schema);
        }
        let claim = Rc::new((view.key(), schema.key(), mode));
        if let Some(is_shown) = self.proofs.find(&claim, self.level) {
            return is_shown;
        }
        if !self.spend(view.nodes.len()) {
            return false;
        }
        let attempt = self.proofs.open(&claim, self.level);
        self.depth += 1;
        let is_shown = self.prove(view, schema, mode);
        self.depth -= 1;
        self.proofs.close(&claim, &attempt, is_shown);
        is_shown
    }

    /// Shows that every value of a view is valid for all schemas of another.
    pub(in super::super) fn is_within(
        &mut self,
        view: &View<'a>,
        other: &View<'a>,
        mode: Mode,
    ) -> bool {
        if other.is_never {
            return self.is_never(view);
        }
        // Without steps left, schemas may be missing.
        if other.is_malformed || self.is_exhausted() {
            return false;
        }
        let mut nodes = other.nodes.iter();
        nodes.all(|node| match other.has_decided_union(*node) {
            false => self.is_included(view, *node, mode),
            // The alternative of the union is among the schemas.
            true => node
                .members()
                .into_iter()
                .flatten()
                .all(|(keyword, value)| {
                    other.is_decided_union(value) || self.holds(view, *node, keyword, value, mode)
                }),
        })
    }

    /// Shows the same for a part of the values.
    pub(super) fn is_part_included(
        &mut self,
        parts: &[Node<'a>],
        schema: Node<'a>,
        mode: Mode,
    ) -> bool {
        let view = self.view(parts);
        self.level += 1;
        let is_shown = self.is_included(&view, schema, mode);
        self.level -= 1;
        is_shown
    }

    /// Returns whether a view certainly has no values.
    pub(in super::super) fn is_never(&mut self, view: &View<'a>) -> bool {
        view.kinds().is_empty()
            || self.values_of(view).is_some_and(|values| values.is_empty())
            || self.requires_impossible_member(view)
    }

    fn prove(&mut self, view: &View<'a>, schema: Node<'a>, mode: Mode) -> bool {
        if let Some(values) = self.values_of(view) {
            let valid = values.iter().map(|value| self.accepts(schema, value));
            match valid.min().unwrap_or(Truth::Yes) {
                Truth::Yes => return true,
                Truth::No => return false,
                Truth::Unknown => {}
            }
        }
        let Some(members) = schema.members() else {
            return self.has_same(view, schema);
        };
        let mut members = members.iter();
        let failed =
            members.find(|(keyword, value)| !self.holds(view, schema, keyword, value, mode));
        match failed.map(|(keyword, _)| keyword.as_str()) {
            None => true,
            // These look at each alternative on its own already.
            Some("anyOf" | "oneOf") => self.is_never(view),
            Some(_) => self.is_included_by_cases(view, schema, mode) || self.is_never(view),
        }
    }

    /// Shows it for each alternative of a union on its own.
    fn is_included_by_cases(&mut self, view: &View<'a>, schema: Node<'a>, mode: Mode) -> bool {
        let Some(union) = view.unions().next() else {
            return false;
        };
        union.alternatives.iter().all(|alternative| {
            let view = self.decide(view, union, alternative);
            self.spend(view.nodes.len()) && self.is_included(&view, schema, mode)
        })
    }

    /// Shows that a keyword of a schema holds for every value of a view.
    pub(in super::super) fn holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
        mode: Mode,
    ) -> bool {
        if !Role::of(keyword).restricts() || !view.kinds().overlaps(kinds_of_keyword(keyword)) {
            return true;
        }
        let shown = match keyword {
            "type" => Kinds::of_type(value).map(|kinds| view.kinds().is_within(kinds)),
            "enum" | "const" => self.listed_hold(view, keyword, value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                self.number_holds(view, keyword, value)
            }
            "minLength" | "maxLength" | "pattern" | "format" | "contentEncoding"
            | "contentMediaType" | "contentSchema" => self.text_holds(view, schema, keyword, value),
            "minItems" | "maxItems" | "uniqueItems" | "prefixItems" | "items"
            | "additionalItems" | "contains" | "unevaluatedItems" => {
                self.array_holds(view, schema, keyword, value, mode)
            }
            "minProperties"
            | "maxProperties"
            | "required"
            | "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "propertyNames"
            | "dependentRequired"
            | "dependentSchemas"
            | "dependencies" => self.object_holds(view, schema, keyword, value, mode),
            "allOf" | "anyOf" | "oneOf" => self.list_holds(view, schema, keyword, value, mode),
            "$ref" | "$dynamicRef" => self.reference_holds(view, schema, keyword, value, mode),
            "if" => Some(self.condition_holds(view, schema, value)),
            "not" => Some(self.negation_holds(view, schema, value)),
            // These are part of `if` and `contains`.
            "then" | "else" | "minContains" | "maxContains" => Some(true),
            _ => None,
        };
        // What is not understood holds if it is the same.
        shown.unwrap_or_else(|| self.has_same(view, schema))
    }

    fn reference_holds(
        &mut self,
        view: &View<'a>,
        schema: Node<'a>,
        keyword: &str,
        value: &'a Value,
        mode: Mode,
    ) -> Option<bool> {
        match self.resolve(schema, keyword, value) {
            Target::Schema(target) => Some(self.is_included(view, target, mode)),
            Target::Elsewhere(uri) => {
                let mut references = view.all(keyword);
                Some(references.any(|(node, it)| {
                    matches!(self.resolve(node, keyword, it), Target::Elsewhere(other) if other == uri)
                }))
            }
            Target::Nothing | Target::Unknown => None,
        }
    }
}

/// Returns the kinds of values that a keyword can restrict.
fn kinds_of_keyword(keyword: &str) -> Kinds {
    match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            Kinds::NUMBER
        }
        "minLength" | "maxLength" | "pattern" | "contentEncoding" | "contentMediaType"
        | "contentSchema" => Kinds::STRING,
        "minItems" | "maxItems" | "uniqueItems" | "prefixItems" | "items" | "additionalItems"
        | "contains" | "unevaluatedItems" => Kinds::ARRAY,
        "minProperties"
        | "maxProperties"
        | "required"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies" => Kinds::OBJECT,
        _ => Kinds::ALL,
    }
}
