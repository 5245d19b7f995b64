//! Schemas with alternatives.

use serde_json::Value;

use super::{
    super::{document::Node, kinds::Kinds, prover::Mode, report::Usage},
    Change, Pair, Part, Scope, Walk,
    path::json,
};

/// The maximum number of pairs of alternatives that are tried.
const MAX_TRIED: usize = 10_000;

impl<'a> Walk<'a> {
    /// Returns the alternatives of a part, without `null`. A part without alternatives
    /// is the only one.
    pub(super) fn alternatives(&mut self, part: &Part<'a>) -> Vec<Part<'a>> {
        let union = part.view.unions().next();
        let Some(union) = union.filter(|_| self.prover.literals(&part.view).is_none()) else {
            return vec![part.clone()];
        };
        let mut all = Vec::new();
        for alternative in union.alternatives {
            let node = self.prover.child(union.node, alternative);
            let own = self.part(&[node], part.place);
            let is_null = own.view.kinds() == Kinds::NULL;
            if !is_null {
                all.push(Part {
                    view: self.prover.decide(&part.view, union, alternative),
                    ..own
                });
            }
        }
        match all.as_mut_slice() {
            [] => vec![part.clone()],
            // What is said about the whole is said about the only one.
            [only] => {
                only.text = only.view.nodes.clone();
                all
            }
            _ => all,
        }
    }

    /// Describes alternatives that were added, removed or changed.
    pub(super) fn describe_alternatives(
        &mut self,
        pair: Pair<'_, 'a>,
        old: &[Part<'a>],
        new: &[Part<'a>],
        scope: Scope<'_>,
    ) {
        if old.len() > 1 && new.len() > 1 {
            self.describe_text(pair, scope.path);
        }
        if !scope.verdict.is_same() {
            self.describe_null(pair, scope);
        }
        let before = self.findings.breaking_count();
        let matched = self.match_alternatives(old, new);
        for (at, new_part) in new.iter().enumerate() {
            let partner = matched.iter().find(|(_, new)| *new == at);
            if let Some((old_at, _)) = partner {
                let pair = Pair {
                    old: &old[*old_at],
                    new: new_part,
                };
                self.describe(pair, scope.path, scope);
            } else if !scope.verdict.is_same() {
                let added = self.label(new_part);
                self.describe_alternative(pair.old, new_part, Change::Wider, &added, scope);
            }
        }
        for (at, old_part) in old.iter().enumerate() {
            let is_matched = matched.iter().any(|(old, _)| *old == at);
            if !is_matched && !scope.verdict.is_same() {
                let removed = self.label(old_part);
                self.describe_alternative(pair.new, old_part, Change::Narrower, &removed, scope);
            }
        }
        if !scope.verdict.is_same() {
            // The keywords beside the alternatives.
            self.describe_numbers(pair, scope);
        }
        if !scope.is_shown && self.findings.breaking_count() == before {
            let subject = scope.path.subject();
            let why = "which cannot be shown to be compatible, since they may overlap";
            let message = format!("the alternatives of {subject} changed, {why}");
            self.add_judged(false, pair.new.place, message);
        }
    }

    /// Describes an alternative that the other version does not have.
    fn describe_alternative(
        &mut self,
        others: &Part<'a>,
        alternative: &Part<'a>,
        change: Change,
        label: &str,
        scope: Scope<'_>,
    ) {
        let (subject, accepts) = (scope.path.subject(), self.accepts());
        let is_covered =
            |walk: &mut Self, mode| walk.prover.is_within(&alternative.view, &others.view, mode);
        // One that the others cover changes nothing.
        if is_covered(self, Mode::Strict) {
            return;
        }
        let message = match change {
            Change::Wider => format!("{subject} now also {accepts}s {label}"),
            _ => format!("{subject} no longer {accepts}s {label}"),
        };
        let is_critical = (change == Change::Wider) == (self.usage == Usage::Output);
        let change = match is_critical && is_covered(self, Mode::Practical) {
            true if change == Change::Wider => Change::Narrower,
            true => Change::Wider,
            false => change,
        };
        self.add(change, alternative.place, message, scope);
    }

    /// Matches alternatives by a member that tells them apart, then those that are the
    /// same, then those of which one includes the other, then the last that are left.
    fn match_alternatives(&mut self, old: &[Part<'a>], new: &[Part<'a>]) -> Vec<(usize, usize)> {
        let mut matched = Vec::new();
        let [old_tags, new_tags] = [old, new].map(|parts| {
            let tags = parts.iter().map(|part| self.prover.tags_of(&part.view));
            tags.collect::<Vec<_>>()
        });
        pair_up(old.len(), new.len(), &mut matched, |old, new| {
            old_tags[old].iter().any(|tag| new_tags[new].contains(tag))
        });
        if old.len().saturating_mul(new.len()) > MAX_TRIED {
            return matched;
        }
        pair_up(old.len(), new.len(), &mut matched, |at, other| {
            let [one, other] = [&old[at].text, &new[other].text].map(|text| text.first());
            let pair = one.zip(other);
            pair.is_some_and(|(one, other)| self.prover.is_same(*one, *other))
        });
        pair_up(old.len(), new.len(), &mut matched, |at, other| {
            let (one, other) = (&old[at].view, &new[other].view);
            self.prover.is_within(one, other, Mode::Practical)
                || self.prover.is_within(other, one, Mode::Practical)
        });
        let is_last = matched.len() + 1 == old.len() && old.len() == new.len();
        if is_last {
            pair_up(old.len(), new.len(), &mut matched, |_, _| true);
        }
        matched
    }

    /// Returns what to call an alternative.
    fn label(&mut self, part: &Part<'a>) -> String {
        if let Some(tag) = self.prover.tags_of(&part.view).first() {
            return format!("objects whose `{}` is {}", tag.name, json(tag.value));
        }
        let own = self.prover.literals(&part.view);
        if let Some(&[value]) = own.as_deref() {
            return json(value);
        }
        let texts = part.text.iter();
        let mut titles = texts.filter_map(|node: &Node<'a>| node.get("title")?.as_str());
        if let Some(title) = titles.next() {
            return format!("`{title}`");
        }
        let reference = part.text.first().and_then(|node| node.get("$ref"));
        let name = reference.and_then(Value::as_str);
        if let Some(name) = name.and_then(|it| it.rsplit(['/', '#']).next()) {
            return format!("`{name}`");
        }
        let kinds = self.kinds_of(&part.view, 0);
        match kinds == Kinds::ALL {
            true => "another alternative".to_owned(),
            false => kinds.describe(),
        }
    }
}

/// Matches what is not matched yet and belongs together.
fn pair_up(
    old: usize,
    new: usize,
    matched: &mut Vec<(usize, usize)>,
    mut belongs: impl FnMut(usize, usize) -> bool,
) {
    for old in 0..old {
        if matched.iter().any(|(it, _)| *it == old) {
            continue;
        }
        let free = |new: &usize| !matched.iter().any(|(_, it)| it == new);
        let free: Vec<usize> = (0..new).filter(free).collect();
        if let Some(new) = free.into_iter().find(|new| belongs(old, *new)) {
            matched.push((old, new));
        }
    }
}
