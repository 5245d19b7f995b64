//! Looking at servers, and calling them.

use crate::rig::Rig;

#[test]
fn a_server_that_is_there_answers() {
    let ran = Rig::new().run(&["ping", "fixture", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["server"], "fixture");
    assert_eq!(ran.stderr, "");
}
