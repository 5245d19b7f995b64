//! Traits of params and results, and which of them belong together.

use serde::{Serialize, de::DeserializeOwned};

use super::{Adapt, DecodeError, Meta, WireFeatures, decode, open_enum::open_enum};

/// The params of a request.
pub trait Request: Adapt + Serialize + DeserializeOwned {
    /// The method.
    const METHOD: &'static str;
    /// The complete result.
    type Result: ResultObject;

    /// Returns the `_meta` of the request.
    fn meta(&self) -> Option<&Meta>;

    /// Returns the `_meta` of the request for modification.
    fn meta_mut(&mut self) -> &mut Option<Meta>;

    /// Takes the `_meta` of the request.
    fn take_meta(&mut self) -> Option<Meta> {
        self.meta_mut().take()
    }
}

/// The params of a notification.
pub trait Notification: Adapt + Serialize + DeserializeOwned {
    /// The method.
    const METHOD: &'static str;

    /// Returns the `_meta` of the notification.
    fn meta(&self) -> Option<&Meta>;

    /// Returns the `_meta` of the notification for modification.
    fn meta_mut(&mut self) -> &mut Option<Meta>;
}

/// The result of a request.
pub trait ResultObject: Adapt + Serialize + DeserializeOwned {
    /// Decodes a result; item by item if it is a list with invalid ones.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON does not have the shape of this result.
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        decode(json)
    }

    /// Returns the declared type of the result. `None` means a complete one.
    fn result_type(&self) -> Option<&ResultType>;

    /// Returns the `_meta` of the result.
    fn meta(&self) -> Option<&Meta>;

    /// Returns the `_meta` of the result for modification.
    fn meta_mut(&mut self) -> &mut Option<Meta>;
}

open_enum! {
    /// The type of a result.
    pub enum ResultType {
        /// The complete result.
        Complete = "complete",
        /// A request for input; see
        /// [`InputRequiredResult`](super::InputRequiredResult).
        InputRequired = "input_required",
        /// A task; see [`CreateTaskResult`](super::CreateTaskResult).
        Task = "task",
    }
}

open_enum! {
    /// Who may share a cached result.
    pub enum CacheScope {
        /// Only clients with the same authorization.
        Private = "private",
        /// Everyone.
        Public = "public",
    }
}

macro_rules! request {
    ($params:ty = $method:expr => $result:ty) => {
        impl $crate::model::Request for $params {
            const METHOD: &'static str = $method;
            type Result = $result;

            fn meta(&self) -> Option<&$crate::model::Meta> {
                self.meta.as_ref()
            }

            fn meta_mut(&mut self) -> &mut Option<$crate::model::Meta> {
                &mut self.meta
            }
        }
    };
}
pub(crate) use request;

macro_rules! notification {
    ($params:ty = $method:expr) => {
        impl $crate::model::Notification for $params {
            const METHOD: &'static str = $method;

            fn meta(&self) -> Option<&$crate::model::Meta> {
                self.meta.as_ref()
            }

            fn meta_mut(&mut self) -> &mut Option<$crate::model::Meta> {
                &mut self.meta
            }
        }
    };
}
pub(crate) use notification;

macro_rules! result {
    (@body) => {
        fn meta(&self) -> Option<&$crate::model::Meta> {
            self.meta.as_ref()
        }

        fn meta_mut(&mut self) -> &mut Option<$crate::model::Meta> {
            &mut self.meta
        }
    };
    (@typed) => {
        fn result_type(&self) -> Option<&$crate::model::ResultType> {
            self.result_type.as_ref()
        }
    };
    // A result that never declares its type.
    ($result:ty, untyped) => {
        impl $crate::model::ResultObject for $result {
            fn result_type(&self) -> Option<&$crate::model::ResultType> {
                None
            }
            $crate::model::message::result!(@body);
        }
    };
    ($result:ty) => {
        impl $crate::model::ResultObject for $result {
            $crate::model::message::result!(@typed);
            $crate::model::message::result!(@body);
        }
    };
    // A result that almost always has the same form, with a fast path for it.
    ($result:ty, plain by $read:path) => {
        impl $crate::model::ResultObject for $result {
            fn decode(json: &[u8]) -> Result<Self, $crate::model::DecodeError> {
                let text = std::str::from_utf8(json).ok();
                match text.and_then($read) {
                    Some(result) => Ok(result),
                    None => $crate::model::decode(json),
                }
            }
            $crate::model::message::result!(@typed);
            $crate::model::message::result!(@body);
        }
    };
    // A list that collects invalid items.
    ($result:ty, list) => {
        impl $crate::model::ResultObject for $result {
            fn decode(json: &[u8]) -> Result<Self, $crate::model::DecodeError> {
                $crate::model::list::decode_list(json)
            }
            $crate::model::message::result!(@typed);
            $crate::model::message::result!(@body);
        }
    };
}
pub(crate) use result;

/// Sets the result type to complete, if the wire format requires it.
pub(crate) fn set_complete(result_type: &mut Option<ResultType>, features: &WireFeatures) {
    if features.result_type && result_type.is_none() {
        *result_type = Some(ResultType::Complete);
    }
}

/// Marks a result as not cacheable, if the wire format requires it.
pub(crate) fn set_uncacheable(
    ttl_ms: &mut Option<i64>,
    scope: &mut Option<CacheScope>,
    features: &WireFeatures,
) {
    if features.cache_hints {
        ttl_ms.get_or_insert(0);
        scope.get_or_insert(CacheScope::Private);
    }
}
