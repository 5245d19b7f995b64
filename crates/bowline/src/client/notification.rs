//! What the server tells unasked.

use std::sync::Arc;

use bytes::Bytes;
use futures_core::Stream;
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};

use super::{notification_channel::BufferedNotification, unfold::Unfold};
use crate::proto::{
    jsonrpc::{DecodeError, decode_params},
    model::{LoggingMessageParams, ResourceUpdatedParams, method},
};

/// A notification, routed by its method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource that is subscribed to, or one below it, has changed.
    ResourceUpdated(Box<ResourceUpdatedParams>),
    /// A log message.
    Log(Box<LoggingMessageParams>),
    /// Anything else, verbatim.
    Other {
        /// Its method.
        method: Box<str>,
        /// Its parameters, as JSON.
        params: Option<Bytes>,
    },
    /// Subscriptions are in force again after a gap, in which changes of these
    /// resources may have been missed.
    Resubscribed {
        /// The resources.
        uris: Vec<Box<str>>,
    },
    /// A subscription could not be restored and is over.
    SubscriptionLost {
        /// The resource.
        uri: Box<str>,
    },
    /// This many notifications came faster than they were taken, and are gone.
    Lost(u64),
}

impl Notification {
    /// The method by which the server sent it; those that the connection itself
    /// tells have none.
    #[must_use]
    pub fn method(&self) -> &str {
        match self {
            Self::ToolsChanged => method::TOOLS_LIST_CHANGED,
            Self::PromptsChanged => method::PROMPTS_LIST_CHANGED,
            Self::ResourcesChanged => method::RESOURCES_LIST_CHANGED,
            Self::ResourceUpdated(_) => method::RESOURCES_UPDATED,
            Self::Log(_) => method::MESSAGE,
            Self::Other { method, .. } => method,
            Self::Resubscribed { .. } | Self::SubscriptionLost { .. } | Self::Lost(_) => "",
        }
    }

    /// Sorts a notification. One that does not have the shape of its method is
    /// handed on verbatim.
    pub(crate) fn parse(name: &str, params: Option<Bytes>) -> Self {
        let parsed = match name {
            method::TOOLS_LIST_CHANGED => Ok(Self::ToolsChanged),
            method::PROMPTS_LIST_CHANGED => Ok(Self::PromptsChanged),
            method::RESOURCES_LIST_CHANGED => Ok(Self::ResourcesChanged),
            method::RESOURCES_UPDATED => parse_params(params.as_ref()).map(Self::ResourceUpdated),
            method::MESSAGE => parse_params(params.as_ref()).map(Self::Log),
            _ => return Self::other(name, params),
        };
        parsed.unwrap_or_else(|_| Self::other(name, params))
    }

    fn other(name: &str, params: Option<Bytes>) -> Self {
        Self::Other {
            method: name.into(),
            // A part of the frame would keep all of it, whatever else is in it.
            params: params.map(|params| Bytes::copy_from_slice(&params)),
        }
    }
}

fn parse_params<T: serde::de::DeserializeOwned>(
    params: Option<&Bytes>,
) -> Result<Box<T>, DecodeError> {
    decode_params(params.map(|params| &params[..])).map(Box::new)
}

/// The notifications of one connection, across reconnections.
///
/// Whoever takes them too slowly is told how many were lost, with
/// [`Notification::Lost`], and goes on with those that are still there.
#[derive(Debug)]
pub struct Notifications {
    receiver: broadcast::Receiver<Arc<BufferedNotification>>,
    /// The one that comes after those that were lost.
    next: Option<Notification>,
}

impl Notifications {
    pub(crate) fn new(receiver: broadcast::Receiver<Arc<BufferedNotification>>) -> Self {
        Self {
            receiver,
            next: None,
        }
    }

    /// The next notification; `None` once the connection is over.
    pub async fn next(&mut self) -> Option<Notification> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        match self.receiver.recv().await {
            Ok(buffered) => Some(self.unwrap_buffered(&buffered)),
            Err(RecvError::Lagged(lost)) => Some(Notification::Lost(lost)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next notification, if it is there already.
    pub(crate) fn try_next(&mut self) -> Option<Notification> {
        if let Some(next) = self.next.take() {
            return Some(next);
        }
        match self.receiver.try_recv() {
            Ok(buffered) => Some(self.unwrap_buffered(&buffered)),
            Err(TryRecvError::Lagged(lost)) => Some(Notification::Lost(lost)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }

    /// The notification; if it had to make room, how many have.
    fn unwrap_buffered(&mut self, buffered: &BufferedNotification) -> Notification {
        if let Some(notification) = buffered.get() {
            return notification;
        }
        let mut lost = 1;
        while self.next.is_none() {
            match self.receiver.try_recv() {
                Ok(buffered) => {
                    self.next = buffered.get();
                    lost += u64::from(self.next.is_none());
                }
                Err(TryRecvError::Lagged(more)) => lost += more,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        Notification::Lost(lost)
    }

    /// Hears no more.
    pub(crate) fn close(&mut self) {
        *self = Self::new(broadcast::channel(1).1);
    }

    /// The same notifications as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Notification> + Send {
        Unfold::new(self, async |mut notifications| {
            let next = notifications.next().await?;
            Some((next, notifications))
        })
    }
}
