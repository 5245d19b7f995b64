//! Agreeing on a revision.

use bowline_proto::revision::{
    Revision, accept_handshake_version, choose_stateless_version, handshake_revisions,
    negotiate_handshake, stateless_revisions,
};

#[test]
fn version_strings_go_both_ways() {
    for revision in Revision::ALL {
        assert_eq!(Revision::parse(revision.as_str()), Some(revision));
    }
    for unknown in ["", "2024-11-5", "2024-11-05 ", "2099-01-01", "latest"] {
        assert_eq!(Revision::parse(unknown), None, "{unknown:?}");
    }
}

#[test]
fn eras_are_listed_newest_first() {
    let handshake: Vec<_> = handshake_revisions().collect();
    assert_eq!(handshake[0], Revision::LATEST_HANDSHAKE);
    assert_eq!(handshake.len(), 4);
    assert!(handshake.is_sorted_by(|newer, older| newer > older));
    assert_eq!(
        stateless_revisions().collect::<Vec<_>>(),
        [Revision::LATEST]
    );
}

#[test]
fn a_server_echoes_what_it_supports() {
    let all = Revision::ALL;
    for (requested, supported, answer) in [
        ("2024-11-05", &all[..], Revision::V2024_11_05),
        ("2025-11-25", &all[..], Revision::V2025_11_25),
        ("2099-01-01", &all[..], Revision::V2025_11_25),
        // The newest has no handshake, so a handshake cannot agree on it.
        ("2026-07-28", &all[..], Revision::V2025_11_25),
        ("2025-11-25", &all[..2], Revision::V2025_03_26),
        ("2025-11-25", &all[4..], Revision::V2025_11_25),
    ] {
        assert_eq!(
            negotiate_handshake(requested, supported),
            answer,
            "{requested} of {supported:?}"
        );
    }
}

#[test]
fn a_client_takes_only_what_it_allows() {
    let all = Revision::ALL;
    assert_eq!(
        accept_handshake_version("2025-03-26", &all),
        Some(Revision::V2025_03_26)
    );
    assert_eq!(accept_handshake_version("2025-03-26", &all[..1]), None);
    assert_eq!(accept_handshake_version("2026-07-28", &all), None);
    assert_eq!(accept_handshake_version("1.0", &all), None);
}

#[test]
fn a_stateless_version_is_chosen_from_a_mixed_list() {
    let list = |versions: &[&str]| versions.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        choose_stateless_version(&list(&["2030-01-01", "2026-07-28", "2025-11-25"])),
        Some(Revision::V2026_07_28)
    );
    assert_eq!(choose_stateless_version(&list(&["2025-11-25"])), None);
    assert_eq!(choose_stateless_version(&[]), None);
}
