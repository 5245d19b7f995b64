//! Revision 2025-03-26: one HTTP endpoint with sessions and resumption, batches
//! (removed in the next revision), audio, tool annotations, progress messages.

use super::{HttpMode, Revision, Rules, v2024_11_05};
use crate::model::WireFeatures;

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2025_03_26,
    features: WireFeatures {
        tool_annotations: true,
        audio: true,
        progress_message: true,
        completions_capability: true,
        ..v2024_11_05::RULES.features
    },
    batching: true,
    http: HttpMode::Streamable { polling: false },
    sessions: true,
    resumption: true,
    ..v2024_11_05::RULES
};
