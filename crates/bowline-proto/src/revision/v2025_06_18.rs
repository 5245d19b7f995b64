//! Revision 2025-06-18: structured results, resource links, form elicitation, titles
//! and `_meta` on most objects, the version in a header. Batches are removed.

use super::{Revision, Rules, VersionHeader, v2024_11_05, v2025_03_26};
use crate::model::{ElicitationFeatures, StructuredContent, WireFeatures, method as m};

pub(super) const RULES: Rules = Rules {
    revision: Revision::V2025_06_18,
    features: WireFeatures {
        titles: true,
        meta_on_types: true,
        last_modified: true,
        output_schema: true,
        structured_content: StructuredContent::Object,
        resource_links: true,
        completion_context: true,
        elicitation: ElicitationFeatures {
            form: true,
            ..WireFeatures::MINIMAL.elicitation
        },
        ..v2025_03_26::RULES.features
    },
    batching: false,
    version_header: VersionHeader::AfterHandshake,
    server_methods: &[v2024_11_05::SERVER_METHODS, &[m::ELICITATION_CREATE]],
    ..v2025_03_26::RULES
};
