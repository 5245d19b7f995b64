//! The messages that are measured, and structs to decode them into.

use std::fmt;

use bowline_proto::jsonrpc::RawJson;
use serde::{
    Deserialize, Deserializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::json;

/// A frame, and what it decodes into.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) frame: String,
    pub(super) typed: fn(&[u8]) -> Typed,
}

/// What a typed decode makes; boxed so that all cases have one type.
pub(super) type Typed = Box<dyn fmt::Debug>;

/// All that is measured.
pub(super) fn cases() -> Vec<Case> {
    let line = "The quick brown fox jumps over the lazy dog near the bank.";
    let escaped = format!("{line}\n").repeat(10_000_000 / (line.len() + 2));
    vec![
        Case {
            name: "tools/call request",
            frame: json!({
                "jsonrpc": "2.0", "id": 4711, "method": "tools/call",
                "params": {"name": "weather", "arguments": {"city": "Lisbon", "days": 3}},
            })
            .to_string(),
            typed: decode::<Message<Call>>,
        },
        Case {
            name: "tools/call response",
            frame: text_result("Sunny, 24 degrees, light wind from the north-west."),
            typed: decode::<Message<Content>>,
        },
        Case {
            name: "tools/list, 1000 tools",
            frame: tools(1000),
            typed: decode::<Message<Tools>>,
        },
        Case {
            name: "10 MB text, plain",
            frame: text_result(&line.repeat(10_000_000 / line.len())),
            typed: decode::<Message<Content>>,
        },
        Case {
            name: "10 MB text, line ends",
            frame: text_result(&escaped),
            typed: decode::<Message<Content>>,
        },
    ]
}

fn text_result(text: &str) -> String {
    json!({
        "jsonrpc": "2.0", "id": 4711,
        "result": {"content": [{"type": "text", "text": text}], "isError": false},
    })
    .to_string()
}

fn tools(count: usize) -> String {
    let tool = |index: usize| {
        json!({
            "name": format!("repository_search_{index}"),
            "description": "Searches the files of a repository for a pattern, and lists where it was found.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "What to look for, as a regular expression"},
                    "path": {"type": "string", "description": "The folder to search, relative to the root"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
                },
                "required": ["pattern"],
                "additionalProperties": false,
            },
        })
    };
    let tools: Vec<_> = (0..count).map(tool).collect();
    json!({"jsonrpc": "2.0", "id": 4711, "result": {"tools": tools}}).to_string()
}

fn decode<T: for<'de> Deserialize<'de> + fmt::Debug + 'static>(frame: &[u8]) -> Typed {
    Box::new(serde_json::from_slice::<T>(frame).expect("the message of this type"))
}

/// A struct with a `Deserialize` as the derive would write it; the derive itself
/// would be the only macro dependency of this crate.
macro_rules! typed {
    ($name:ident $(<$parameter:ident>)? { $($field:ident: $type:ty = $key:literal),* $(,)? }) => {
        #[derive(Debug)]
        #[expect(dead_code, reason = "decoded to be measured, never read")]
        struct $name $(<$parameter>)? { $($field: Option<$type>),* }

        impl<'de $(, $parameter: Deserialize<'de>)?> Deserialize<'de> for $name $(<$parameter>)? {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members<T>(std::marker::PhantomData<T>);

                impl<'de $(, $parameter: Deserialize<'de>)?> Visitor<'de>
                    for Members<$name $(<$parameter>)?>
                {
                    type Value = $name $(<$parameter>)?;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(stringify!($name))
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        $(let mut $field: Option<$type> = None;)*
                        while let Some(key) = map.next_key::<&str>()? {
                            match key {
                                $($key if $field.is_some() => return Err(A::Error::duplicate_field($key)),
                                $key => $field = Some(map.next_value()?),)*
                                _ => drop(map.next_value::<IgnoredAny>()?),
                            }
                        }
                        Ok($name { $($field),* })
                    }
                }
                deserializer.deserialize_map(Members(std::marker::PhantomData))
            }
        }
    };
}

typed!(Message<T> {
    jsonrpc: String = "jsonrpc",
    id: u64 = "id",
    method: String = "method",
    params: T = "params",
    result: T = "result",
});
typed!(Call {
    name: String = "name",
    arguments: RawJson = "arguments"
});
typed!(Content { content: Vec<Text> = "content", is_error: bool = "isError" });
typed!(Text {
    kind: String = "type",
    text: String = "text"
});
typed!(Tools { tools: Vec<Tool> = "tools" });
typed!(Tool {
    name: String = "name",
    description: String = "description",
    schema: RawJson = "inputSchema"
});
