//! Which members of an object a schema has looked at.

use serde_json::Value;

use super::{
    check::Check,
    keyword::{Keyword, Node},
};

impl Check<'_> {
    /// Whether a schema has looked at a member of an object, itself or by those
    /// that it holds the same object against. Those that do not fit it have not.
    pub(super) fn evaluates(&self, node: Node, name: &str, value: &Value) -> bool {
        let keywords = self.nodes[node].iter();
        // The one that asks does not answer for itself.
        let mut others = keywords.filter(|it| !matches!(it, Keyword::Unevaluated { .. }));
        others.any(|keyword| self.keyword_evaluates(keyword, name, value))
    }

    fn keyword_evaluates(&self, keyword: &Keyword, name: &str, value: &Value) -> bool {
        let has_rest = |node: &Node| {
            let mut keywords = self.nodes[*node].iter();
            keywords.any(|it| matches!(it, Keyword::Unevaluated { .. }))
        };
        let fitting = |node: &Node| {
            self.fits(*node, value) && (has_rest(node) || self.evaluates(*node, name, value))
        };
        match keyword {
            Keyword::Properties(nodes) => nodes.iter().any(|(known, _)| known == name),
            Keyword::PatternProperties(nodes) => nodes.iter().any(|(it, _)| it.is_match(name)),
            Keyword::Additional { .. } => true,
            Keyword::Ref(node) => fitting(node),
            Keyword::AllOf(nodes) | Keyword::AnyOf(nodes) | Keyword::OneOf(nodes) => {
                nodes.iter().any(fitting)
            }
            Keyword::If {
                condition,
                then,
                otherwise,
            } => {
                let branch = if self.fits(*condition, value) {
                    then
                } else {
                    otherwise
                };
                fitting(condition) || branch.as_ref().is_some_and(fitting)
            }
            Keyword::DependentSchemas(nodes) => nodes
                .iter()
                .any(|(known, node)| value.get(known).is_some() && fitting(node)),
            _ => false,
        }
    }
}
