//! `_meta`: the metadata of a message.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeOwned, MapAccess, Visitor},
};

use super::{
    Adapt, ClientCapabilities, DecodeError, Extra, Implementation, LogLevel, RelatedTask,
    WireFeatures, decode,
};
use crate::jsonrpc::{RawJson, RequestId};

/// The `_meta` member of a message or object: an ordered map, kept verbatim.
///
/// Known keys have a getter and a setter; a getter fails if the key is present
/// and its value has the wrong shape. All other keys are available through
/// [`members`](Self::members).
///
/// ```
/// use bowline_proto::model::Meta;
///
/// let mut meta = Meta::new();
/// meta.set_progress_token(&7u64.into());
/// meta.set_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
/// assert_eq!(meta.progress_token().unwrap(), Some(7u64.into()));
/// assert!(meta.members().contains_key("traceparent"));
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct Meta {
    members: Extra,
}

/// Keys of `_meta` with a defined meaning.
pub mod key {
    /// The token for progress notifications about this request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The protocol version of this request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The name and version of the client that sends this request.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The capabilities of the client that sends this request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The minimum severity of log messages about this request.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The name and version of the server that sends this result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The subscription that a message belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The core task that a message belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// W3C trace context: the parent span.
    pub const TRACEPARENT: &str = "traceparent";
    /// W3C trace context: vendor data.
    pub const TRACESTATE: &str = "tracestate";
    /// W3C baggage.
    pub const BAGGAGE: &str = "baggage";
    /// Whether a tool keeps state between calls; specific to Bowline.
    pub const TOOL_MODE: &str = "dev.bowline/mode";

    /// Keys with which a stateless message describes its sender.
    pub(super) const SENDER_KEYS: &[&str] = &[
        PROTOCOL_VERSION,
        CLIENT_INFO,
        CLIENT_CAPABILITIES,
        LOG_LEVEL,
        SERVER_INFO,
        SUBSCRIPTION_ID,
    ];

    /// Keys that need no allocation when decoded.
    pub(super) const KNOWN_KEYS: &[&str] = &[
        PROGRESS_TOKEN,
        PROTOCOL_VERSION,
        CLIENT_INFO,
        CLIENT_CAPABILITIES,
        LOG_LEVEL,
        SERVER_INFO,
        SUBSCRIPTION_ID,
        RELATED_TASK,
        TRACEPARENT,
        TRACESTATE,
        BAGGAGE,
    ];
}

impl Meta {
    /// Creates an empty `_meta`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            members: Extra::new(),
        }
    }

    /// Returns all members, in order.
    #[must_use]
    pub fn members(&self) -> &Extra {
        &self.members
    }

    /// Returns all members, in order, for modification.
    pub fn members_mut(&mut self) -> &mut Extra {
        &mut self.members
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Decodes a member, if it is present.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not have the shape of `T`. The path
    /// of the error begins with `_meta`.
    pub fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, DecodeError> {
        let Some(value) = self.members.get(key) else {
            return Ok(None);
        };
        decode(value.get().as_bytes())
            .map(Some)
            .map_err(|error| prefix_path(key, error))
    }

    /// Encodes a member.
    ///
    /// # Errors
    ///
    /// Returns an error if `value` cannot be serialised.
    pub fn write<T: Serialize + ?Sized>(
        &mut self,
        key: impl Into<Cow<'static, str>>,
        value: &T,
    ) -> Result<(), serde_json::Error> {
        self.members.insert(key, RawJson::encode(value)?);
        Ok(())
    }
}

macro_rules! known_members {
    ($( $(#[$meta:meta])* $get:ident, $set:ident: $ty:ty as $arg:ty = $key:expr; )*) => {
        impl Meta {
            $(
                $(#[$meta])*
                ///
                /// # Errors
                ///
                /// Returns an error if the member is present, but has the wrong
                /// shape.
                pub fn $get(&self) -> Result<Option<$ty>, DecodeError> {
                    self.read($key)
                }

                #[doc = concat!("Sets what [`", stringify!($get), "`](Self::", stringify!($get), ") returns.")]
                pub fn $set(&mut self, value: $arg) {
                    // Strings and our own objects always encode.
                    let written = self.write($key, value);
                    debug_assert!(written.is_ok(), "{written:?}");
                }
            )*
        }
    };
}

known_members! {
    /// Returns the token for progress notifications about this request.
    progress_token, set_progress_token: RequestId as &RequestId = key::PROGRESS_TOKEN;
    /// Returns the protocol version of this request.
    protocol_version, set_protocol_version: String as &str = key::PROTOCOL_VERSION;
    /// Returns the name and version of the client that sends this request.
    client_info, set_client_info: Implementation as &Implementation = key::CLIENT_INFO;
    /// Returns the capabilities of the client that sends this request.
    client_capabilities, set_client_capabilities: ClientCapabilities as &ClientCapabilities = key::CLIENT_CAPABILITIES;
    /// Returns the minimum severity of log messages about this request.
    log_level, set_log_level: LogLevel as &LogLevel = key::LOG_LEVEL;
    /// Returns the name and version of the server that sends this result.
    server_info, set_server_info: Implementation as &Implementation = key::SERVER_INFO;
    /// Returns the subscription that this message belongs to.
    subscription_id, set_subscription_id: RequestId as &RequestId = key::SUBSCRIPTION_ID;
    /// Returns the core task that this message belongs to.
    related_task, set_related_task: RelatedTask as &RelatedTask = key::RELATED_TASK;
    /// Returns the W3C trace context's parent span.
    traceparent, set_traceparent: String as &str = key::TRACEPARENT;
    /// Returns the W3C trace context's vendor data.
    tracestate, set_tracestate: String as &str = key::TRACESTATE;
    /// Returns the W3C baggage.
    baggage, set_baggage: String as &str = key::BAGGAGE;
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.members.fmt(f)
    }
}

impl From<Extra> for Meta {
    fn from(members: Extra) -> Self {
        Self { members }
    }
}

impl Adapt for Meta {
    /// Removes what would make a peer take the message for one of the other
    /// era. All other keys belong to the sender.
    fn adapt(&mut self, features: &WireFeatures) {
        if !features.sender_in_meta {
            for key in key::SENDER_KEYS {
                self.members.remove(key);
            }
        }
        if !features.core_tasks {
            self.members.remove(key::RELATED_TASK);
        }
    }
}

impl Serialize for Meta {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Meta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetaVisitor)
    }
}

struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = Meta;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Meta, A::Error> {
        let mut members = Extra::new();
        while let Some(MetaKey(key)) = map.next_key()? {
            members.push(key, map.next_value()?);
        }
        Ok(Meta { members })
    }
}

/// A key, borrowed from the program if it is known.
struct MetaKey(Cow<'static, str>);

impl<'de> Deserialize<'de> for MetaKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;

        impl Visitor<'_> for KeyVisitor {
            type Value = MetaKey;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E: de::Error>(self, key: &str) -> Result<MetaKey, E> {
                Ok(MetaKey(
                    match key::KNOWN_KEYS.iter().find(|known| **known == key) {
                        Some(known) => Cow::Borrowed(known),
                        None => Cow::Owned(key.into()),
                    },
                ))
            }
        }

        deserializer.deserialize_identifier(KeyVisitor)
    }
}

fn prefix_path(key: &str, error: DecodeError) -> DecodeError {
    let path = match error.path.as_str() {
        "" => format!("_meta[{key:?}]"),
        rest if rest.starts_with('[') => format!("_meta[{key:?}]{rest}"),
        rest => format!("_meta[{key:?}].{rest}"),
    };
    DecodeError { path, ..error }
}
