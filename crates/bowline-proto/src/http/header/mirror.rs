//! `Mcp-Method` and `Mcp-Name`: headers that mirror the body.

use std::borrow::Cow;

use super::{
    HeaderField, HeaderMismatch, HeaderValueError, Headers, MismatchReason, decode_value,
    encode_value,
    field::{check_plain, single_value},
    name,
    value::is_plain,
};
use crate::{
    jsonrpc::{Member, find_member},
    model::method,
};

/// The headers that mirror a message's body.
///
/// ```
/// use bowline_proto::http::header::MirroredHeaders;
///
/// let params = br#"{"name": "echo"}"#;
/// let mirrored = MirroredHeaders::from_message("tools/call", Some(params)).unwrap();
/// let sent: Vec<_> = mirrored
///     .fields()
///     .unwrap()
///     .into_iter()
///     .map(|field| (field.name().to_owned(), field.value().to_owned()))
///     .collect();
/// assert_eq!(sent[0], ("mcp-method".into(), "tools/call".into()));
/// assert_eq!(sent[1], ("mcp-name".into(), "echo".into()));
/// mirrored.check_request(&sent).expect("a server accepts what a client sends");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredHeaders<'a> {
    method: &'a str,
    /// `None`: the method has no `Mcp-Name`. `Some(None)`: it has one, but the
    /// body lacks the member, and decoding the params will refuse it.
    name: Option<Option<Cow<'a, str>>>,
}

impl<'a> MirroredHeaders<'a> {
    /// Reads the mirrored values from a message's method and params.
    ///
    /// # Errors
    ///
    /// Returns an error if the params contain the mirrored member twice.
    pub fn from_message(method: &'a str, params: Option<&'a [u8]>) -> Result<Self, HeaderMismatch> {
        let member = mirrored_member(method);
        let member = member.map(|name| params.map_or(Member::Absent, |it| find_member(it, name)));
        Self::with_member(method, member)
    }

    /// As [`from_message`](Self::from_message), with the mirrored member
    /// already found.
    pub(crate) fn with_member(
        method: &'a str,
        member: Option<Member<'a>>,
    ) -> Result<Self, HeaderMismatch> {
        let name = match member {
            None => None,
            Some(Member::String(text)) => Some(Some(text)),
            Some(Member::Absent | Member::Other) => Some(None),
            Some(Member::Repeated) => {
                let reason = MismatchReason::Ambiguous;
                return Err(HeaderMismatch::new(name::MCP_NAME, reason));
            }
        };
        Ok(Self { method, name })
    }

    /// Returns the headers to send.
    ///
    /// # Errors
    ///
    /// Returns an error if the method is not printable ASCII: `Mcp-Method` has
    /// no encoding.
    pub fn fields(&self) -> Result<Vec<HeaderField<'_>>, HeaderValueError> {
        if !is_plain(self.method.as_bytes()) {
            return Err(HeaderValueError::IllegalByte);
        }
        let mut fields = vec![HeaderField::new(
            name::MCP_METHOD,
            Cow::Borrowed(self.method),
        )];
        if let Some(Some(text)) = &self.name {
            fields.push(HeaderField::new(name::MCP_NAME, encode_value(text)));
        }
        Ok(fields)
    }

    /// Compares the headers of a request with its body.
    ///
    /// # Errors
    ///
    /// Returns an error if a header is missing, repeated, malformed or
    /// different.
    pub fn check_request<H: Headers + ?Sized>(&self, headers: &H) -> Result<(), HeaderMismatch> {
        self.check(headers, true)
    }

    /// Compares the headers of a notification with its body.
    ///
    /// The specification does not require them on notifications, so they may be
    /// missing; if present, they must match.
    ///
    /// # Errors
    ///
    /// Returns an error if a header is repeated, malformed or different.
    pub fn check_notification<H: Headers + ?Sized>(
        &self,
        headers: &H,
    ) -> Result<(), HeaderMismatch> {
        self.check(headers, false)
    }

    fn check<H: Headers + ?Sized>(
        &self,
        headers: &H,
        required: bool,
    ) -> Result<(), HeaderMismatch> {
        check_plain(headers, name::MCP_METHOD, self.method, required)?;
        let Some(expected) = &self.name else {
            return Ok(());
        };
        let received = single_value(headers, name::MCP_NAME)?;
        let reason = match (received.map(decode_value), expected) {
            (Some(Err(error)), _) => MismatchReason::Malformed(error),
            (Some(Ok(_)), None) => MismatchReason::Unexpected,
            (Some(Ok(value)), Some(text)) if value != *text => MismatchReason::Different,
            (None, Some(_)) if required && !is_lenient(self.method) => MismatchReason::Missing,
            (Some(Ok(_)), Some(_)) | (None, _) => return Ok(()),
        };
        Err(HeaderMismatch::new(name::MCP_NAME, reason))
    }
}

/// Returns whether `Mcp-Name` may be missing although the method has one. Clients that
/// derive it from the core's list of methods leave it out of requests about tasks,
/// which are an extension.
fn is_lenient(method: &str) -> bool {
    matches!(
        method,
        method::TASKS_GET | method::TASKS_UPDATE | method::TASKS_CANCEL
    )
}

/// Returns the member of `params` that `Mcp-Name` mirrors, for methods that
/// have one.
#[must_use]
pub fn mirrored_member(method: &str) -> Option<&'static str> {
    method::info(method)?.mirrored
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        params: &[u8],
        headers: &[(&str, &str)],
        expected: Result<(), (&str, MismatchReason)>,
    ) {
        let outcome = MirroredHeaders::from_message("tools/call", Some(params))
            .and_then(|mirror| mirror.check_request(headers));
        assert_eq!(
            outcome,
            expected.map_err(|(header, reason)| HeaderMismatch::new(header, reason))
        );
    }

    const ECHO: &[u8] = br#"{"_meta": {"name": "no"}, "name": "echo", "arguments": {"name": "x"}}"#;
    const METHOD: (&str, &str) = ("Mcp-Method", "tools/call");

    #[test]
    fn names_match_in_any_case_and_values_in_one() {
        check(
            ECHO,
            &[("MCP-METHOD", "tools/call"), ("mcp-name", " echo ")],
            Ok(()),
        );
        let wrong = Err(("mcp-method", MismatchReason::Different));
        check(
            ECHO,
            &[("mcp-method", "TOOLS/CALL"), ("mcp-name", "echo")],
            wrong,
        );
        let wrong = Err(("mcp-name", MismatchReason::Different));
        check(ECHO, &[METHOD, ("mcp-name", "Echo")], wrong);
    }

    #[test]
    fn missing_and_repeated_headers_are_refused() {
        let missing = Err(("mcp-method", MismatchReason::Missing));
        check(ECHO, &[("mcp-name", "echo")], missing);
        check(ECHO, &[METHOD], Err(("mcp-name", MismatchReason::Missing)));
        let repeated = Err(("mcp-name", MismatchReason::Repeated));
        check(
            ECHO,
            &[METHOD, ("mcp-name", "echo"), ("Mcp-Name", "echo")],
            repeated,
        );
    }

    #[test]
    fn requests_about_tasks_may_lack_the_name_but_not_have_another() {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = br#"{"taskId": "t"}"#;
            let mirror = MirroredHeaders::from_message(method, Some(params)).unwrap();
            assert_eq!(mirror.check_request(&[("mcp-method", method)][..]), Ok(()));
            let headers = [("mcp-method", method), ("mcp-name", "u")];
            let different = HeaderMismatch::new("mcp-name", MismatchReason::Different);
            assert_eq!(mirror.check_request(&headers[..]), Err(different));
        }
    }

    #[test]
    fn the_name_is_decoded_before_it_is_compared() {
        check(ECHO, &[METHOD, ("mcp-name", "=?base64?ZWNobw==?=")], Ok(()));
        let bad = Err((
            "mcp-name",
            MismatchReason::Malformed(HeaderValueError::BadBase64),
        ));
        check(ECHO, &[METHOD, ("mcp-name", "=?base64?ZWNobw?=")], bad);
    }

    #[test]
    fn a_body_that_names_two_tools_is_refused() {
        let ambiguous = Err(("mcp-name", MismatchReason::Ambiguous));
        let headers = [METHOD, ("mcp-name", "safe")];
        check(br#"{"name": "safe", "name": "rm"}"#, &headers, ambiguous);
        check(
            br#"{"name": "safe", "n\u0061me": "rm"}"#,
            &headers,
            ambiguous,
        );
    }

    #[test]
    fn a_body_without_the_member_leaves_the_refusal_to_the_params() {
        for params in [&b"{}"[..], br#"{"name": 7}"#, b"[]", b"nonsense", b""] {
            check(params, &[METHOD], Ok(()));
            let unexpected = Err(("mcp-name", MismatchReason::Unexpected));
            check(params, &[METHOD, ("mcp-name", "echo")], unexpected);
        }
    }

    #[test]
    fn each_method_mirrors_its_own_member() {
        let member = |method, params| match MirroredHeaders::from_message(method, Some(params))
            .unwrap()
            .name
        {
            Some(Some(name)) => name.into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(member("prompts/get", br#"{"name": "p", "uri": "u"}"#), "p");
        assert_eq!(
            member("resources/read", br#"{"name": "p", "uri": "u"}"#),
            "u"
        );
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(member(method, br#"{"taskId": "t", "name": "n"}"#), "t");
        }
        for method in [
            "tools/list",
            "completion/complete",
            "tasks/result",
            "initialize",
        ] {
            assert_eq!(mirrored_member(method), None);
        }
    }

    #[test]
    fn a_method_that_would_break_out_of_its_header_is_not_sent() {
        for method in ["a\r\nb: c", "ping\n", " ping", "pïng", "nul\0"] {
            let mirror = MirroredHeaders::from_message(method, None).unwrap();
            assert_eq!(
                mirror.fields(),
                Err(HeaderValueError::IllegalByte),
                "{method:?}"
            );
        }
    }

    #[test]
    fn notifications_may_lack_the_headers_but_not_falsify_them() {
        let mirror = MirroredHeaders::from_message("notifications/cancelled", Some(b"{}")).unwrap();
        let none: [(&str, &str); 0] = [];
        assert_eq!(mirror.check_notification(&none), Ok(()));
        assert!(
            mirror
                .check_notification(&[("mcp-method", "other")])
                .is_err()
        );
    }
}
