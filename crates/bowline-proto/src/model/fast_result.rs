//! A fast path for the most common tool results: text, and whether the tool
//! failed.

use super::{CallToolResult, ContentBlock, ResultType};
use crate::jsonrpc::CompactReader;

/// Reads such a result in a fraction of the steps of the decoder. `None` only
/// means that the decoder must be used.
pub(super) fn read(json: &str) -> Option<CallToolResult> {
    let mut json = CompactReader::new(json);
    let mut result = CallToolResult::default();
    json.expect("{")?;
    loop {
        member(&mut json, &mut result)?;
        if !json.skip_if(",") {
            break;
        }
    }
    json.expect("}")?;
    json.is_at_end().then_some(result)
}

fn member(json: &mut CompactReader<'_>, result: &mut CallToolResult) -> Option<()> {
    if json.skip_if(r#""content":["#) {
        result.content = blocks(json)?;
    } else if json.skip_if(r#""isError":false"#) {
        result.is_error = Some(false);
    } else if json.skip_if(r#""isError":true"#) {
        result.is_error = Some(true);
    } else {
        json.expect(r#""resultType":"complete""#)?;
        result.result_type = Some(ResultType::Complete);
    }
    Some(())
}

fn blocks(json: &mut CompactReader<'_>) -> Option<Vec<ContentBlock>> {
    let mut blocks = vec![block(json)?];
    while json.skip_if(",") {
        blocks.push(block(json)?);
    }
    json.expect("]")?;
    Some(blocks)
}

fn block(json: &mut CompactReader<'_>) -> Option<ContentBlock> {
    let text = if json.skip_if(r#"{"type":"text","text":"#) {
        let text = json.string()?;
        json.expect("}")?;
        text
    } else {
        // Programs that sort their keys write it this way.
        json.expect(r#"{"text":"#)?;
        let text = json.string()?;
        json.expect(r#","type":"text"}"#)?;
        text
    };
    Some(ContentBlock::text(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::decode;

    #[test]
    fn usual_results_take_the_short_way() {
        for json in [
            r#"{"content":[{"type":"text","text":"hi"}]}"#,
            r#"{"content":[{"type":"text","text":"hi"}],"isError":false}"#,
            r#"{"resultType":"complete","content":[{"type":"text","text":""}],"isError":true}"#,
            r#"{"content":[{"text":"a\nb","type":"text"},{"type":"text","text":"ä"}]}"#,
        ] {
            let full: CallToolResult = decode(json.as_bytes()).unwrap();
            assert_eq!(read(json), Some(full), "{json}");
        }
    }

    /// Pieces that results are made of, and pieces that spoil them.
    const PIECES: [&str; 20] = [
        r#""content":["#,
        r#"{"type":"text","text":"a"}"#,
        r#"{"text":"b\n","type":"text"}"#,
        r#"{"type":"image","data":"","mimeType":""}"#,
        r#"{"type":"text","text":"c","annotations":{}}"#,
        r#"{"type":"text","text":1}"#,
        "]",
        ",",
        ",",
        ",",
        "{",
        "}",
        r#""isError":true"#,
        r#""isError":false"#,
        r#""isError":null"#,
        r#""resultType":"complete""#,
        r#""resultType":"input_required""#,
        r#""structuredContent":{}"#,
        r#""_meta":{}"#,
        " ",
    ];

    fn compare(json: &str) -> Result<(), TestCaseError> {
        if let Some(short) = read(json) {
            let full = decode::<CallToolResult>(json.as_bytes());
            prop_assert_eq!(full.as_ref(), Ok(&short), "{}", json);
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn the_short_way_leads_to_the_same_place(
            members in prop::collection::vec(0..PIECES.len(), 0..8),
            comma in prop::collection::vec(prop::bool::weighted(0.8), 8),
        ) {
            let mut json = "{".to_owned();
            for (at, (piece, comma)) in members.iter().zip(comma).enumerate() {
                if comma && at > 0 {
                    json.push(',');
                }
                json.push_str(PIECES[*piece]);
            }
            json.push('}');
            compare(&json)?;
        }

        #[test]
        fn also_with_members_twice(
            members in prop::collection::vec(
                prop::sample::select(vec![
                    r#""content":[{"type":"text","text":"a"}]"#,
                    r#""content":[{"text":"b","type":"text"},{"type":"text","text":"c"}]"#,
                    r#""isError":true"#,
                    r#""isError":false"#,
                    r#""resultType":"complete""#,
                ]),
                1..6,
            ),
        ) {
            let json = format!("{{{}}}", members.join(","));
            prop_assert!(read(&json).is_some());
            compare(&json)?;
        }
    }
}
