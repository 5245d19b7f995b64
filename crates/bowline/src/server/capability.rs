//! Capabilities that a client must have.

use crate::proto::model::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability,
};

/// A capability that a client must have to use a tool, prompt or resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClientCapability {
    /// Show forms to the user.
    Elicitation,
    /// Send the user to a URL.
    UrlElicitation,
    /// Sample from a model.
    Sampling,
    /// Sample from a model with tools.
    SamplingTools,
    /// List roots.
    Roots,
}

impl ClientCapability {
    const ALL: [Self; 5] = [
        Self::Elicitation,
        Self::UrlElicitation,
        Self::Sampling,
        Self::SamplingTools,
        Self::Roots,
    ];

    /// Returns the path of the capability.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation.form",
            Self::UrlElicitation => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling.tools",
            Self::Roots => "roots",
        }
    }

    /// Returns the capability with this path.
    pub(crate) fn from_path(path: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|capability| capability.path() == path)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CapabilitySet(u8);

impl CapabilitySet {
    pub(crate) fn insert(&mut self, capability: ClientCapability) {
        self.0 |= capability.bit();
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the capabilities that are in both sets.
    pub(crate) fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the capabilities that are not in the other set.
    pub(crate) fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the capabilities that a client declared.
    pub(crate) fn declared_by(client: &ClientCapabilities) -> Self {
        let is_declared = |capability: &ClientCapability| client.has(capability.path());
        ClientCapability::ALL
            .into_iter()
            .filter(is_declared)
            .collect()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = ClientCapability> {
        let mut all = ClientCapability::ALL.to_vec();
        all.retain(|capability| self.0 & capability.bit() != 0);
        all.into_iter()
    }

    /// Returns the set as the protocol's type.
    pub(crate) fn as_capabilities(self) -> ClientCapabilities {
        let mut capabilities = ClientCapabilities::default();
        for capability in self.iter() {
            match capability {
                ClientCapability::Elicitation => {
                    elicitation_mut(&mut capabilities)
                        .form
                        .get_or_insert_default();
                }
                ClientCapability::UrlElicitation => {
                    elicitation_mut(&mut capabilities)
                        .url
                        .get_or_insert_default();
                }
                ClientCapability::Sampling => {
                    capabilities.sampling.get_or_insert_default();
                }
                ClientCapability::SamplingTools => {
                    let sampling: &mut SamplingCapability =
                        capabilities.sampling.get_or_insert_default();
                    sampling.tools.get_or_insert_default();
                }
                ClientCapability::Roots => capabilities.roots = Some(RootsCapability::default()),
            }
        }
        capabilities
    }
}

impl FromIterator<ClientCapability> for CapabilitySet {
    fn from_iter<I: IntoIterator<Item = ClientCapability>>(capabilities: I) -> Self {
        let mut set = Self::default();
        capabilities
            .into_iter()
            .for_each(|capability| set.insert(capability));
        set
    }
}

fn elicitation_mut(capabilities: &mut ClientCapabilities) -> &mut ElicitationCapability {
    capabilities.elicitation.get_or_insert_default()
}
