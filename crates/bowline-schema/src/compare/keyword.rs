//! What the keywords of a schema are: restrictions, text, or hints to programs.

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A schema that restricts values.
    Schema,
    /// `items`: a schema or, in older drafts, an array of them.
    SchemaOrList,
    /// An array of schemas.
    SchemaList,
    /// An object with schemas as members.
    SchemaMap,
    /// `dependencies` of older drafts: an object with schemas or names as members.
    Dependencies,
    /// Schemas that restrict nothing unless a reference names them.
    Definitions,
    /// A reference to a schema.
    Reference,
    /// A restriction whose order does not matter.
    Set,
    /// Any other restriction.
    Restriction,
    /// What references can name.
    Name,
    /// Text for people.
    Text,
    /// What programs may act on, though it restricts nothing. Unknown keywords too.
    Hint,
}

impl Role {
    /// Returns the role of a keyword.
    pub(super) fn of(keyword: &str) -> Self {
        match keyword {
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::Schema,
            "items" => Self::SchemaOrList,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::SchemaList,
            "dependentSchemas" | "patternProperties" | "properties" => Self::SchemaMap,
            "dependencies" => Self::Dependencies,
            "$defs" | "definitions" => Self::Definitions,
            "$ref" | "$dynamicRef" => Self::Reference,
            "enum" | "required" | "type" => Self::Set,
            "$recursiveAnchor" | "$recursiveRef" | "const" | "contentEncoding"
            | "contentMediaType" | "dependentRequired" | "exclusiveMaximum"
            | "exclusiveMinimum" | "format" | "maxContains" | "maxItems" | "maxLength"
            | "maxProperties" | "maximum" | "minContains" | "minItems" | "minLength"
            | "minProperties" | "minimum" | "multipleOf" | "pattern" | "uniqueItems" => {
                Self::Restriction
            }
            "$anchor" | "$dynamicAnchor" | "$id" => Self::Name,
            "$comment" | "deprecated" | "description" | "examples" | "title" => Self::Text,
            _ => Self::Hint,
        }
    }

    /// Returns whether a keyword can decide whether a value is valid.
    pub(super) fn restricts(self) -> bool {
        !matches!(
            self,
            Self::Definitions | Self::Name | Self::Text | Self::Hint
        )
    }
}
