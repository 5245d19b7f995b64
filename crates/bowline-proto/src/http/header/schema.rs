//! `x-mcp-header`: the arguments that a tool's schema marks for mirroring.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use memchr::memmem;
use serde_json::{Map, Value};

use super::name::MCP_PARAM_PREFIX;

const ANNOTATION: &str = "x-mcp-header";

/// Keywords whose value is data, in which `x-mcp-header` is an ordinary key.
const DATA_KEYWORDS: [&str; 4] = ["const", "default", "enum", "examples"];

/// Keywords whose value maps names to schemas: the names are not keywords.
const SCHEMA_MAP_KEYWORDS: [&str; 5] = [
    "$defs",
    "definitions",
    "dependentSchemas",
    "patternProperties",
    PROPERTIES,
];

const PROPERTIES: &str = "properties";

/// The arguments of a tool that are mirrored in headers.
///
/// A tool with an invalid annotation must not be offered over HTTP: the client
/// drops that tool, keeps the others, and reports why.
///
/// ```
/// use bowline_proto::http::header::ParamHeaders;
///
/// let params = ParamHeaders::from_schema(
///     r#"{"type": "object", "properties": {
///         "region": {"type": "string", "x-mcp-header": "Region"},
///         "query": {"type": "string"}
///     }}"#,
/// )
/// .unwrap();
/// let fields = params.fields(Some(br#"{"region": "us-west-1", "query": "q"}"#)).unwrap();
/// assert_eq!(fields.len(), 1);
/// assert_eq!((fields[0].name(), fields[0].value()), ("mcp-param-region", "us-west-1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders {
    pub(super) headers: Vec<ParamHeader>,
    /// The annotated properties and the paths to them; at most as large as the
    /// schema.
    pub(super) root: Branch,
}

impl ParamHeaders {
    /// Collects the annotations of a tool's `inputSchema`.
    ///
    /// A schema without the annotation costs one string search and is not
    /// parsed.
    ///
    /// # Errors
    ///
    /// Returns an error if an annotation is invalid, or an annotated schema is
    /// not JSON.
    pub fn from_schema(schema: &str) -> Result<Self, HeaderSchemaError> {
        // A key may be written with escapes, so their presence rules out the
        // shortcut.
        let contains = |needle: &str| memmem::find(schema.as_bytes(), needle.as_bytes()).is_some();
        if !contains(ANNOTATION) && !contains("\\u") {
            return Ok(Self::default());
        }
        let schema: Value = serde_json::from_str(schema).map_err(|_| HeaderSchemaError {
            kind: HeaderSchemaErrorKind::NotJson,
            pointer: String::new(),
        })?;
        let mut walker = SchemaWalker::default();
        let root = walker.root(&schema).map_err(|kind| walker.error(kind))?;
        Ok(Self {
            headers: walker.headers,
            root,
        })
    }

    /// Returns the headers, ordered by the property names on their paths.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ParamHeader> {
        self.headers.iter()
    }

    /// Returns whether the tool mirrors nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// Returns the keys that lead from the arguments to the value of `header`.
    #[must_use]
    pub fn path(&self, header: &str) -> Option<Vec<&str>> {
        let index = self
            .headers
            .iter()
            .position(|known| *known.name == *header)?;
        let mut path = Vec::new();
        self.root.path(index, &mut path).then_some(path)
    }
}

/// A mirrored argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    pub(super) name: Box<str>,
    kind: ParamKind,
}

impl ParamHeader {
    /// Returns the full name of the header, in lower case: `mcp-param-region`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type that the schema declares.
    #[must_use]
    pub fn kind(&self) -> ParamKind {
        self.kind
    }
}

/// The types of argument that a header can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Any string, encoded if necessary.
    String,
    /// An integer that every JSON parser represents exactly.
    Integer,
    /// `true` or `false`.
    Boolean,
}

/// Why a tool cannot be offered over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderSchemaError {
    /// What is wrong.
    pub kind: HeaderSchemaErrorKind,
    /// The location in the schema, as a JSON pointer, shortened if it is very
    /// long.
    pub pointer: String,
}

impl fmt::Display for HeaderSchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pointer comes from the server. It is quoted so it cannot forge
        // log lines.
        write!(
            f,
            "{ANNOTATION} in the input schema at {:?}: {}",
            self.pointer, self.kind
        )
    }
}

impl std::error::Error for HeaderSchemaError {}

/// What is wrong with an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeaderSchemaErrorKind {
    /// The schema is not JSON, or nested too deeply.
    NotJson,
    /// The annotation's value is not a string.
    NotString,
    /// The name is empty, or has characters that are not allowed in header
    /// names.
    InvalidName,
    /// Another property has the same name, possibly in another case.
    Duplicate,
    /// The property is not declared as exactly one of string, integer, boolean.
    InvalidType,
    /// The property is not reached through `properties` alone.
    Misplaced,
}

impl fmt::Display for HeaderSchemaErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJson => "the schema is not valid JSON",
            Self::NotString => "the name is not a string",
            Self::InvalidName => "the name is not an HTTP token",
            Self::Duplicate => "another property has the same header name",
            Self::InvalidType => "the type must be string, integer or boolean",
            Self::Misplaced => {
                "the annotation is only allowed on properties reached through `properties` alone"
            }
        })
    }
}

/// The keys at one level of the arguments that lead to mirrored values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Branch(pub(super) BTreeMap<Box<str>, Node>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// The index of the header that mirrors this value.
    Leaf(usize),
    Branch(Branch),
}

impl Branch {
    fn path<'s>(&'s self, target: usize, path: &mut Vec<&'s str>) -> bool {
        self.0.iter().any(|(key, node)| {
            path.push(key);
            let found = match node {
                Node::Leaf(index) => *index == target,
                Node::Branch(branch) => branch.path(target, path),
            };
            if !found {
                path.pop();
            }
            found
        })
    }
}

/// Returns members sorted by name. The order of the map itself depends on which
/// features other crates enable in `serde_json`.
fn sorted_by_name(members: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// The state of one walk. Its depth is bounded by the JSON parser's limit.
#[derive(Default)]
struct SchemaWalker<'s> {
    headers: Vec<ParamHeader>,
    names: BTreeSet<Box<str>>,
    /// The current path; left unchanged on a fault, to report its location.
    path: Vec<&'s str>,
}

impl<'s> SchemaWalker<'s> {
    fn root(&mut self, schema: &'s Value) -> Result<Branch, HeaderSchemaErrorKind> {
        match schema {
            Value::Object(schema) if schema.contains_key(ANNOTATION) => {
                Err(HeaderSchemaErrorKind::Misplaced)
            }
            Value::Object(schema) => self.branch(schema),
            _ => Ok(Branch::default()),
        }
    }

    /// Walks a schema that is reached through `properties` alone and has no
    /// annotation.
    fn branch(&mut self, schema: &'s Map<String, Value>) -> Result<Branch, HeaderSchemaErrorKind> {
        let mut branch = Branch::default();
        for (keyword, value) in sorted_by_name(schema) {
            self.path.push(keyword);
            match value {
                Value::Object(properties) if keyword == PROPERTIES => {
                    for (key, property) in sorted_by_name(properties) {
                        self.path.push(key);
                        if let Some(node) = self.property(property)? {
                            branch.0.insert(key.as_str().into(), node);
                        }
                        self.path.pop();
                    }
                }
                _ => self.reject_under_keyword(keyword, value)?,
            }
            self.path.pop();
        }
        Ok(branch)
    }

    fn property(&mut self, schema: &'s Value) -> Result<Option<Node>, HeaderSchemaErrorKind> {
        let Value::Object(schema) = schema else {
            return Ok(None);
        };
        let Some(annotation) = schema.get(ANNOTATION) else {
            let branch = self.branch(schema)?;
            return Ok((!branch.0.is_empty()).then_some(Node::Branch(branch)));
        };
        let header = self.header(annotation, schema.get("type"))?;
        // A scalar has no properties: an annotation below it never has a value.
        for (keyword, value) in sorted_by_name(schema) {
            self.path.push(keyword);
            self.reject_under_keyword(keyword, value)?;
            self.path.pop();
        }
        self.headers.push(header);
        Ok(Some(Node::Leaf(self.headers.len() - 1)))
    }

    fn header(
        &mut self,
        annotation: &Value,
        declared_type: Option<&Value>,
    ) -> Result<ParamHeader, HeaderSchemaErrorKind> {
        let Value::String(name) = annotation else {
            return Err(HeaderSchemaErrorKind::NotString);
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(HeaderSchemaErrorKind::InvalidName);
        }
        let kind = match declared_type.and_then(Value::as_str) {
            Some("string") => ParamKind::String,
            Some("integer") => ParamKind::Integer,
            Some("boolean") => ParamKind::Boolean,
            _ => return Err(HeaderSchemaErrorKind::InvalidType),
        };
        let name: Box<str> = format!("{MCP_PARAM_PREFIX}{}", name.to_ascii_lowercase()).into();
        if !self.names.insert(name.clone()) {
            return Err(HeaderSchemaErrorKind::Duplicate);
        }
        Ok(ParamHeader { name, kind })
    }

    /// Checks that no schema under this keyword is annotated.
    fn reject_under_keyword(
        &mut self,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), HeaderSchemaErrorKind> {
        match value {
            _ if DATA_KEYWORDS.contains(&keyword) => Ok(()),
            Value::Object(schemas) if SCHEMA_MAP_KEYWORDS.contains(&keyword) => {
                for (key, schema) in sorted_by_name(schemas) {
                    self.path.push(key);
                    self.reject_annotations(schema)?;
                    self.path.pop();
                }
                Ok(())
            }
            value => self.reject_annotations(value),
        }
    }

    fn reject_annotations(&mut self, schema: &'s Value) -> Result<(), HeaderSchemaErrorKind> {
        match schema {
            Value::Object(schema) if schema.contains_key(ANNOTATION) => {
                Err(HeaderSchemaErrorKind::Misplaced)
            }
            Value::Object(schema) => {
                sorted_by_name(schema)
                    .into_iter()
                    .try_for_each(|(keyword, value)| {
                        self.path.push(keyword);
                        self.reject_under_keyword(keyword, value)?;
                        self.path.pop();
                        Ok(())
                    })
            }
            Value::Array(schemas) => schemas
                .iter()
                .try_for_each(|schema| self.reject_annotations(schema)),
            _ => Ok(()),
        }
    }

    fn error(&self, kind: HeaderSchemaErrorKind) -> HeaderSchemaError {
        const MAX_POINTER_LEN: usize = 256;
        let with_slash = |key: &&'s str| ['/'].into_iter().chain(key.chars());
        let mut chars = self.path.iter().flat_map(with_slash);
        let mut pointer: String = chars.by_ref().take(MAX_POINTER_LEN).collect();
        if chars.next().is_some() {
            pointer.push('…');
        }
        HeaderSchemaError { kind, pointer }
    }
}

/// Returns whether a byte may be part of a token, RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
