//! Compilation of a schema, so that checks do not read its JSON.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Number, Value};

use super::{
    display::TruncatedJson,
    hashed::EnumValues,
    keyword::{Keyword, Node, Type, ValueKeyword},
    pattern::Pattern,
    recursion,
    resources::{ResourceId, Resources, escape_token},
    uri::split_fragment,
};

type Result<T> = std::result::Result<T, String>;

/// Keywords of older drafts that would change which values are valid, and are not
/// supported.
const UNSUPPORTED: [&str; 2] = ["$recursiveAnchor", "$recursiveRef"];

/// A document while it is compiled.
pub(super) struct Compiler<'a> {
    document: &'a Value,
    resources: Resources,
    compiled: Compiled,
    /// The schemas that are compiled or waiting, by JSON Pointer.
    by_pointer: HashMap<String, Node>,
    /// The schemas that are not compiled yet. A queue instead of recursion: a
    /// document may be deep, or have a long chain of references.
    waiting: Vec<(Node, String)>,
}

/// All schemas of a document. They refer to each other by index; the first is the
/// document itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Compiled {
    pub(super) nodes: Vec<Vec<Keyword>>,
    /// The resource of each schema, if there are dynamic references.
    pub(super) resources: Vec<ResourceId>,
}

/// A schema that is an object, and its location.
struct Schema<'a> {
    members: &'a Map<String, Value>,
    pointer: &'a str,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self {
            document,
            resources: Resources::new(document),
            compiled: Compiled::default(),
            by_pointer: HashMap::new(),
            waiting: Vec::new(),
        }
    }

    /// Compiles everything.
    pub(super) fn compile(mut self) -> Result<Compiled> {
        self.add(String::new());
        while let Some((node, pointer)) = self.waiting.pop() {
            self.compiled.nodes[node] = self.schema(&pointer, node)?;
        }
        recursion::check(&self.compiled.nodes)?;
        let is_dynamic = |keyword: &Keyword| matches!(keyword, Keyword::DynamicRef { .. });
        if !self.compiled.nodes.iter().flatten().any(is_dynamic) {
            self.compiled.resources.clear();
        }
        Ok(self.compiled)
    }

    /// Returns the schema at a JSON Pointer, which is compiled later if it is new.
    fn add(&mut self, pointer: String) -> Node {
        if let Some(node) = self.by_pointer.get(&pointer) {
            return *node;
        }
        let node = self.compiled.nodes.len();
        self.compiled.nodes.push(Vec::new());
        let resource = self.resources.containing(&pointer);
        self.compiled.resources.push(resource);
        self.by_pointer.insert(pointer.clone(), node);
        self.waiting.push((node, pointer));
        node
    }

    /// Compiles the schema at a JSON Pointer.
    fn schema(&mut self, pointer: &str, node: Node) -> Result<Vec<Keyword>> {
        let schema = self.document.pointer(pointer);
        let schema = schema.ok_or_else(|| format!("\"#{pointer}\" does not exist"))?;
        match schema {
            Value::Bool(true) => Ok(Vec::new()),
            Value::Bool(false) => Ok(vec![Keyword::Value(ValueKeyword::Never)]),
            Value::Object(members) => self.keywords(&Schema { members, pointer }, node),
            other => Err(format!(
                "{} is not an object or a boolean",
                TruncatedJson(other)
            )),
        }
    }

    fn keywords(&mut self, schema: &Schema<'_>, parent: Node) -> Result<Vec<Keyword>> {
        if let Some(name) = UNSUPPORTED
            .iter()
            .find(|it| schema.members.contains_key(**it))
        {
            return Err(schema.error(name, "is not supported"));
        }
        let value_keywords = schema.value_keywords()?.into_iter().map(Keyword::Value);
        let mut keywords: Vec<Keyword> = value_keywords.collect();
        self.in_place_applicators(schema, &mut keywords)?;
        self.item_keywords(schema, &mut keywords)?;
        self.property_keywords(schema, &mut keywords)?;
        if let Some(node) = self.subschema(schema, "unevaluatedItems") {
            keywords.push(Keyword::UnevaluatedItems { parent, node });
        }
        if let Some(node) = self.subschema(schema, "unevaluatedProperties") {
            keywords.push(Keyword::UnevaluatedProperties { parent, node });
        }
        Ok(keywords)
    }

    /// Compiles the keywords that apply other schemas to the same value.
    fn in_place_applicators(
        &mut self,
        schema: &Schema<'_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        if let Some((_, target)) = self.reference(schema, "$ref")? {
            keywords.push(Keyword::Ref(target));
        }
        if let Some((reference, target)) = self.reference(schema, "$dynamicRef")? {
            keywords.push(self.dynamic_reference(reference, target));
        }
        if let Some(nodes) = self.subschema_list(schema, "allOf")? {
            keywords.push(Keyword::AllOf(nodes));
        }
        if let Some(nodes) = self.subschema_list(schema, "anyOf")? {
            keywords.push(Keyword::AnyOf(nodes));
        }
        if let Some(nodes) = self.subschema_list(schema, "oneOf")? {
            keywords.push(Keyword::OneOf(nodes));
        }
        if let Some(node) = self.subschema(schema, "not") {
            let schema = schema.members["not"].clone();
            keywords.push(Keyword::Not(node, schema));
        }
        if let Some(condition) = self.subschema(schema, "if") {
            let (then, otherwise) = (
                self.subschema(schema, "then"),
                self.subschema(schema, "else"),
            );
            keywords.push(Keyword::If {
                condition,
                then,
                otherwise,
            });
        }
        if let Some(nodes) = self.named_subschemas(schema, "dependentSchemas")? {
            keywords.push(Keyword::DependentSchemas(nodes));
        }
        self.legacy_dependencies(schema, keywords)
    }

    /// Compiles `dependencies` of older drafts: names or schemas.
    fn legacy_dependencies(
        &mut self,
        schema: &Schema<'_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let Some(dependencies) = schema.members.get("dependencies") else {
            return Ok(());
        };
        let fault = || schema.error("dependencies", "must be an object");
        for (name, dependency) in dependencies.as_object().ok_or_else(fault)? {
            keywords.push(if dependency.is_array() {
                let names = schema.names("dependencies", dependency)?;
                Keyword::Value(ValueKeyword::DependentRequired(name.clone(), names))
            } else {
                let step = escape_token(name);
                let node = self.add(format!("{}/dependencies/{step}", schema.pointer));
                Keyword::DependentSchemas(vec![(name.clone(), node)])
            });
        }
        Ok(())
    }

    /// Returns a reference and the schema that it names.
    fn reference<'s>(&mut self, schema: &Schema<'s>, key: &str) -> Result<Option<(&'s str, Node)>> {
        let Some(reference) = schema.members.get(key) else {
            return Ok(None);
        };
        let reference = reference.as_str();
        let reference = reference.ok_or_else(|| schema.error(key, "must be a string"))?;
        let from = self.resources.containing(schema.pointer);
        let target = self.resources.resolve(from, reference);
        let target = target.ok_or_else(|| schema.error(key, "refers outside of the schema"))?;
        Ok(Some((reference, self.add(target))))
    }

    /// A dynamic reference is an ordinary one, unless it names a dynamic anchor.
    fn dynamic_reference(&mut self, reference: &str, target: Node) -> Keyword {
        let (_, anchor) = split_fragment(reference);
        let candidates = self.resources.dynamic_anchors(anchor);
        let candidates: Vec<_> = candidates
            .into_iter()
            .map(|(resource, pointer)| (resource, self.add(pointer)))
            .collect();
        match candidates.iter().any(|(_, node)| *node == target) {
            true => Keyword::DynamicRef { target, candidates },
            false => Keyword::Ref(target),
        }
    }

    fn item_keywords(&mut self, schema: &Schema<'_>, keywords: &mut Vec<Keyword>) -> Result<()> {
        // In older drafts these were `items` and `additionalItems`.
        let is_legacy = schema.members.get("items").is_some_and(Value::is_array);
        let (first, rest) = if is_legacy {
            ("items", "additionalItems")
        } else {
            ("prefixItems", "items")
        };
        let prefix = self.subschema_list(schema, first)?;
        let from = prefix.as_ref().map_or(0, Vec::len);
        keywords.extend(prefix.map(Keyword::PrefixItems));
        if let Some(node) = self.subschema(schema, rest) {
            keywords.push(Keyword::Items(from, node));
        }
        if let Some(node) = self.subschema(schema, "contains") {
            keywords.push(Keyword::Contains {
                node,
                min: schema.limit("minContains")?.unwrap_or(1),
                max: schema.limit("maxContains")?,
            });
        }
        Ok(())
    }

    fn property_keywords(
        &mut self,
        schema: &Schema<'_>,
        keywords: &mut Vec<Keyword>,
    ) -> Result<()> {
        let (mut names, mut patterns) = (BTreeSet::new(), Vec::new());
        if let Some(nodes) = self.named_subschemas(schema, "properties")? {
            names.extend(nodes.iter().map(|(name, _)| name.clone()));
            keywords.push(Keyword::Properties(nodes));
        }
        if let Some(nodes) = self.named_subschemas(schema, "patternProperties")? {
            let compiled = nodes.into_iter().map(|(pattern, node)| {
                let pattern = Pattern::new(&pattern)?;
                patterns.push(pattern.clone());
                Ok((pattern, node))
            });
            keywords.push(Keyword::PatternProperties(compiled.collect::<Result<_>>()?));
        }
        if let Some(node) = self.subschema(schema, "additionalProperties") {
            keywords.push(Keyword::Additional {
                named: names,
                patterns,
                node,
            });
        }
        if let Some(node) = self.subschema(schema, "propertyNames") {
            keywords.push(Keyword::PropertyNames(node));
        }
        Ok(())
    }

    /// Compiles the schema that is the value of a member.
    fn subschema(&mut self, schema: &Schema<'_>, key: &str) -> Option<Node> {
        let is_there = schema.members.contains_key(key);
        is_there.then(|| self.add(format!("{}/{key}", schema.pointer)))
    }

    /// Compiles the schemas in the array that is the value of a member.
    fn subschema_list(&mut self, schema: &Schema<'_>, key: &str) -> Result<Option<Vec<Node>>> {
        let Some(list) = schema.members.get(key) else {
            return Ok(None);
        };
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| schema.error(key, "must be an array of schemas"))?;
        let pointers = (0..list.len()).map(|at| format!("{}/{key}/{at}", schema.pointer));
        Ok(Some(pointers.map(|pointer| self.add(pointer)).collect()))
    }

    /// Compiles the schemas in the object that is the value of a member.
    fn named_subschemas(
        &mut self,
        schema: &Schema<'_>,
        key: &str,
    ) -> Result<Option<Vec<(String, Node)>>> {
        let Some(members) = schema.members.get(key) else {
            return Ok(None);
        };
        let members = members.as_object();
        let members = members.ok_or_else(|| schema.error(key, "must be an object"))?;
        let add = |name: &String| {
            let step = escape_token(name);
            let node = self.add(format!("{}/{key}/{step}", schema.pointer));
            (name.clone(), node)
        };
        Ok(Some(members.keys().map(add).collect()))
    }
}

impl Schema<'_> {
    /// Returns all keywords that need no other schema, those that are cheap or
    /// most informative first.
    fn value_keywords(&self) -> Result<Vec<ValueKeyword>> {
        let mut keywords = Vec::new();
        keywords.extend(self.types()?.map(ValueKeyword::Types));
        keywords.extend(self.members.get("const").cloned().map(ValueKeyword::Const));
        keywords.extend(
            self.array("enum")?
                .map(EnumValues::new)
                .map(ValueKeyword::Enum),
        );
        keywords.extend(self.number("minimum")?.map(ValueKeyword::Minimum));
        keywords.extend(self.number("maximum")?.map(ValueKeyword::Maximum));
        keywords.extend(
            self.number("exclusiveMinimum")?
                .map(ValueKeyword::ExclusiveMinimum),
        );
        keywords.extend(
            self.number("exclusiveMaximum")?
                .map(ValueKeyword::ExclusiveMaximum),
        );
        if let Some(divisor) = self.number("multipleOf")? {
            if divisor.as_f64().is_none_or(|divisor| divisor <= 0.0) {
                return Err(self.error("multipleOf", "must be greater than 0"));
            }
            keywords.push(ValueKeyword::MultipleOf(divisor));
        }
        keywords.extend(self.limit("minLength")?.map(ValueKeyword::MinLength));
        keywords.extend(self.limit("maxLength")?.map(ValueKeyword::MaxLength));
        if let Some(pattern) = self.members.get("pattern") {
            let pattern = pattern.as_str();
            let pattern = pattern.ok_or_else(|| self.error("pattern", "must be a string"))?;
            keywords.push(ValueKeyword::Pattern(Pattern::new(pattern)?));
        }
        keywords.extend(self.limit("minItems")?.map(ValueKeyword::MinItems));
        keywords.extend(self.limit("maxItems")?.map(ValueKeyword::MaxItems));
        match self.members.get("uniqueItems") {
            Some(Value::Bool(true)) => keywords.push(ValueKeyword::UniqueItems),
            None | Some(Value::Bool(false)) => {}
            Some(_) => return Err(self.error("uniqueItems", "must be a boolean")),
        }
        keywords.extend(
            self.limit("minProperties")?
                .map(ValueKeyword::MinProperties),
        );
        keywords.extend(
            self.limit("maxProperties")?
                .map(ValueKeyword::MaxProperties),
        );
        if let Some(names) = self.members.get("required") {
            let names = self.names("required", names)?;
            keywords.extend(names.into_iter().map(ValueKeyword::Required));
        }
        if let Some(dependent) = self.members.get("dependentRequired") {
            let fault = || self.error("dependentRequired", "must be an object");
            for (name, others) in dependent.as_object().ok_or_else(fault)? {
                let others = self.names("dependentRequired", others)?;
                keywords.push(ValueKeyword::DependentRequired(name.clone(), others));
            }
        }
        Ok(keywords)
    }

    fn types(&self) -> Result<Option<Vec<Type>>> {
        let names = match self.members.get("type") {
            None => return Ok(None),
            Some(Value::String(name)) => vec![name.clone()],
            Some(names) => self.names("type", names)?,
        };
        let types: Option<Vec<Type>> = names.iter().map(|name| Type::from_name(name)).collect();
        let fault = || self.error("type", "must be a type, or an array of them");
        let types = types.filter(|types| !types.is_empty());
        let types = types.ok_or_else(fault)?;
        // In the order of their names. There are few, so no sort needs to be
        // compiled for it.
        let same_kind = |kind| types.iter().copied().filter(move |it| *it == kind);
        Ok(Some(Type::ALL.into_iter().flat_map(same_kind).collect()))
    }

    fn names(&self, key: &str, names: &Value) -> Result<Vec<String>> {
        let names = names.as_array().map(|names| {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<Vec<String>>>()
        });
        let fault = || self.error(key, "must be an array of strings");
        names.flatten().ok_or_else(fault)
    }

    fn array(&self, key: &str) -> Result<Option<&[Value]>> {
        match self.members.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.error(key, "must be an array")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<Number>> {
        match self.members.get(key) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(self.error(key, "must be a number")),
        }
    }

    /// Parses a count; `2.0` is one too.
    fn limit(&self, key: &str) -> Result<Option<u64>> {
        let Some(number) = self.number(key)? else {
            return Ok(None);
        };
        let whole = |float: f64| (float >= 0.0 && float.fract() == 0.0).then_some(float as u64);
        let limit = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        let fault = || self.error(key, "must be a non-negative integer");
        limit.ok_or_else(fault).map(Some)
    }

    fn error(&self, key: &str, what: &str) -> String {
        format!("at \"#{}\": `{key}` {what}", self.pointer)
    }
}
