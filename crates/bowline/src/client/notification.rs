//! Notifications from the server.

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

/// A notification, classified by its method.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notification {
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A subscribed resource, or one below it, has changed.
    ResourceUpdated(Box<ResourceUpdatedParams>),
    /// A log message.
    Log(Box<LoggingMessageParams>),
    /// Anything else, verbatim.
    Other {
        /// The method.
        method: Box<str>,
        /// The parameters, as JSON.
        params: Option<Bytes>,
    },
    /// Subscriptions are active again after a disconnect, during which changes to these
    /// resources may have been missed.
    Resubscribed {
        /// The resources.
        uris: Vec<Box<str>>,
    },
    /// A subscription could not be restored and has ended.
    SubscriptionLost {
        /// The resource.
        uri: Box<str>,
    },
    /// This many notifications were dropped because they arrived faster than they were
    /// received.
    Lost(u64),
}

impl Notification {
    /// Returns the method of the notification. It is empty for notifications that the
    /// connection itself creates.
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

    /// Classifies a notification. One whose parameters do not match its method is
    /// passed on verbatim.
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
            // A slice would keep the whole frame in memory.
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
/// A receiver that is too slow gets [`Notification::Lost`] with the number of dropped
/// notifications, and then those that are still buffered.
#[derive(Debug)]
pub struct Notifications {
    receiver: broadcast::Receiver<Arc<BufferedNotification>>,
    /// The notification after the lost ones.
    next: Option<Notification>,
}

impl Notifications {
    pub(crate) fn new(receiver: broadcast::Receiver<Arc<BufferedNotification>>) -> Self {
        Self {
            receiver,
            next: None,
        }
    }

    /// Returns the next notification, or `None` once the connection has ended.
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

    /// Returns the next notification if one is buffered.
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

    /// Returns the notification, or the number of lost ones if it was dropped.
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

    /// Stops receiving.
    pub(crate) fn close(&mut self) {
        *self = Self::new(broadcast::channel(1).1);
    }

    /// Converts the receiver into a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Notification> + Send {
        Unfold::new(self, async |mut notifications| {
            let next = notifications.next().await?;
            Some((next, notifications))
        })
    }
}
