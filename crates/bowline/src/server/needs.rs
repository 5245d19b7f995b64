//! What a client must be able to do.

use crate::proto::model::{
    ClientCapabilities, ElicitationCapability, RootsCapability, SamplingCapability,
};

/// Something that a client must be able to do for a tool to be of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Need {
    /// Show forms to the user.
    Elicitation,
    /// Send the user to a page.
    UrlElicitation,
    /// Ask a model.
    Sampling,
    /// Ask a model, and give it tools.
    SamplingTools,
    /// Name roots.
    Roots,
}

impl Need {
    const ALL: [Self; 5] = [
        Self::Elicitation,
        Self::UrlElicitation,
        Self::Sampling,
        Self::SamplingTools,
        Self::Roots,
    ];

    /// The path of the capability.
    #[must_use]
    pub fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation.form",
            Self::UrlElicitation => "elicitation.url",
            Self::Sampling => "sampling",
            Self::SamplingTools => "sampling.tools",
            Self::Roots => "roots",
        }
    }

    /// The need that a question has, by the path of its capability.
    pub(crate) fn by_capability(path: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|need| need.capability() == path)
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Needs(u8);

impl Needs {
    pub(crate) fn insert(&mut self, need: Need) {
        self.0 |= need.bit();
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in here and in the other.
    pub(crate) fn shared(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// What is in here and not in the other.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All that a client can do.
    pub(crate) fn met_by(client: &ClientCapabilities) -> Self {
        let met = |need: &Need| client.has(need.capability());
        Need::ALL.into_iter().filter(met).collect()
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Need> {
        let mut all = Need::ALL.to_vec();
        all.retain(|need| self.0 & need.bit() != 0);
        all.into_iter()
    }

    /// The needs in the words of the protocol.
    pub(crate) fn as_capabilities(self) -> ClientCapabilities {
        let mut wanted = ClientCapabilities::default();
        for need in self.iter() {
            match need {
                Need::Elicitation => {
                    elicitation(&mut wanted).form.get_or_insert_default();
                }
                Need::UrlElicitation => {
                    elicitation(&mut wanted).url.get_or_insert_default();
                }
                Need::Sampling => {
                    wanted.sampling.get_or_insert_default();
                }
                Need::SamplingTools => {
                    let sampling: &mut SamplingCapability = wanted.sampling.get_or_insert_default();
                    sampling.tools.get_or_insert_default();
                }
                Need::Roots => wanted.roots = Some(RootsCapability::default()),
            }
        }
        wanted
    }
}

impl FromIterator<Need> for Needs {
    fn from_iter<I: IntoIterator<Item = Need>>(needs: I) -> Self {
        let mut set = Self::default();
        needs.into_iter().for_each(|need| set.insert(need));
        set
    }
}

fn elicitation(wanted: &mut ClientCapabilities) -> &mut ElicitationCapability {
    wanted.elicitation.get_or_insert_default()
}
