//! Compilation of a schema, so that checks do not read its JSON.

use std::{collections::HashMap, ptr, sync::Arc};

use serde_json::Value;

use super::{
    display::{TruncatedJson, quoted},
    json_type::Types,
    keyword::{Keyword, Node, Schema, ValueKeyword, WholeKeyword, to_u64},
    member_table::MemberTable,
    options::ValidatorOptions,
    pattern::Pattern,
    pointer::pointer_to,
    recursion,
    resources::{Place, ResourceId, Resources},
    schema_reader::SchemaReader,
    uri::split_fragment,
};

type Result<T> = std::result::Result<T, String>;

/// Keywords of older drafts that would change which values are valid, and are not
/// supported.
const UNSUPPORTED: [&str; 2] = ["$recursiveAnchor", "$recursiveRef"];

/// How deep a schema may be nested. Parts of it are copied and compared recursively.
const MAX_SCHEMA_DEPTH: usize = 2048;

/// The maximum number of states of all patterns together. A few characters may have
/// hundreds of thousands.
const MAX_PATTERN_STATES: u64 = 1_000_000;

/// A document while it is compiled.
pub(super) struct Compiler<'a> {
    document: &'a Value,
    options: ValidatorOptions,
    resources: Resources<'a>,
    compiled: Compiled,
    /// The schemas that are compiled or waiting, by address.
    by_address: HashMap<(*const Value, Role), Node>,
    /// The schemas that are not compiled yet. A queue instead of recursion: a
    /// document may be deep, or have a long chain of references.
    waiting: Vec<(Node, Place<'a>, Role)>,
    /// The schemas with a dynamic anchor, by its name. Shared by all references.
    candidates: HashMap<(&'a str, Role), Arc<HashMap<ResourceId, Node>>>,
    pattern_states: u64,
}

/// All schemas of a document. They refer to each other by index; the first is the
/// document itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    pub(super) nodes: Vec<Schema>,
    /// The resource of each schema, if there are dynamic references.
    pub(super) resources: Vec<ResourceId>,
}

/// What a schema is checked for. A schema may be compiled once for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// As the draft has it: always, without options, and in conditions, since options
    /// would invert their results.
    Exact,
    /// The first of all schemas for a value, with options.
    Whole,
    /// Another schema for the same value, with options.
    Part,
}

impl Role {
    /// The role of a schema for the same value.
    fn in_place(self) -> Self {
        match self {
            Self::Exact => Self::Exact,
            Self::Whole | Self::Part => Self::Part,
        }
    }

    /// The role of a schema for an item or a member.
    fn child(self) -> Self {
        match self {
            Self::Exact => Self::Exact,
            Self::Whole | Self::Part => Self::Whole,
        }
    }
}

/// A schema that is compiled at the moment.
struct Current<'a> {
    schema: SchemaReader<'a>,
    node: Node,
    role: Role,
}

impl<'a> Compiler<'a> {
    /// # Errors
    ///
    /// Returns an error if the document is nested too deep.
    pub(super) fn new(document: &'a Value, options: ValidatorOptions) -> Result<Self> {
        check_depth(document)?;
        Ok(Self {
            document,
            options,
            resources: Resources::new(document),
            compiled: Compiled::default(),
            by_address: HashMap::new(),
            waiting: Vec::new(),
            candidates: HashMap::new(),
            pattern_states: 0,
        })
    }

    /// Compiles everything.
    pub(super) fn compile(mut self) -> Result<Compiled> {
        let role = match self.options.change_validity() {
            true => Role::Whole,
            false => Role::Exact,
        };
        self.add(self.resources.document(), role);
        while let Some((node, place, role)) = self.waiting.pop() {
            self.compiled.nodes[node] = self.schema(place, node, role)?;
        }
        recursion::check(&self.compiled.nodes)?;
        let is_dynamic = |keyword: &Keyword| matches!(keyword, Keyword::DynamicRef { .. });
        let mut keywords = self.compiled.nodes.iter().flat_map(|it| &it.keywords);
        if !keywords.any(is_dynamic) {
            self.compiled.resources.clear();
        }
        Ok(self.compiled)
    }

    /// Returns a schema, which is compiled later if it is new.
    fn add(&mut self, place: Place<'a>, role: Role) -> Node {
        let node = self.compiled.nodes.len();
        let key = (ptr::from_ref(place.schema), role);
        let known = *self.by_address.entry(key).or_insert(node);
        if known == node {
            self.compiled.nodes.push(Schema::any());
            self.compiled.resources.push(place.resource);
            self.waiting.push((node, place, role));
        }
        known
    }

    /// Compiles a schema.
    fn schema(&mut self, place: Place<'a>, node: Node, role: Role) -> Result<Schema> {
        match place.schema {
            Value::Bool(true) => Ok(Schema::any()),
            Value::Bool(false) => Ok(Schema::never()),
            Value::Object(_) if role == Role::Whole => {
                let whole = Keyword::Whole(WholeKeyword {
                    part: self.add(place, Role::Part),
                    rejects_undeclared: self.options.rejects_undeclared,
                });
                Ok(Schema {
                    keywords: vec![whole],
                    is_leaf: false,
                    steps: 2,
                    ..Schema::any()
                })
            }
            Value::Object(members) => {
                let schema = SchemaReader::new(members, place, self.document);
                self.keywords(&Current { schema, node, role })
            }
            other => {
                let pointer = pointer_to(self.document, other);
                let what = TruncatedJson(other);
                Err(format!(
                    "at \"#{pointer}\": {what} is not an object or a boolean"
                ))
            }
        }
    }

    fn keywords(&mut self, current: &Current<'a>) -> Result<Schema> {
        let (schema, parent) = (&current.schema, current.node);
        if let Some(name) = UNSUPPORTED.iter().find(|it| schema.get(it).is_some()) {
            return Err(schema.error(name, "is not supported"));
        }
        let types = schema.types()?;
        let mut values = schema.value_keywords(self.options.asserts_formats)?;
        for keyword in &values {
            if let ValueKeyword::Pattern(pattern) = keyword {
                self.count_pattern(schema, "pattern", pattern)?;
            }
        }
        let members = self.member_table(current)?;
        let mut keywords = Vec::new();
        self.in_place_applicators(current, &mut keywords)?;
        self.legacy_dependencies(current, &mut values, &mut keywords)?;
        self.item_keywords(current, &mut keywords)?;
        if let Some(node) = self.subschema(schema, "propertyNames", Role::Exact) {
            keywords.push(Keyword::PropertyNames(node));
        }
        let child = current.role.child();
        if let Some(node) = self.subschema(schema, "unevaluatedItems", child) {
            keywords.push(Keyword::UnevaluatedItems { parent, node });
        }
        if let Some(node) = self.subschema(schema, "unevaluatedProperties", child) {
            keywords.push(Keyword::UnevaluatedProperties { parent, node });
        }
        let names = members.as_ref().map_or(0, |table| table.required.len() + 3);
        let count = usize::from(types.is_some()) + values.len() + names + keywords.len();
        Ok(Schema {
            types: types.unwrap_or(Types::ANY),
            is_leaf: members.is_none() && keywords.is_empty(),
            values,
            members,
            keywords,
            has_default: current.role != Role::Exact && schema.get("default").is_some(),
            steps: to_u64(1 + count),
        })
    }

    /// Compiles the keywords about the members of an object.
    fn member_table(&mut self, current: &Current<'a>) -> Result<Option<Box<MemberTable>>> {
        let (schema, role) = (&current.schema, current.role.child());
        let required = schema.get("required");
        let required = required.map(|names| schema.names("required", names));
        let required = required.transpose()?;
        let properties = self.named_subschemas(schema, "properties", role)?;
        let patterns = self.named_subschemas(schema, "patternProperties", role)?;
        let additional = self.subschema(schema, "additionalProperties", role);
        let is_complete = patterns.is_some() || additional.is_some();
        if required.is_none() && properties.is_none() && !is_complete {
            return Ok(None);
        }
        let has_option = current.role != Role::Exact && self.options.accepts_missing_defaults;
        let mut table = MemberTable::new(
            properties.unwrap_or_default(),
            &required.unwrap_or_default(),
        );
        table.unless_default_in = has_option.then_some(current.node);
        table.additional = additional;
        table.is_complete = is_complete;
        let is_false = |value: &Value| *value == Value::Bool(false);
        let allows_none = schema.get("additionalProperties").is_some_and(is_false);
        table.is_closed = allows_none && patterns.is_none();
        for (pattern, node) in patterns.into_iter().flatten() {
            let pattern = Pattern::new(&pattern)?;
            self.count_pattern(schema, "patternProperties", &pattern)?;
            table.patterns.push((pattern, node));
        }
        Ok(Some(Box::new(table)))
    }

    /// Compiles the keywords that apply other schemas to the same value.
    fn in_place_applicators(
        &mut self,
        current: &Current<'a>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let (schema, role) = (&current.schema, current.role.in_place());
        if let Some((_, target)) = self.reference(schema, "$ref", role)? {
            keywords.push(Keyword::Ref(target));
        }
        if let Some((reference, target)) = self.reference(schema, "$dynamicRef", role)? {
            keywords.push(self.dynamic_reference(reference, target, role));
        }
        if let Some(nodes) = self.subschema_list(schema, "allOf", role)? {
            keywords.push(Keyword::AllOf(nodes));
        }
        if let Some(nodes) = self.subschema_list(schema, "anyOf", role)? {
            keywords.push(Keyword::AnyOf(nodes));
        }
        if let Some(nodes) = self.subschema_list(schema, "oneOf", role)? {
            keywords.push(match role {
                Role::Exact => Keyword::OneOf(nodes),
                Role::Whole | Role::Part => {
                    let exact = self.subschema_list(schema, "oneOf", Role::Exact)?;
                    let exact = exact.unwrap_or_default();
                    Keyword::OneOfWithOptions { nodes, exact }
                }
            });
        }
        if let Some(inner) = schema.get("not") {
            let place = self.resources.inside(schema.place, inner);
            let written = TruncatedJson(inner).to_string();
            keywords.push(Keyword::Not(self.add(place, Role::Exact), written));
        }
        if let Some(condition) = self.subschema(schema, "if", Role::Exact) {
            keywords.push(Keyword::If {
                condition,
                then: self.subschema(schema, "then", role),
                otherwise: self.subschema(schema, "else", role),
            });
        }
        if let Some(nodes) = self.named_subschemas(schema, "dependentSchemas", role)? {
            keywords.push(Keyword::DependentSchemas(nodes));
        }
        Ok(())
    }

    /// Compiles `dependencies` of older drafts: names or schemas.
    fn legacy_dependencies(
        &mut self,
        current: &Current<'a>,
        values: &mut Vec<ValueKeyword>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let (schema, role) = (&current.schema, current.role.in_place());
        let Some(dependencies) = schema.get("dependencies") else {
            return Ok(());
        };
        let fault = || schema.error("dependencies", "must be an object");
        for (name, dependency) in dependencies.as_object().ok_or_else(fault)? {
            if dependency.is_array() {
                let names = schema.names("dependencies", dependency)?;
                values.push(ValueKeyword::DependentRequired(name.clone(), names));
            } else {
                let place = self.resources.inside(schema.place, dependency);
                let schemas = vec![(name.clone(), self.add(place, role))];
                keywords.push(Keyword::DependentSchemas(schemas));
            }
        }
        Ok(())
    }

    /// Returns a reference and the schema that it names.
    fn reference(
        &mut self,
        schema: &SchemaReader<'a>,
        key: &str,
        role: Role,
    ) -> Result<Option<(&'a str, Node)>> {
        let Some(reference) = schema.get(key) else {
            return Ok(None);
        };
        let reference = reference.as_str();
        let reference = reference.ok_or_else(|| schema.error(key, "must be a string"))?;
        let target = self.resources.resolve(schema.place.resource, reference);
        let target =
            target.map_err(|why| schema.error(key, &format!("{why}: {}", quoted(reference))))?;
        Ok(Some((reference, self.add(target, role))))
    }

    /// A dynamic reference is an ordinary one, unless it names a dynamic anchor.
    fn dynamic_reference(&mut self, reference: &'a str, target: Node, role: Role) -> Keyword {
        let (_, anchor) = split_fragment(reference);
        let candidates = match self.candidates.get(&(anchor, role)) {
            Some(known) => Arc::clone(known),
            None => {
                let places = self.resources.dynamic_anchors(anchor).to_vec();
                let candidates = places.into_iter();
                let candidates = candidates.map(|it| (it.resource, self.add(it, role)));
                let candidates = Arc::new(candidates.collect::<HashMap<_, _>>());
                let shared = Arc::clone(&candidates);
                self.candidates.insert((anchor, role), shared);
                candidates
            }
        };
        let resource = self.compiled.resources[target];
        match candidates.get(&resource) == Some(&target) {
            true => Keyword::DynamicRef { target, candidates },
            false => Keyword::Ref(target),
        }
    }

    fn item_keywords(&mut self, current: &Current<'a>, keywords: &mut Vec<Keyword>) -> Result<()> {
        let (schema, role) = (&current.schema, current.role.child());
        // In older drafts these were `items` and `additionalItems`.
        let is_legacy = schema.get("items").is_some_and(Value::is_array);
        let (first, rest) = if is_legacy {
            ("items", "additionalItems")
        } else {
            ("prefixItems", "items")
        };
        let prefix = self.subschema_list(schema, first, role)?;
        let from = prefix.as_ref().map_or(0, Vec::len);
        keywords.extend(prefix.map(Keyword::PrefixItems));
        if let Some(node) = self.subschema(schema, rest, role) {
            keywords.push(Keyword::Items(from, node));
        }
        if let Some(node) = self.subschema(schema, "contains", Role::Exact) {
            keywords.push(Keyword::Contains {
                node,
                min: schema.limit("minContains")?.unwrap_or(1),
                max: schema.limit("maxContains")?,
            });
        }
        Ok(())
    }

    /// Compiles the schema that is the value of a member.
    fn subschema(&mut self, schema: &SchemaReader<'a>, key: &str, role: Role) -> Option<Node> {
        let inner = schema.get(key)?;
        Some(self.add(self.resources.inside(schema.place, inner), role))
    }

    /// Compiles the schemas in the array that is the value of a member.
    fn subschema_list(
        &mut self,
        schema: &SchemaReader<'a>,
        key: &str,
        role: Role,
    ) -> Result<Option<Vec<Node>>> {
        let Some(list) = schema.get(key) else {
            return Ok(None);
        };
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| schema.error(key, "must be an array of schemas"))?;
        let places = list.iter().map(|inner| (schema.place, inner));
        let add = |(outer, inner)| self.add(self.resources.inside(outer, inner), role);
        Ok(Some(places.map(add).collect()))
    }

    /// Compiles the schemas in the object that is the value of a member.
    fn named_subschemas(
        &mut self,
        schema: &SchemaReader<'a>,
        key: &str,
        role: Role,
    ) -> Result<Option<Vec<(String, Node)>>> {
        let Some(members) = schema.get(key) else {
            return Ok(None);
        };
        let members = members.as_object();
        let members = members.ok_or_else(|| schema.error(key, "must be an object"))?;
        let add = |(name, inner): (&String, &'a Value)| {
            let place = self.resources.inside(schema.place, inner);
            (name.clone(), self.add(place, role))
        };
        Ok(Some(members.iter().map(add).collect()))
    }

    /// Counts a pattern, which is compiled, so that all of them together have a limit.
    fn count_pattern(
        &mut self,
        schema: &SchemaReader<'a>,
        key: &str,
        pattern: &Pattern,
    ) -> Result<()> {
        self.pattern_states = self.pattern_states.saturating_add(pattern.states());
        match self.pattern_states > MAX_PATTERN_STATES {
            true => Err(schema.error(key, "is too large, with the patterns before it")),
            false => Ok(()),
        }
    }
}

/// Checks that a document is not nested too deep, without recursion.
fn check_depth(document: &Value) -> Result<()> {
    let mut pending = vec![(document, 1)];
    while let Some((value, depth)) = pending.pop() {
        if depth > MAX_SCHEMA_DEPTH {
            return Err(format!(
                "it is nested more than {MAX_SCHEMA_DEPTH} levels deep"
            ));
        }
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    Ok(())
}
