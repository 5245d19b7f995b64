//! The parts of JSON Schema that the command interprets.

use std::collections::{HashMap, HashSet};

use super::node::Node;

/// Maximum number of references followed.
const MAX_REFERENCES: usize = 16;

/// Maximum number of `allOf` parts.
const MAX_ALL_OF: usize = 64;

/// The schema of a tool's arguments or result.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    root: Node,
}

/// A schema inside a document, which resolves its references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schema<'a> {
    node: &'a Node,
    root: &'a Node,
}

/// A type of JSON Schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    // In the order in which a string is tried: strictest first.
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

/// A property of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Property<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: Schema<'a>,
    /// Whether the schema lists it as required.
    pub(crate) required: bool,
}

impl Property<'_> {
    /// Returns whether it must be given. A required property with a default
    /// need not be: some servers publish the schema of values after defaults
    /// are filled in.
    pub(crate) fn is_required(&self) -> bool {
        self.required && !self.schema.has_default()
    }
}

impl Document {
    /// Parses a schema. An invalid one allows everything.
    pub(crate) fn new(json: &str) -> Self {
        let root = Node::parse(json).unwrap_or(Node::Bool(true));
        Self { root }
    }

    pub(crate) fn schema(&self) -> Schema<'_> {
        Schema {
            node: &self.root,
            root: &self.root,
        }
    }
}

impl Kind {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "array" => Self::Array,
            "object" => Self::Object,
            "string" => Self::String,
            _ => return None,
        })
    }

    fn from_node(node: &Node) -> Self {
        match node {
            Node::Null => Self::Null,
            Node::Bool(_) => Self::Boolean,
            Node::Number(number) if number.is_f64() => Self::Number,
            Node::Number(_) => Self::Integer,
            Node::String(_) => Self::String,
            Node::List(_) => Self::Array,
            Node::Object(_) => Self::Object,
        }
    }
}

impl<'a> Schema<'a> {
    fn with_node(self, node: &'a Node) -> Self {
        Self { node, ..self }
    }

    /// Returns the number of members, which is the cost of visiting it.
    pub(super) fn size(self) -> usize {
        self.node.members().len()
    }

    /// Returns the value of a keyword.
    pub(crate) fn get(self, keyword: &str) -> Option<&'a Node> {
        self.node.get(keyword)
    }

    pub(crate) fn get_str(self, keyword: &str) -> Option<&'a str> {
        self.get(keyword).and_then(Node::as_str)
    }

    /// Returns the schema in a keyword.
    pub(crate) fn subschema(self, keyword: &str) -> Option<Self> {
        self.get(keyword).map(|node| self.with_node(node))
    }

    /// Returns the name of the type it refers to, if it is a reference.
    pub(crate) fn reference(self) -> Option<&'a str> {
        match self.get_str("$ref")? {
            // The document itself, which may have a title.
            "#" => {
                let title = self.root.get("title").and_then(Node::as_str);
                title.or(Some("Root"))
            }
            path => path.rsplit('/').next(),
        }
    }

    /// Follows references and removes wrappers.
    pub(crate) fn resolved(self) -> Self {
        let mut current = self;
        for _ in 0..MAX_REFERENCES {
            let target = current
                .get_str("$ref")
                .and_then(|path| current.resolve_pointer(path));
            let only = match current.get("allOf").map(Node::items) {
                Some([only]) if current.get("properties").is_none() => {
                    Some(current.with_node(only))
                }
                _ => None,
            };
            match target.or(only) {
                Some(next) => current = next,
                None => break,
            }
        }
        current
    }

    /// Resolves a pointer such as `#/$defs/Point`.
    fn resolve_pointer(self, path: &str) -> Option<Self> {
        let path = path.strip_prefix('#')?;
        let mut node = self.root;
        for segment in path.split('/').skip(1) {
            let segment = segment.replace("~1", "/").replace("~0", "~");
            node = match node {
                Node::List(items) => items.get(segment.parse::<usize>().ok()?)?,
                other => other.get(&segment)?,
            };
        }
        Some(self.with_node(node))
    }

    /// Returns the alternatives, if any.
    pub(crate) fn variants(self) -> Vec<Self> {
        let listed = self.get("anyOf").or_else(|| self.get("oneOf"));
        let listed = listed.map(Node::items).unwrap_or_default();
        listed.iter().map(|node| self.with_node(node)).collect()
    }

    /// Returns the allowed types; empty if unrestricted.
    pub(crate) fn kinds(self) -> Vec<Kind> {
        match self.get("type") {
            Some(Node::String(name)) => return Kind::parse(name).into_iter().collect(),
            Some(Node::List(names)) => {
                let names = names.iter().filter_map(Node::as_str);
                return names.filter_map(Kind::parse).collect();
            }
            _ => {}
        }
        if let Some(choices) = self.choices() {
            let mut kinds: Vec<_> = choices.into_iter().map(Kind::from_node).collect();
            kinds.sort();
            kinds.dedup();
            return kinds;
        }
        let implied = [
            ("properties", Kind::Object),
            ("additionalProperties", Kind::Object),
            ("items", Kind::Array),
            ("prefixItems", Kind::Array),
        ];
        let implied = implied.iter().find(|(word, _)| self.get(word).is_some());
        let is_all_of_object = || self.get("allOf").is_some() && !self.properties().is_empty();
        match implied {
            Some((_, kind)) => vec![*kind],
            None if is_all_of_object() => vec![Kind::Object],
            None => Vec::new(),
        }
    }

    /// Returns the allowed values, if listed, including `oneOf` with titles.
    pub(crate) fn choices(self) -> Option<Vec<&'a Node>> {
        if let Some(values) = self.get("enum") {
            return Some(values.items().iter().collect());
        }
        if let Some(value) = self.get("const") {
            return Some(vec![value]);
        }
        let variants = self.variants();
        let each = variants.iter().map(|variant| variant.get("const"));
        let values: Option<Vec<_>> = each.collect();
        values.filter(|values| !values.is_empty())
    }

    /// Returns the properties of an object, including those of `allOf`: first
    /// the required ones, in the order of `required`, then the others. Not all
    /// servers keep the order of properties, but they keep that of `required`.
    pub(crate) fn properties(self) -> Vec<Property<'a>> {
        let (mut properties, required) = self.collect_properties();
        for property in &mut properties {
            property.required = required.contains_key(property.name);
        }
        properties.sort_by_key(|property| {
            let order = required.get(property.name).copied();
            order.unwrap_or(usize::MAX)
        });
        properties
    }

    /// Returns names that are required but not declared.
    pub(crate) fn undeclared_required(self) -> Vec<&'a str> {
        let (properties, mut required) = self.collect_properties();
        for property in &properties {
            required.remove(property.name);
        }
        let mut names: Vec<_> = required.into_iter().collect();
        names.sort_by_key(|(_, order)| *order);
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns the properties, and the positions of the required ones.
    fn collect_properties(self) -> (Vec<Property<'a>>, HashMap<&'a str, usize>) {
        let (mut properties, mut seen, mut required) = (Vec::new(), HashSet::new(), HashMap::new());
        let mut parts = vec![self];
        // Parts may be recursive.
        for _ in 0..MAX_ALL_OF {
            let Some(part) = parts.pop() else { break };
            let current = part.resolved();
            let names = current.get("required").map(Node::items).unwrap_or_default();
            for name in names.iter().filter_map(Node::as_str) {
                let order = required.len();
                required.entry(name).or_insert(order);
            }
            let members = current.get("properties").map(Node::members);
            for (name, node) in members.unwrap_or_default() {
                if seen.insert(name) {
                    properties.push(Property {
                        name,
                        schema: current.with_node(node),
                        required: false,
                    });
                }
            }
            let all_of = current.get("allOf").map(Node::items).unwrap_or_default();
            parts.extend(all_of.iter().rev().map(|node| current.with_node(node)));
        }
        (properties, required)
    }

    /// Returns whether it accepts undeclared members. By the specification, a
    /// schema that does not mention them does; but a name that was typed should
    /// be one the tool knows.
    pub(crate) fn allows_additional(self) -> bool {
        let current = self.resolved();
        let explicit = match current.get("additionalProperties") {
            None => current.get("patternProperties").is_some() || !current.variants().is_empty(),
            Some(Node::Bool(allowed)) => *allowed,
            Some(_) => true,
        };
        explicit
            || (current.properties().is_empty() && current.get("additionalProperties").is_none())
    }

    /// Returns the schema of array items.
    pub(crate) fn items(self) -> Option<Self> {
        self.subschema("items")
            .filter(|items| items.node.items().is_empty())
    }

    /// Returns the description, on one line.
    pub(crate) fn description(self) -> Option<String> {
        let direct = self.get_str("description");
        let text = direct.or_else(|| self.resolved().get_str("description"))?;
        let words: Vec<_> = text.split_whitespace().collect();
        Some(words.join(" ")).filter(|text| !text.is_empty())
    }

    /// Returns whether it has a default, even `null`.
    pub(crate) fn has_default(self) -> bool {
        self.get("default").is_some() || self.resolved().get("default").is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Document, Kind};

    fn names(schema: &str) -> Vec<String> {
        let document = Document::new(schema);
        let properties = document.schema().properties();
        let mark = |required| if required { "" } else { "?" };
        properties
            .iter()
            .map(|property| format!("{}{}", property.name, mark(property.required)))
            .collect()
    }

    #[test]
    fn what_is_required_comes_first_from_all_parts() {
        let schema = r##"{
            "properties": {"z": {}, "a": {}}, "required": ["a", "m"],
            "allOf": [{"$ref": "#/$defs/More"}],
            "$defs": {"More": {"properties": {"m": {}, "b": {}}}}
        }"##;
        assert_eq!(names(schema), ["a", "m", "z?", "b?"]);
    }

    #[test]
    fn references_are_followed_but_not_for_ever() {
        let document = Document::new(
            r##"{"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A~1b"}, "A/b": {"type": "string"}}}"##,
        );
        assert_eq!(document.schema().resolved().kinds(), [Kind::String]);
        let circle = Document::new(r##"{"$ref": "#"}"##);
        assert!(circle.schema().resolved().kinds().is_empty());
        let circle = Document::new(r##"{"allOf": [{"$ref": "#"}, {"$ref": "#"}]}"##);
        assert!(circle.schema().properties().is_empty());
    }

    #[test]
    fn types_are_told_or_implied() {
        let cases: [(&str, &[Kind]); 7] = [
            (r#"{"type": "integer"}"#, &[Kind::Integer]),
            (
                r#"{"type": ["null", "string"]}"#,
                &[Kind::Null, Kind::String],
            ),
            (r#"{"enum": ["a", 1, "b"]}"#, &[Kind::Integer, Kind::String]),
            (r#"{"properties": {}}"#, &[Kind::Object]),
            (r#"{"items": {}}"#, &[Kind::Array]),
            ("{}", &[]),
            ("not JSON", &[]),
        ];
        for (schema, kinds) in cases {
            assert_eq!(Document::new(schema).schema().kinds(), kinds, "{schema}");
        }
    }
}
