//! Schemas of tools, and arguments for them. Their keywords are those that published
//! servers use most.

use serde_json::{Value, json};

/// A schema, with arguments that match it and arguments that do not.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) schema: Value,
    pub(crate) valid: Vec<Value>,
    pub(crate) invalid: Vec<Value>,
}

/// All cases.
pub(crate) fn cases() -> [Case; 3] {
    [flat(), nested(), union()]
}

/// A search with four members.
fn flat() -> Case {
    Case {
        name: "flat",
        schema: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to search for"},
                "state": {"type": "string", "enum": ["open", "closed", "all"], "default": "open"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
                "archived": {"type": "boolean", "description": "Whether to search the archive"},
            },
            "required": ["query"],
            "additionalProperties": false,
        }),
        valid: vec![
            json!({"query": "timeouts of the HTTP client", "state": "open", "limit": 50}),
            json!({"query": "panic", "archived": true}),
            json!({"query": "label:bug is:open \"exact\"", "state": "all", "limit": 100, "archived": false}),
        ],
        invalid: vec![
            json!({"query": "timeouts of the HTTP client", "state": "opened", "limit": 50}),
            json!({"state": "open", "limit": 20}),
            json!({"query": "panic", "limit": 500}),
            json!({"query": "panic", "archive": true}),
        ],
    }
}

/// An order: a shared definition and an array of objects.
// tidy: long table, a schema and its values
fn nested() -> Case {
    let order = |sku: &str, quantity: i64, currency: &str, city: Value| {
        json!({
            "customer": {"name": "Ada Lovelace", "email": "ada@example.org"},
            "lines": [
                {"sku": sku, "quantity": quantity, "price": 12.5, "tags": ["paper", "a4"]},
                {"sku": "pen-07", "quantity": 3, "price": 1},
                {"sku": "ink-11", "quantity": 1, "price": 8.25, "tags": []},
            ],
            "currency": currency,
            "shipping": {"street": "Rua das Flores 12", "city": city, "country": "PT"},
            "express": false,
        })
    };
    Case {
        name: "nested",
        schema: json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "customer": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "minLength": 1, "maxLength": 200},
                        "email": {"type": "string", "format": "email"},
                    },
                    "required": ["name", "email"],
                    "additionalProperties": false,
                },
                "lines": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {
                            "sku": {"type": "string", "minLength": 1},
                            "quantity": {"type": "integer", "minimum": 1},
                            "price": {"type": "number", "minimum": 0},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["sku", "quantity", "price"],
                        "additionalProperties": false,
                    },
                },
                "currency": {"type": "string", "minLength": 3, "maxLength": 3},
                "shipping": {"$ref": "#/$defs/Address"},
                "billing": {"$ref": "#/$defs/Address"},
                "express": {"type": "boolean", "default": false},
            },
            "required": ["customer", "lines", "currency"],
            "additionalProperties": false,
            "$defs": {
                "Address": {
                    "type": "object",
                    "properties": {
                        "street": {"type": "string", "minLength": 1},
                        "city": {"type": "string", "minLength": 1},
                        "country": {"type": "string", "enum": ["PT", "ES", "FR", "DE", "IT"]},
                    },
                    "required": ["street", "city", "country"],
                    "additionalProperties": false,
                },
            },
        }),
        valid: vec![
            order("pad-42", 10, "EUR", json!("Porto")),
            order("pad-43", 1, "USD", json!("Lisboa")),
        ],
        invalid: vec![
            order("pad-42", 0, "EUR", json!("Porto")),
            order("pad-42", 10, "euro", json!("Porto")),
            order("pad-42", 10, "EUR", Value::Null),
        ],
    }
}

/// Edits of a page: an array of alternatives, told apart by a constant, and a pattern.
// tidy: long table, a schema and its values
fn union() -> Case {
    let edits = |first: Value| {
        json!({
            "page": "4f1c",
            "edits": [
                {"op": "insert", "position": 3, "text": "A paragraph."},
                first,
                {"op": "delete", "from": 10, "to": 12},
            ],
            "author": null,
        })
    };
    Case {
        name: "union",
        schema: json!({
            "type": "object",
            "properties": {
                "page": {"type": "string", "pattern": "^[0-9a-f]{4,32}$"},
                "edits": {
                    "type": "array",
                    "items": {"oneOf": [
                        {
                            "type": "object",
                            "properties": {
                                "op": {"const": "insert"},
                                "position": {"type": "integer", "minimum": 0},
                                "text": {"type": "string"},
                            },
                            "required": ["op", "position", "text"],
                        },
                        {
                            "type": "object",
                            "properties": {
                                "op": {"const": "delete"},
                                "from": {"type": "integer", "minimum": 0},
                                "to": {"type": "integer", "minimum": 0},
                            },
                            "required": ["op", "from", "to"],
                        },
                        {
                            "type": "object",
                            "properties": {
                                "op": {"const": "format"},
                                "style": {"enum": ["bold", "italic", "code"]},
                            },
                            "required": ["op", "style"],
                        },
                    ]},
                },
                "author": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            },
            "required": ["page", "edits"],
        }),
        valid: vec![
            edits(json!({"op": "format", "style": "bold"})),
            edits(json!({"op": "delete", "from": 0, "to": 4})),
        ],
        invalid: vec![
            edits(json!({"op": "format", "style": "underlined"})),
            edits(json!({"op": "delete", "from": 0})),
            edits(json!({"op": "move", "from": 0, "to": 4})),
        ],
    }
}
