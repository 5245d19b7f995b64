//! Session slots per client, and eviction when there are too many.
//!
//! Sessions that were never initialized are evicted first, then the one idle
//! for longest, from the client that has the most. So no client can take all
//! slots and keep others out, and a client that abandons sessions loses those.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::time::Instant;

use super::{options::ClientLimits, quotas::QuotaKey};
use crate::proto::http::SessionId;

/// How many sessions, and sessions of how many clients, are examined for
/// eviction. They are in the order last known and may have been used since.
const MAX_EVICTION_SCAN: usize = 64;

/// A session that may be evicted.
pub(super) trait Evictable: Clone {
    fn activity(&self) -> SessionActivity;
}

/// The activity of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SessionActivity {
    /// Whether the client finished initialization.
    pub(super) initialized: bool,
    /// Whether a connection to it is open.
    pub(super) connected: bool,
    /// When it was last used.
    pub(super) last_used: Instant,
}

/// The open sessions.
pub(super) struct SessionSlots<T> {
    max: ClientLimits,
    per_client: ClientLimits,
    slots: HashMap<SessionId, SessionSlot<T>>,
    /// The sessions of each client, and of each larger network.
    clients: HashMap<QuotaKey, ClientSessions>,
    /// Ordered by count, the largest last. Clients in a larger network are
    /// represented by that network.
    by_count: BTreeSet<(usize, QuotaKey)>,
    by_bytes: BTreeSet<(usize, QuotaKey)>,
    bytes: usize,
    next_sequence: u64,
}

struct SessionSlot<T> {
    session: T,
    client: QuotaKey,
    bytes: usize,
    order: EvictionOrder,
}

/// The sessions of one client.
#[derive(Default)]
struct ClientSessions {
    bytes: usize,
    /// The sessions in eviction order.
    by_order: BTreeMap<EvictionOrder, SessionId>,
}

/// Uninitialized sessions first, then by last use; a sequence number breaks
/// ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EvictionOrder(bool, Instant, u64);

/// The resource that is exhausted.
#[derive(Clone, Copy)]
enum LimitedResource {
    Slots,
    Bytes,
}

/// No slot is free, and no session can be evicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoFreeSlot;

impl<T: Evictable> SessionSlots<T> {
    pub(super) fn new(max: ClientLimits, per_client: ClientLimits) -> Self {
        Self {
            max,
            per_client,
            slots: HashMap::new(),
            clients: HashMap::new(),
            by_count: BTreeSet::new(),
            by_bytes: BTreeSet::new(),
            bytes: 0,
            next_sequence: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<&T> {
        self.slots.get(id).map(|slot| &slot.session)
    }

    /// Adds a session with a unique id. Returns the evicted sessions, which
    /// must be closed. If there is no free slot, none are evicted.
    pub(super) fn add(
        &mut self,
        id: &SessionId,
        client: &QuotaKey,
        session: T,
        bytes: usize,
    ) -> Result<Vec<T>, NoFreeSlot> {
        let evicted = self.evict_for(client, 1, bytes)?;
        let activity = session.activity();
        self.next_sequence += 1;
        let slot = SessionSlot {
            session,
            client: client.clone(),
            bytes,
            order: EvictionOrder(activity.initialized, activity.last_used, self.next_sequence),
        };
        self.insert(id.clone(), slot);
        Ok(evicted)
    }

    /// Updates the size of a session. Returns the evicted sessions; it may be
    /// one of them, and then it is the only one.
    pub(super) fn update_bytes(&mut self, id: &SessionId, bytes: usize) -> Vec<T> {
        let Some(slot) = self.slots.get_mut(id).filter(|slot| slot.bytes != bytes) else {
            return Vec::new();
        };
        let before = std::mem::replace(&mut slot.bytes, bytes);
        let client = slot.client.clone();
        self.bytes = self.bytes - before + bytes;
        for group in client.groups() {
            self.update_client(&group, |sessions| {
                sessions.bytes = sessions.bytes - before + bytes;
            });
        }
        if bytes < before {
            return Vec::new();
        }
        match self.evict_for(&client, 0, 0) {
            Ok(evicted) => evicted,
            Err(NoFreeSlot) => self.remove(id).into_iter().collect(),
        }
    }

    pub(super) fn remove(&mut self, id: &SessionId) -> Option<T> {
        self.remove_slot(id).map(|slot| slot.session)
    }

    /// Removes all sessions.
    pub(super) fn drain(&mut self) -> Vec<T> {
        self.clients.clear();
        self.by_count.clear();
        self.by_bytes.clear();
        self.bytes = 0;
        self.slots.drain().map(|(_, slot)| slot.session).collect()
    }

    fn insert(&mut self, id: SessionId, slot: SessionSlot<T>) {
        self.bytes += slot.bytes;
        for group in slot.client.groups() {
            self.update_client(&group, |sessions| {
                sessions.bytes += slot.bytes;
                sessions.by_order.insert(slot.order, id.clone());
            });
        }
        self.slots.insert(id, slot);
    }

    fn remove_slot(&mut self, id: &SessionId) -> Option<SessionSlot<T>> {
        let slot = self.slots.remove(id)?;
        self.bytes -= slot.bytes;
        for group in slot.client.groups() {
            self.update_client(&group, |sessions| {
                sessions.bytes -= slot.bytes;
                sessions.by_order.remove(&slot.order);
            });
        }
        Some(slot)
    }

    /// Updates the usage of a client or network, and its position in the order.
    fn update_client(&mut self, group: &QuotaKey, change: impl FnOnce(&mut ClientSessions)) {
        let sessions = self.clients.entry(group.clone()).or_default();
        let is_ranked = group.network().is_none();
        if is_ranked {
            self.by_count
                .remove(&(sessions.by_order.len(), group.clone()));
            self.by_bytes.remove(&(sessions.bytes, group.clone()));
        }
        change(sessions);
        if sessions.by_order.is_empty() {
            self.clients.remove(group);
        } else if is_ranked {
            self.by_count
                .insert((sessions.by_order.len(), group.clone()));
            self.by_bytes.insert((sessions.bytes, group.clone()));
        }
    }

    /// Makes room for this client. Returns the evicted sessions, or none if
    /// that is not enough.
    fn evict_for(
        &mut self,
        client: &QuotaKey,
        slot_count: usize,
        bytes: usize,
    ) -> Result<Vec<T>, NoFreeSlot> {
        let mut evicted = Vec::new();
        let result = self.try_evict_for(client, slot_count, bytes, &mut evicted);
        if let Err(NoFreeSlot) = result {
            for (id, slot) in evicted {
                self.insert(id, slot);
            }
            return Err(NoFreeSlot);
        }
        Ok(evicted.into_iter().map(|(_, slot)| slot.session).collect())
    }

    fn try_evict_for(
        &mut self,
        client: &QuotaKey,
        slot_count: usize,
        bytes: usize,
        evicted: &mut Vec<(SessionId, SessionSlot<T>)>,
    ) -> Result<(), NoFreeSlot> {
        for group in client.groups() {
            let limits = group.limits_for(self.per_client);
            if bytes > limits.max_session_bytes.min(self.max.max_session_bytes) {
                return Err(NoFreeSlot);
            }
            while self.exceeds(limits, &group, slot_count, bytes) {
                evicted.push(self.evict_one(&group, false)?);
            }
        }
        while self.slots.len() + slot_count > self.max.max_sessions {
            evicted.push(self.evict_other_client(client, LimitedResource::Slots, slot_count)?);
        }
        while self.bytes + bytes > self.max.max_session_bytes {
            evicted.push(self.evict_other_client(client, LimitedResource::Bytes, bytes)?);
        }
        Ok(())
    }

    fn exceeds(
        &self,
        limits: ClientLimits,
        group: &QuotaKey,
        slot_count: usize,
        bytes: usize,
    ) -> bool {
        let sessions = self.clients.get(group);
        let (count, had_bytes) =
            sessions.map_or((0, 0), |sessions| (sessions.by_order.len(), sessions.bytes));
        count + slot_count > limits.max_sessions || had_bytes + bytes > limits.max_session_bytes
    }

    /// Evicts a session in favor of a client that needs more: from the client
    /// with the most of the scarce resource, if it has at least what the
    /// requesting client would have. A client with more than that loses one
    /// even if it is in use.
    fn evict_other_client(
        &mut self,
        client: &QuotaKey,
        resource: LimitedResource,
        amount: usize,
    ) -> Result<(SessionId, SessionSlot<T>), NoFreeSlot> {
        let ranked_key = client.network().unwrap_or_else(|| client.clone());
        let ranking = match resource {
            LimitedResource::Slots => &self.by_count,
            LimitedResource::Bytes => &self.by_bytes,
        };
        let count = self
            .clients
            .get(&ranked_key)
            .map_or(0, |sessions| match resource {
                LimitedResource::Slots => sessions.by_order.len(),
                LimitedResource::Bytes => sessions.bytes,
            });
        let would_have = count + amount;
        let others = ranking
            .iter()
            .rev()
            .filter(|(_, other)| *other != ranked_key);
        let others = others.take_while(|(has, _)| *has >= would_have);
        let others: Vec<_> = others.take(MAX_EVICTION_SCAN).cloned().collect();
        for (has, other) in others {
            if let Ok(evicted) = self.evict_one(&other, has > would_have) {
                return Ok(evicted);
            }
        }
        let evicted = self.evict_one(client, false);
        evicted.or_else(|NoFreeSlot| self.evict_one(&ranked_key, false))
    }

    /// Evicts the first session in the order of a client or network; one in use
    /// only if allowed and if there is no other. If all that were examined have
    /// been used since, evicts the one of these idle for longest.
    fn evict_one(
        &mut self,
        group: &QuotaKey,
        even_connected: bool,
    ) -> Result<(SessionId, SessionSlot<T>), NoFreeSlot> {
        let mut in_use = None;
        let mut idle: Option<(EvictionOrder, SessionId)> = None;
        for _ in 0..MAX_EVICTION_SCAN {
            let sessions = self.clients.get(group).ok_or(NoFreeSlot)?;
            let (order, id) = sessions.by_order.first_key_value().ok_or(NoFreeSlot)?;
            let (order, id) = (*order, id.clone());
            let SessionActivity {
                initialized,
                connected,
                last_used,
            } = self.get(&id).ok_or(NoFreeSlot)?.activity();
            let now = if connected {
                // After all others, including those of the same instant.
                self.next_sequence += 1;
                EvictionOrder(true, Instant::now(), self.next_sequence)
            } else {
                EvictionOrder(initialized, last_used, order.2)
            };
            self.set_order(&id, now);
            if !connected && now == order {
                idle = Some((now, id));
                break;
            }
            if !connected && idle.as_ref().is_none_or(|(before, _)| now < *before) {
                idle = Some((now, id));
                continue;
            }
            if connected && in_use.replace(id.clone()).is_some_and(|first| first == id) {
                break;
            }
        }
        let in_use = in_use.filter(|_| even_connected);
        let id = idle.map(|(_, id)| id).or(in_use).ok_or(NoFreeSlot)?;
        let slot = self.remove_slot(&id).ok_or(NoFreeSlot)?;
        Ok((id, slot))
    }

    /// Changes the position of a session in the eviction order.
    fn set_order(&mut self, id: &SessionId, now: EvictionOrder) {
        let Some(slot) = self.slots.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut slot.order, now);
        for group in slot.client.groups() {
            if let Some(sessions) = self.clients.get_mut(&group) {
                sessions.by_order.remove(&before);
                sessions.by_order.insert(now, id.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
