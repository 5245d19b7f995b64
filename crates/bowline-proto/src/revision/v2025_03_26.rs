//! 2025-03-26: one HTTP endpoint with sessions and resumption, batches (which
//! the next revision took back), audio, hints about tools, texts with progress.

use super::{HttpMode, Revision, Rules, v2024_11_05};
use crate::model::Dialect;

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2025_03_26,
    dialect: Dialect {
        tool_annotations: true,
        audio: true,
        progress_message: true,
        completions_capability: true,
        ..v2024_11_05::RULES.dialect
    },
    batching: true,
    http: HttpMode::Streamable { polling: false },
    sessions: true,
    resumption: true,
    ..v2024_11_05::RULES
};
