//! Reading a schema once, so that values need not be held against JSON.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Number, Value};

use super::{
    anchors,
    key::Options,
    keyword::{Keyword, Node, Own, Type},
    pattern::Pattern,
    refs,
    shown::Shown,
};

type Result<T> = std::result::Result<T, String>;

/// Keywords that would change what fits, and are not understood here.
const UNKNOWN: [&str; 6] = [
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "dependencies",
    "unevaluatedItems",
];

/// A document while it is read.
pub(super) struct Compiler<'a> {
    document: &'a Value,
    nodes: Vec<Vec<Keyword>>,
    /// Those that were read or are being read, by their JSON Pointers.
    known: HashMap<String, Node>,
}

/// A schema that is an object, and where it is.
struct Schema<'a> {
    members: &'a Map<String, Value>,
    pointer: &'a str,
}

impl<'a> Compiler<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        Self {
            document,
            nodes: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// Reads it all; the first of what it gives is the document itself.
    pub(super) fn compile(mut self) -> Result<Vec<Vec<Keyword>>> {
        self.node("")?;
        if refs::lead_back(&self.nodes) {
            return Err("it refers to itself without end".to_owned());
        }
        Ok(self.nodes)
    }

    /// The schema at a JSON Pointer.
    fn node(&mut self, pointer: &str) -> Result<Node> {
        if let Some(node) = self.known.get(pointer) {
            return Ok(*node);
        }
        let schema = self.document.pointer(pointer);
        let schema = schema.ok_or_else(|| format!("there is nothing at \"#{pointer}\""))?;
        let node = self.nodes.len();
        self.nodes.push(Vec::new());
        self.known.insert(pointer.to_owned(), node);
        self.nodes[node] = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Keyword::Own(Own::Never)],
            Value::Object(members) => self.keywords(&Schema { members, pointer }, node)?,
            other => return Err(format!("{} is not an object or a boolean", Shown(other))),
        };
        Ok(node)
    }

    /// The JSON Pointer of what a reference within the document leads to.
    fn local(&self, target: &str) -> Option<String> {
        let fragment = percent_decoded(target.strip_prefix('#')?)?;
        match fragment.is_empty() || fragment.starts_with('/') {
            true => Some(fragment),
            false => anchors::find(self.document, &fragment),
        }
    }

    fn keywords(&mut self, schema: &Schema<'_>, within: Node) -> Result<Vec<Keyword>> {
        if let Some(name) = UNKNOWN.iter().find(|it| schema.members.contains_key(**it)) {
            return Err(schema.fault(name, "is not supported"));
        }
        if !schema.pointer.is_empty() && schema.members.contains_key("$id") {
            return Err(schema.fault("$id", "is not supported below the top"));
        }
        let own = schema.own()?.into_iter().map(Keyword::Own);
        let mut keywords: Vec<Keyword> = own.collect();
        self.for_the_same(schema, &mut keywords)?;
        self.for_items(schema, &mut keywords)?;
        self.for_members(schema, &mut keywords)?;
        if let Some(node) = self.below(schema, "unevaluatedProperties")? {
            keywords.push(Keyword::Unevaluated { within, node });
        }
        Ok(keywords)
    }

    /// What holds the same value against other schemas.
    fn for_the_same(&mut self, schema: &Schema<'_>, keywords: &mut Vec<Keyword>) -> Result<()> {
        if let Some(target) = schema.members.get("$ref") {
            let pointer = target.as_str().and_then(|target| self.local(target));
            let fault = || schema.fault("$ref", "leads out of the schema");
            keywords.push(Keyword::Ref(self.node(&pointer.ok_or_else(fault)?)?));
        }
        if let Some(nodes) = self.list(schema, "allOf")? {
            keywords.push(Keyword::AllOf(nodes));
        }
        if let Some(nodes) = self.list(schema, "anyOf")? {
            keywords.push(Keyword::AnyOf(nodes));
        }
        if let Some(nodes) = self.list(schema, "oneOf")? {
            keywords.push(Keyword::OneOf(nodes));
        }
        if let Some(node) = self.below(schema, "not")? {
            let schema = schema.members["not"].clone();
            keywords.push(Keyword::Not(node, schema));
        }
        if let Some(condition) = self.below(schema, "if")? {
            let (then, otherwise) = (self.below(schema, "then")?, self.below(schema, "else")?);
            keywords.push(Keyword::If {
                condition,
                then,
                otherwise,
            });
        }
        if let Some(nodes) = self.named(schema, "dependentSchemas")? {
            keywords.push(Keyword::DependentSchemas(nodes));
        }
        Ok(())
    }

    fn for_items(&mut self, schema: &Schema<'_>, keywords: &mut Vec<Keyword>) -> Result<()> {
        // In older drafts these were `items` and `additionalItems`.
        let old = schema.members.get("items").is_some_and(Value::is_array);
        let (first, rest) = if old {
            ("items", "additionalItems")
        } else {
            ("prefixItems", "items")
        };
        let prefix = self.list(schema, first)?;
        let from = prefix.as_ref().map_or(0, Vec::len);
        keywords.extend(prefix.map(Keyword::PrefixItems));
        if let Some(node) = self.below(schema, rest)? {
            keywords.push(Keyword::Items(from, node));
        }
        if let Some(node) = self.below(schema, "contains")? {
            keywords.push(Keyword::Contains {
                node,
                least: schema.limit("minContains")?.unwrap_or(1),
                most: schema.limit("maxContains")?,
            });
        }
        Ok(())
    }

    fn for_members(&mut self, schema: &Schema<'_>, keywords: &mut Vec<Keyword>) -> Result<()> {
        let (mut names, mut patterns) = (BTreeSet::new(), Vec::new());
        if let Some(nodes) = self.named(schema, "properties")? {
            names.extend(nodes.iter().map(|(name, _)| name.clone()));
            keywords.push(Keyword::Properties(nodes));
        }
        if let Some(nodes) = self.named(schema, "patternProperties")? {
            let compiled = nodes.into_iter().map(|(pattern, node)| {
                let pattern = Pattern::new(&pattern)?;
                patterns.push(pattern.clone());
                Ok((pattern, node))
            });
            keywords.push(Keyword::PatternProperties(compiled.collect::<Result<_>>()?));
        }
        if let Some(node) = self.below(schema, "additionalProperties")? {
            keywords.push(Keyword::Additional {
                named: names,
                patterns,
                node,
            });
        }
        if let Some(node) = self.below(schema, "propertyNames")? {
            keywords.push(Keyword::PropertyNames(node));
        }
        Ok(())
    }

    /// The schema that is the value of a member.
    fn below(&mut self, schema: &Schema<'_>, key: &str) -> Result<Option<Node>> {
        if !schema.members.contains_key(key) {
            return Ok(None);
        }
        self.node(&format!("{}/{key}", schema.pointer)).map(Some)
    }

    /// The schemas in the array that is the value of a member.
    fn list(&mut self, schema: &Schema<'_>, key: &str) -> Result<Option<Vec<Node>>> {
        let Some(list) = schema.members.get(key) else {
            return Ok(None);
        };
        let list = list.as_array().filter(|list| !list.is_empty());
        let list = list.ok_or_else(|| schema.fault(key, "must be an array of schemas"))?;
        let pointers = (0..list.len()).map(|at| format!("{}/{key}/{at}", schema.pointer));
        let nodes: Result<_> = pointers.map(|pointer| self.node(&pointer)).collect();
        nodes.map(Some)
    }

    /// The schemas in the object that is the value of a member.
    fn named(&mut self, schema: &Schema<'_>, key: &str) -> Result<Option<Vec<(String, Node)>>> {
        let Some(members) = schema.members.get(key) else {
            return Ok(None);
        };
        let members = members.as_object();
        let members = members.ok_or_else(|| schema.fault(key, "must be an object"))?;
        let nodes: Result<_> = members
            .keys()
            .map(|name| {
                let step = anchors::step(name);
                let node = self.node(&format!("{}/{key}/{step}", schema.pointer))?;
                Ok((name.clone(), node))
            })
            .collect();
        nodes.map(Some)
    }
}

impl Schema<'_> {
    /// All that needs no other schema, what is cheap or tells most first.
    fn own(&self) -> Result<Vec<Own>> {
        let mut own = Vec::new();
        own.extend(self.types()?.map(Own::Types));
        own.extend(self.members.get("const").cloned().map(Own::Const));
        own.extend(self.array("enum")?.map(Options::new).map(Own::Enum));
        own.extend(self.number("minimum")?.map(Own::Minimum));
        own.extend(self.number("maximum")?.map(Own::Maximum));
        own.extend(self.number("exclusiveMinimum")?.map(Own::ExclusiveMinimum));
        own.extend(self.number("exclusiveMaximum")?.map(Own::ExclusiveMaximum));
        if let Some(of) = self.number("multipleOf")? {
            if of.as_f64().is_none_or(|of| of <= 0.0) {
                return Err(self.fault("multipleOf", "must be greater than 0"));
            }
            own.push(Own::MultipleOf(of));
        }
        own.extend(self.limit("minLength")?.map(Own::MinLength));
        own.extend(self.limit("maxLength")?.map(Own::MaxLength));
        if let Some(pattern) = self.members.get("pattern") {
            let pattern = pattern.as_str();
            let pattern = pattern.ok_or_else(|| self.fault("pattern", "must be a string"))?;
            own.push(Own::Pattern(Pattern::new(pattern)?));
        }
        own.extend(self.limit("minItems")?.map(Own::MinItems));
        own.extend(self.limit("maxItems")?.map(Own::MaxItems));
        match self.members.get("uniqueItems") {
            Some(Value::Bool(true)) => own.push(Own::UniqueItems),
            None | Some(Value::Bool(false)) => {}
            Some(_) => return Err(self.fault("uniqueItems", "must be a boolean")),
        }
        own.extend(self.limit("minProperties")?.map(Own::MinProperties));
        own.extend(self.limit("maxProperties")?.map(Own::MaxProperties));
        if let Some(names) = self.members.get("required") {
            let names = self.names("required", names)?;
            own.extend(names.into_iter().map(Own::Required));
        }
        if let Some(dependent) = self.members.get("dependentRequired") {
            let fault = || self.fault("dependentRequired", "must be an object");
            for (name, others) in dependent.as_object().ok_or_else(fault)? {
                let others = self.names("dependentRequired", others)?;
                own.push(Own::DependentRequired(name.clone(), others));
            }
        }
        Ok(own)
    }

    fn types(&self) -> Result<Option<Vec<Type>>> {
        let names = match self.members.get("type") {
            None => return Ok(None),
            Some(Value::String(name)) => vec![name.clone()],
            Some(names) => self.names("type", names)?,
        };
        let types: Option<Vec<Type>> = names.iter().map(|name| Type::named(name)).collect();
        let fault = || self.fault("type", "must be a type, or an array of them");
        let types = types.filter(|types| !types.is_empty());
        let types = types.ok_or_else(fault)?;
        // By their names. There are few, so no sort needs to be compiled for it.
        let alike = |kind| types.iter().copied().filter(move |it| *it == kind);
        Ok(Some(Type::ALL.into_iter().flat_map(alike).collect()))
    }

    fn names(&self, key: &str, names: &Value) -> Result<Vec<String>> {
        let names = names.as_array().map(|names| {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<Vec<String>>>()
        });
        let fault = || self.fault(key, "must be an array of strings");
        names.flatten().ok_or_else(fault)
    }

    fn array(&self, key: &str) -> Result<Option<&[Value]>> {
        match self.members.get(key) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.fault(key, "must be an array")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<Number>> {
        match self.members.get(key) {
            None => Ok(None),
            Some(Value::Number(number)) => Ok(Some(number.clone())),
            Some(_) => Err(self.fault(key, "must be a number")),
        }
    }

    /// A limit on how many there may be; `2.0` is one, too.
    fn limit(&self, key: &str) -> Result<Option<u64>> {
        let Some(number) = self.number(key)? else {
            return Ok(None);
        };
        let whole = |float: f64| (float >= 0.0 && float.fract() == 0.0).then_some(float as u64);
        let limit = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        let fault = || self.fault(key, "must be a whole number that is not negative");
        limit.ok_or_else(fault).map(Some)
    }

    fn fault(&self, key: &str, what: &str) -> String {
        format!("at \"#{}\": `{key}` {what}", self.pointer)
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok()
}
