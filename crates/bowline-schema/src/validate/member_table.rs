//! What a schema says about the members of an object, in one table, so that an object is
//! gone through once.

use super::{equal::same_text, keyword::Node, pattern::Pattern};

/// The keywords `required`, `properties`, `patternProperties` and
/// `additionalProperties`.
#[derive(Clone, Debug)]
pub(super) struct MemberTable {
    /// The names with a schema, as they are written, then those that are only required.
    pub(super) names: Vec<KnownName>,
    /// The indices of the names, sorted by name. Empty if there are few.
    sorted: Vec<usize>,
    /// The indices of the required names, as they are written.
    pub(super) required: Vec<usize>,
    /// How many names are required.
    pub(super) required_count: usize,
    /// The schema of the keyword, if a member may be absent where it has a default.
    pub(super) unless_default_in: Option<Node>,
    pub(super) patterns: Vec<(Pattern, Node)>,
    /// For the members that have no schema by their name or a pattern.
    pub(super) additional: Option<Node>,
    /// Whether the schema says something about members that it does not name.
    pub(super) is_complete: bool,
    /// Whether it says that there are none.
    pub(super) is_closed: bool,
}

/// A name, and what is said about the member.
#[derive(Clone, Debug)]
pub(super) struct KnownName {
    pub(super) name: String,
    pub(super) node: Option<Node>,
    pub(super) is_required: bool,
}

/// Up to this many names are compared one by one, which is faster than hashing or
/// sorting.
const FEW_NAMES: usize = 8;

impl MemberTable {
    pub(super) fn new(properties: Vec<(String, Node)>, required: &[String]) -> Self {
        let names = properties.into_iter().map(|(name, node)| KnownName {
            name,
            node: Some(node),
            is_required: false,
        });
        let mut table = Self {
            names: names.collect(),
            sorted: Vec::new(),
            required: Vec::new(),
            required_count: 0,
            unless_default_in: None,
            patterns: Vec::new(),
            additional: None,
            is_complete: false,
            is_closed: false,
        };
        table.sort();
        table.add_undeclared(required);
        let at = |name: &String| table.find(name, 0).map(|(at, _)| at);
        table.required = required.iter().filter_map(at).collect();
        for at in &table.required {
            table.names[*at].is_required = true;
        }
        table.required_count = table.names.iter().filter(|it| it.is_required).count();
        table
    }

    /// Adds the names that have no schema.
    fn add_undeclared(&mut self, required: &[String]) {
        let is_undeclared = |name: &&String| self.find(name, 0).is_none();
        let mut undeclared: Vec<&String> = required.iter().filter(is_undeclared).collect();
        undeclared.sort_unstable();
        undeclared.dedup();
        self.names
            .extend(undeclared.into_iter().map(|name| KnownName {
                name: name.clone(),
                node: None,
                is_required: true,
            }));
        self.sort();
    }

    fn sort(&mut self) {
        if self.names.len() > FEW_NAMES {
            self.sorted = (0..self.names.len()).collect();
            self.sorted.sort_unstable_by_key(|at| &self.names[*at].name);
        }
    }

    /// Returns the names with a schema.
    pub(super) fn declared(&self) -> impl Iterator<Item = (&str, Node)> {
        let declared = |it| {
            let KnownName { name, node, .. }: &KnownName = it;
            Some((name.as_str(), (*node)?))
        };
        self.names.iter().map_while(declared)
    }

    /// Returns the names that are required, as they are written.
    pub(super) fn required(&self) -> impl Iterator<Item = &KnownName> {
        self.required.iter().map(|at| &self.names[*at])
    }

    /// Returns a name and its index. Objects often have their members in the order of
    /// the schema, so it is probably the one after the last.
    #[inline]
    pub(super) fn find(&self, name: &str, probably: usize) -> Option<(usize, &KnownName)> {
        match self.names.get(probably) {
            Some(known) if known.is(name) => Some((probably, known)),
            _ => self.search(name),
        }
    }

    #[inline(never)]
    fn search(&self, name: &str) -> Option<(usize, &KnownName)> {
        if self.sorted.is_empty() {
            let mut names = self.names.iter().enumerate();
            return names.find(|(_, known)| known.is(name));
        }
        let name_at = |at: &usize| self.names[*at].name.as_str().cmp(name);
        let found = self.sorted.binary_search_by(name_at).ok()?;
        let at = self.sorted[found];
        Some((at, &self.names[at]))
    }

    /// Returns whether a name has a schema.
    pub(super) fn declares(&self, name: &str) -> bool {
        let known = self.find(name, 0);
        known.is_some_and(|(_, known)| known.node.is_some())
    }
}

impl KnownName {
    #[inline]
    fn is(&self, name: &str) -> bool {
        same_text(self.name.as_bytes(), name.as_bytes())
    }
}
