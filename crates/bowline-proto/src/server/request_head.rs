//! The head of a request: the part of `_meta` that the machine reads.
//!
//! Parameters may be large and belong to the host, so they are scanned once and
//! only slices of them are kept. They are decoded only if they are not written
//! in the usual form.

use std::{fmt, sync::LazyLock};

use memchr::memmem::Finder;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{errors, meta_cache::MetaCache, request_params::CallSpans};
use crate::{
    http::header::mirrored_member,
    jsonrpc::{ErrorObject, Member, MemberVisitor, ObjectWalker, code, decode},
    model::{DecodeError, meta::key},
};

/// The raw values of the `_meta` members that are looked for.
pub(super) type MetaMembers<'a> = [Option<&'a [u8]>; RequestHead::KEY_COUNT];

/// The members of a request's `_meta` that decide how it is treated.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RequestHead<'a> {
    pub(super) members: MetaMembers<'a>,
    named_params: NamedParams<'a>,
    /// All parameters, if all of them were scanned: only then is it known what
    /// exists besides `_meta`.
    params: Option<&'a [u8]>,
}

/// The members of the parameters that are looked for besides `_meta`.
#[derive(Clone, Copy, Debug, Default)]
struct NamedParams<'a> {
    /// The members that a header mirrors, for some method.
    named: [Option<&'a [u8]>; PARAM_NAMES.len()],
    arguments: Option<&'a [u8]>,
    /// Whether there are other members.
    has_others: bool,
}

const META_KEYS: [&str; 5] = [
    key::PROTOCOL_VERSION,
    key::CLIENT_CAPABILITIES,
    key::CLIENT_INFO,
    key::LOG_LEVEL,
    key::PROGRESS_TOKEN,
];

const PARAM_NAMES: [&str; 3] = ["name", "uri", "taskId"];

/// A visitor for parameters that the caller scans.
#[derive(Debug, Default)]
pub(super) struct ParamsScanner<'a, 'k> {
    head: RequestHead<'a>,
    has_meta: bool,
    /// A cached `_meta` that need not be scanned again.
    meta_cache: Option<&'k MetaCache>,
    /// The `_meta` that was not in the cache.
    scanned_meta: Option<&'a [u8]>,
}

impl<'a, 'k> ParamsScanner<'a, 'k> {
    /// Creates a scanner that consults this cache.
    pub(super) fn with_meta_cache(cache: &'k MetaCache) -> Self {
        Self {
            meta_cache: Some(cache),
            ..Self::default()
        }
    }

    /// Returns the head, with the parameters if all of them were seen, and the
    /// `_meta` that was not in the cache.
    #[inline]
    pub(super) fn finish(
        mut self,
        params: Option<&'a [u8]>,
    ) -> (RequestHead<'a>, Option<&'a [u8]>) {
        self.head.params = params;
        (self.head, self.scanned_meta)
    }
}

impl<'a> MemberVisitor<'a> for ParamsScanner<'a, '_> {
    fn enter_member(&mut self, name: &[u8]) -> Option<bool> {
        if name != b"_meta" {
            return Some(false);
        }
        (!std::mem::replace(&mut self.has_meta, true)).then_some(true)
    }

    fn member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()> {
        let named_params = &mut self.head.named_params;
        let slot = match name {
            b"arguments" => &mut named_params.arguments,
            _ => match PARAM_NAMES
                .iter()
                .position(|known| known.as_bytes() == name)
            {
                Some(index) => &mut named_params.named[index],
                None => {
                    named_params.has_others = true;
                    return (!ObjectWalker::has_escapes(name)).then_some(());
                }
            },
        };
        slot.replace(value).is_none().then_some(())
    }

    fn skip_known(&mut self, rest: &'a [u8]) -> Option<usize> {
        let (length, members) = self.meta_cache?.find(rest)?;
        self.head.members = members;
        Some(length)
    }

    fn leave_member(&mut self, meta: &'a [u8]) {
        self.scanned_meta = Some(meta);
    }

    fn nested_member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()> {
        match META_KEYS.iter().position(|known| known.as_bytes() == name) {
            Some(slot) => self.head.members[slot]
                .replace(value)
                .is_none()
                .then_some(()),
            None => (!ObjectWalker::has_escapes(name)).then_some(()),
        }
    }
}

impl RequestHead<'_> {
    /// The number of `_meta` members that are looked for.
    pub(super) const KEY_COUNT: usize = META_KEYS.len();
}

impl<'a> RequestHead<'a> {
    /// Reads the head from a request's parameters.
    pub(super) fn read(params: Option<&'a [u8]>) -> Result<Self, ErrorObject> {
        let Some(params) = params else {
            return Ok(Self::default());
        };
        match Self::scan(params) {
            Some(head) => Ok(head),
            None => Self::decode(params),
        }
    }

    /// Reads the head from parameters in the usual form.
    pub(super) fn scan(params: &'a [u8]) -> Option<Self> {
        let mut walker = ObjectWalker::open(params)?;
        let mut scanner = ParamsScanner::default();
        walker.visit(&mut scanner)?;
        walker.is_at_end().then(|| scanner.finish(Some(params)).0)
    }

    /// Reads the head from parameters in any other form.
    pub(super) fn decode(params: &'a [u8]) -> Result<Self, ErrorObject> {
        if params.first() == Some(&b'[') {
            let error = DecodeError::new("", "params must be an object, not an array");
            return Err(errors::invalid_params(&error));
        }
        // The host reports what is wrong with the rest when it decodes it.
        if !may_have_meta(params) {
            return Ok(Self::default());
        }
        let mut reader = serde_json::Deserializer::from_slice(params);
        match ParamsHead::deserialize(&mut reader).and_then(|params| reader.end().map(|()| params))
        {
            Ok(ParamsHead(head)) => Ok(head),
            Err(error) if error.is_data() => {
                let error = DecodeError::new("_meta", error.to_string());
                Err(errors::invalid_params(&error))
            }
            Err(error) => Err(ErrorObject::new(
                code::PARSE_ERROR,
                format!("Parse error in the params: {error}"),
            )),
        }
    }

    /// Returns the member that a header mirrors for this method, if there is
    /// one; `None` if it has to be searched for.
    pub(super) fn mirrored_member(&self, method: &str) -> Option<Member<'a>> {
        self.params?;
        let name = mirrored_member(method)?;
        let index = PARAM_NAMES.iter().position(|known| *known == name)?;
        Some(self.named_params.named[index].map_or(Member::Absent, Member::from_value))
    }

    /// Returns the spans of a call's parts; `None` unless the call is known to
    /// be plain.
    pub(super) fn call_spans(&self) -> Option<CallSpans> {
        let (params, named_params) = (self.params?, &self.named_params);
        match named_params.named {
            [Some(name), None, None] if !named_params.has_others => {
                CallSpans::new(params, name, named_params.arguments)
            }
            _ => None,
        }
    }

    /// Returns whether the request is stateless. One of the two required
    /// members is enough: a request with only one gets an error about the
    /// other.
    pub(super) fn is_stateless(&self) -> bool {
        self.has(key::PROTOCOL_VERSION) || self.has(key::CLIENT_CAPABILITIES)
    }

    /// Returns whether the member is present.
    pub(super) fn has(&self, key: &str) -> bool {
        self.raw(key).is_some()
    }

    /// Returns the raw value of a member; empty if it is missing.
    pub(super) fn raw_or_empty(&self, key: &str) -> &'a [u8] {
        self.raw(key).unwrap_or_default()
    }

    /// Decodes a member, if it is present.
    pub(super) fn get<T: Deserialize<'a>>(&self, key: &str) -> Result<Option<T>, ErrorObject> {
        let Some(raw) = self.raw(key) else {
            return Ok(None);
        };
        decode(raw).map(Some).map_err(|error| {
            let error = DecodeError::new(
                format!("_meta[{key:?}]{}", with_leading_dot(&error.path)),
                error.message,
            );
            errors::invalid_params(&error)
        })
    }

    fn raw(&self, key: &str) -> Option<&'a [u8]> {
        let index = META_KEYS.iter().position(|known| *known == key)?;
        self.members[index]
    }
}

/// Returns whether there can be a `_meta`. A key can also be spelled with
/// escapes.
fn may_have_meta(params: &[u8]) -> bool {
    // Built once: building takes longer than searching a short string.
    static FINDERS: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [Finder::new("_meta"), Finder::new("\\u")]);
    FINDERS.iter().any(|finder| finder.find(params).is_some())
}

fn with_leading_dot(path: &str) -> String {
    if path.is_empty() || path.starts_with('[') {
        path.to_owned()
    } else {
        format!(".{path}")
    }
}

/// Parameters of which only `_meta` is read.
struct ParamsHead<'a>(RequestHead<'a>);

impl<'de> Deserialize<'de> for ParamsHead<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ParamsVisitor).map(Self)
    }
}

struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = RequestHead<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestHead<'de>, A::Error> {
        let mut head: Option<RequestHead<'de>> = None;
        while let Some(Key(is_meta)) = map.next_key::<Key<0>>()? {
            if is_meta.is_none() {
                map.next_value::<IgnoredAny>()?;
            } else if head.is_some() {
                return Err(de::Error::custom("duplicate member"));
            } else {
                let meta = map.next_value::<Option<MetaHead<'de>>>()?;
                head = Some(meta.map(|MetaHead(head)| head).unwrap_or_default());
            }
        }
        Ok(head.unwrap_or_default())
    }
}

struct MetaHead<'a>(RequestHead<'a>);

impl<'de> Deserialize<'de> for MetaHead<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MetaVisitor).map(Self)
    }
}

struct MetaVisitor;

impl<'de> Visitor<'de> for MetaVisitor {
    type Value = RequestHead<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestHead<'de>, A::Error> {
        let mut head = RequestHead::default();
        while let Some(Key(slot)) = map.next_key::<Key<1>>()? {
            let Some(slot) = slot else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if head.members[slot].is_some() {
                let key = META_KEYS[slot];
                return Err(de::Error::custom(format_args!("duplicate member {key}")));
            }
            let value: &RawValue = map.next_value()?;
            head.members[slot] = Some(value.get().as_bytes());
        }
        Ok(head)
    }
}

/// A key as a slot: of `params` on level 0, of `_meta` on level 1.
struct Key<const LEVEL: usize>(Option<usize>);

impl<'de, const LEVEL: usize> Deserialize<'de> for Key<LEVEL> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor<const LEVEL: usize>;

        impl<const LEVEL: usize> Visitor<'_> for KeyVisitor<LEVEL> {
            type Value = Key<LEVEL>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_str<E: de::Error>(self, key: &str) -> Result<Key<LEVEL>, E> {
                Ok(Key(match LEVEL {
                    0 => (key == "_meta").then_some(0),
                    _ => META_KEYS.iter().position(|known| *known == key),
                }))
            }
        }

        deserializer.deserialize_identifier(KeyVisitor::<LEVEL>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::RequestId;

    fn read(params: &str) -> Result<RequestHead<'_>, i64> {
        RequestHead::read(Some(params.as_bytes())).map_err(|error| error.code)
    }

    #[test]
    fn the_head_is_found_wherever_it_stands() {
        let params = r#"{"name":"x","arguments":{"_meta":{"progressToken":1}},"_meta":{"progressToken":"t"}}"#;
        let head = read(params).unwrap();
        let token: Option<RequestId> = head.get(key::PROGRESS_TOKEN).unwrap();
        assert_eq!(token, Some("t".into()));
        assert!(!head.is_stateless());
    }

    #[test]
    fn escaped_names_are_names() {
        let head = read(r#"{"\u005fmeta":{"progress\u0054oken":3}}"#).unwrap();
        assert!(head.has(key::PROGRESS_TOKEN));
    }

    #[test]
    fn what_is_written_unusually_is_read_all_the_same() {
        for params in [
            r#"{"x":1.5,"_meta":{"progressToken":3}}"#,
            r#"{"x":1,"_meta":{"y":-1e3,"progressToken":3}}"#,
            r#" {"_meta" : {"progressToken" : 3 } } "#,
            r#"{"name":"a","name":"b","_meta":{"progressToken":3}}"#,
        ] {
            let head = RequestHead::read(Some(params.as_bytes())).unwrap();
            let token: Option<RequestId> = head.get(key::PROGRESS_TOKEN).unwrap();
            assert_eq!(token, Some(3_u64.into()), "{params}");
            assert!(head.call_spans().is_none(), "{params}");
        }
    }

    #[test]
    fn the_parts_of_a_call_are_seen_on_the_way() {
        let params = br#"{"_meta":{"progressToken":1},"arguments":{"a":1},"name":"add"}"#;
        let head = RequestHead::read(Some(params)).unwrap();
        let places = head.call_spans().unwrap();
        let call = places.split(params).unwrap();
        assert_eq!((&*call.name, call.arguments), ("add", Some(r#"{"a":1}"#)));
        for params in [
            r#"{"name":"add","requestState":"x","_meta":{}}"#,
            r#"{"name":"add","arguments":{},"arguments":{"a":1},"_meta":{}}"#,
            r#"{"arguments":{},"_meta":{}}"#,
        ] {
            let head = RequestHead::read(Some(params.as_bytes())).unwrap();
            assert!(head.call_spans().is_none(), "{params}");
        }
    }

    #[test]
    fn every_member_that_a_header_mirrors_is_looked_for() {
        for method in ["tools/call", "prompts/get", "resources/read", "tasks/get"] {
            let name = mirrored_member(method).unwrap();
            let params = format!(r#"{{"x":1,"{name}":"here"}}"#);
            let head = RequestHead::read(Some(params.as_bytes())).unwrap();
            let found = head.mirrored_member(method);
            assert!(
                matches!(found, Some(Member::String(text)) if text == "here"),
                "{method}"
            );
        }
    }

    #[test]
    fn either_required_member_marks_the_stateless_era() {
        for params in [
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}"#,
            r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}"#,
        ] {
            assert!(read(params).unwrap().is_stateless(), "{params}");
        }
        let info = r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{}}}"#;
        assert!(!read(info).unwrap().is_stateless());
    }

    #[test]
    fn what_cannot_be_read_is_refused_by_its_fault() {
        assert_eq!(read("[1]").unwrap_err(), -32602);
        assert_eq!(read(r#"{"_meta":7}"#).unwrap_err(), -32602);
        assert_eq!(read(r#"{"_meta":{},"_meta":{}}"#).unwrap_err(), -32602);
        let twice = r#"{"_meta":{"progressToken":1,"progressToken":2}}"#;
        assert_eq!(read(twice).unwrap_err(), -32602);
        assert_eq!(read(r#"{"_meta":{},"a":tru}"#).unwrap_err(), -32700);
        assert!(!read(r#"{"_meta":null}"#).unwrap().is_stateless());
    }

    #[test]
    fn a_bad_member_is_named() {
        let head = read(r#"{"_meta":{"progressToken":1.5}}"#).unwrap();
        let error = head.get::<RequestId>(key::PROGRESS_TOKEN).unwrap_err();
        assert!(error.message.contains("progressToken"), "{}", error.message);
    }
}
