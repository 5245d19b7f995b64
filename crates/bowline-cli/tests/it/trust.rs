//! What a project brings: who may run it, and under which name.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use serde_json::{Value, json};

use crate::{
    rig::{Ran, Rig, example},
    terminal::Terminal,
};

/// A project whose server leaves a mark when it is started.
pub(crate) struct Project {
    pub(crate) rig: Rig,
}

impl Project {
    /// Beside servers of the user's own: `github`, and others that do not work.
    pub(crate) fn new() -> Self {
        let rig = Rig::empty();
        rig.configure(&json!({"mcpServers": {
            "github": {"command": example("fixture")},
            "off": {"command": "off", "disabled": true},
            "broken": {"command": "${NO_SUCH_VARIABLE}"},
        }}));
        Self { rig }
    }

    pub(crate) fn mark(&self) -> PathBuf {
        self.rig.home().join("started")
    }

    /// An entry that leaves a mark.
    pub(crate) fn entry(&self) -> Value {
        let script = format!("touch {}; exit 3", self.mark().display());
        json!({"command": "sh", "args": ["-c", script]})
    }

    pub(crate) fn write(&self, servers: &Value) {
        let servers = json!({"mcpServers": servers}).to_string();
        let path = self.rig.file(".mcp.json", servers);
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("it is ours");
    }

    /// Whether it was started since this was asked last.
    pub(crate) fn was_started(&self) -> bool {
        fs::remove_file(self.mark()).is_ok()
    }

    #[track_caller]
    pub(crate) fn check_refused(&self, words: &[&str], why: &str) -> Ran {
        let ran = self.rig.run(words);
        assert!(!self.was_started(), "{words:?}: {ran:?}");
        assert_eq!(ran.code, Some(1), "{words:?}: {ran:?}");
        let all = format!("{}{}", ran.text(), ran.stderr);
        assert!(all.contains(why), "{words:?}: {ran:?}");
        ran
    }

    #[track_caller]
    pub(crate) fn check_started(&self, words: &[&str]) {
        let ran = self.rig.run(words);
        assert!(self.was_started(), "{words:?}: {ran:?}");
    }

    #[track_caller]
    pub(crate) fn trust(&self, name: &str) {
        let ran = self.rig.run(&["config", "trust", name, "--yes"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!self.was_started(), "to trust is not to run");
    }
}

pub(crate) const NOT_TRUSTED: &str = "is not trusted";
const CHANGED: &str = "changed since you trusted it";

#[test]
fn a_project_does_not_get_the_names_of_others() {
    let project = Project::new();
    let names = [
        "github",
        "demo",
        "github.create_issue",
        "demo.add",
        "off",
        "broken",
        "off.x",
    ];
    let servers = names.map(|name| (name.to_owned(), project.entry()));
    project.write(&Value::Object(servers.into_iter().collect()));
    // Even for those who trust it all.
    for name in names {
        for verb in [&["list"][..], &["doctor"], &["status"], &["call"]] {
            let words = [verb, &[name, "--trust-project", "--timeout", "20"]].concat();
            let ran = project.rig.run(&words);
            assert!(!project.was_started(), "{words:?}: {ran:?}");
        }
        let trusted = project.rig.run(&["config", "trust", name, "--yes"]);
        assert_eq!(trusted.code, Some(1), "{trusted:?}");
    }
    let own = project.rig.run(&["list", "github"]);
    assert_eq!(own.code, Some(0), "{own:?}");
    assert!(own.text().contains("refuse()"), "{own:?}");
    let built_in = project.rig.run(&["call", "demo.add", "a=1", "b=2"]);
    assert_eq!(
        (built_in.code, built_in.text()),
        (Some(0), "{\"sum\":3.0}\n")
    );
}

#[test]
fn what_is_hidden_is_reported() {
    let project = Project::new();
    project.write(&json!({"github": project.entry(), "demo": project.entry()}));
    let listed = project.rig.run(&["servers", "--no-check", "--json"]).json();
    let hidden = |name: &str| {
        let servers = listed["servers"].as_array().expect("there are some");
        let of = |it: &&Value| it["name"] == name && it["state"] == "hidden";
        servers.iter().find(of).expect("it is hidden")["hidden_by"].clone()
    };
    assert_eq!(hidden("demo"), "built in");
    let by = hidden("github");
    assert!(
        by.as_str().is_some_and(|by| by.ends_with("bowline.json")),
        "{by}"
    );
    for name in ["github", "demo"] {
        let chart = project.rig.run(&["doctor", name]);
        let said = "./.mcp.json has a server of the same name, which is not used";
        assert!(chart.text().contains(said), "{chart:?}");
    }
}

#[test]
fn nothing_of_a_project_runs_without_a_yes() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    let verbs: &[&[&str]] = &[
        &["list", "theirs"],
        &["list", "theirs.tool"],
        &["call", "theirs.tool"],
        &["call", "theirs.tool", "--no-check"],
        &["resources", "theirs"],
        &["templates", "theirs"],
        &["read", "theirs", "a://b"],
        &["prompts", "theirs"],
        &["prompt", "theirs.p"],
        &["complete", "theirs.p", "a=b"],
        &["watch", "theirs"],
        &["log-level", "theirs", "info"],
        &["ping", "theirs"],
        &["raw", "theirs", "ping"],
        &["doctor", "theirs"],
        &["sync", "theirs"],
        &["status", "theirs"],
        &["search", "x", "--server", "theirs"],
        &["search", "x", "--server", "theirs", "--call"],
    ];
    for verb in verbs {
        project.check_refused(verb, NOT_TRUSTED);
    }
    let ran = project.check_refused(&["list", "theirs"], "it would run: sh -c 'touch");
    assert!(
        ran.stderr.contains("bowline config trust theirs"),
        "{ran:?}"
    );
    for verb in [
        &["list"][..],
        &["servers"],
        &["status"],
        &["sync"],
        &["search", "x"],
    ] {
        project.rig.run(verb);
        assert!(!project.was_started(), "{verb:?}");
    }
    project.check_started(&["list", "theirs", "--trust-project"]);
    project.check_refused(&["list", "theirs"], NOT_TRUSTED);
}

#[test]
fn a_person_is_asked_once() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    let mut asked = Terminal::run(&project.rig, &["list", "theirs"]);
    asked.wait_for("`theirs` comes from a project: ./.mcp.json");
    asked.wait_for("command   sh -c 'touch");
    asked.wait_for("[y/N]").type_line("");
    assert_eq!(asked.end().code, Some(1));
    assert!(!project.was_started(), "nothing is no yes");
    let mut asked = Terminal::run(&project.rig, &["list", "theirs"]);
    asked.wait_for("[y/N]").type_line("y");
    assert_eq!(asked.end().code, Some(4), "it ends at once");
    assert!(project.was_started());
    project.check_started(&["list", "theirs"]);
    project.check_started(&["status"]);
}

#[test]
fn a_yes_is_for_what_was_shown() {
    let project = Project::new();
    let folder = project.rig.home().join("elsewhere");
    fs::create_dir_all(&folder).expect("it can be made");
    let variables = project.rig.file("theirs.env", "A=1\n");
    let mut entry = project.entry();
    entry["env"] = json!({"A": "1", "B": "${B:-1}"});
    entry["envFile"] = json!(variables);
    project.write(&json!({"theirs": entry}));
    project.trust("theirs");
    project.check_started(&["list", "theirs"]);
    let changes: [(&str, Value); 6] = [
        ("/command", json!("bash")),
        ("/args/1", json!("exit 1")),
        ("/env/A", json!("2")),
        ("/env/B", json!("${B:-2}")),
        ("/cwd", json!(folder)),
        ("/roots", json!(["/"])),
    ];
    for (place, value) in changes {
        let mut changed = entry.clone();
        match changed.pointer_mut(place) {
            Some(old) => *old = value,
            None => changed[&place[1..]] = value,
        }
        project.write(&json!({"theirs": changed}));
        project.check_refused(&["list", "theirs"], CHANGED);
    }
    project.write(&json!({"theirs": entry, "other": {"command": "x"}}));
    project.check_started(&["list", "theirs"]);
    fs::write(&variables, "A=1\nLD_PRELOAD=./evil.so\n").expect("it can be written");
    project.check_refused(&["list", "theirs"], CHANGED);
}

#[test]
fn addresses_need_a_yes_as_well() {
    let project = Project::new();
    let entry = |url: &str, key: &str| json!({"url": url, "headers": {"X-Key": key}});
    let url = "http://127.0.0.1:1/mcp";
    project.write(&json!({"theirs": entry(url, "1")}));
    let ran = project.check_refused(&["list", "theirs"], NOT_TRUSTED);
    assert!(
        ran.stderr
            .contains("it would connect to: http://127.0.0.1:1/mcp"),
        "{ran:?}"
    );
    project.check_refused(&["auth", "login", "theirs"], NOT_TRUSTED);
    project.trust("theirs");
    let ran = project.rig.run(&["list", "theirs"]);
    assert_eq!(ran.code, Some(4), "nobody is there: {ran:?}");
    for changed in [entry("http://127.0.0.1:2/mcp", "1"), entry(url, "${HOME}")] {
        project.write(&json!({"theirs": changed}));
        project.check_refused(&["list", "theirs"], CHANGED);
    }
}

#[test]
fn a_yes_is_for_one_file() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    project.trust("theirs");
    let work = project.rig.work();
    // From a folder below, it is the same file.
    fs::create_dir_all(work.join("deep")).expect("it can be made");
    let below = |words: &[&str]| {
        let mut command = project.rig.command(words);
        command.current_dir(work.join("deep"));
        crate::rig::finish(command.spawn().expect("it starts"))
    };
    below(&["list", "theirs"]);
    assert!(project.was_started());
    // A copy elsewhere is another.
    fs::copy(work.join(".mcp.json"), work.join("deep/.mcp.json")).expect("a copy");
    let ran = below(&["list", "theirs"]);
    assert!(!project.was_started(), "{ran:?}");
    fs::remove_file(work.join("deep/.mcp.json")).expect("it is there");
    // And so is what a link in its place leads to.
    fs::rename(work.join(".mcp.json"), work.join("moved.json")).expect("it is there");
    std::os::unix::fs::symlink("moved.json", work.join(".mcp.json")).expect("a link");
    project.check_refused(&["list", "theirs"], NOT_TRUSTED);
}

#[test]
fn files_that_others_can_write_are_not_read() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    project.trust("theirs");
    let allow = |path: PathBuf, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    let why = "refusing to read the file: other users can write";
    allow(project.rig.work().join(".mcp.json"), 0o666);
    project.check_refused(&["list", "theirs", "--trust-project"], why);
    allow(project.rig.work().join(".mcp.json"), 0o644);
    allow(project.rig.work(), 0o777);
    project.check_refused(&["list", "theirs", "--trust-project"], why);
    project.check_refused(&["config", "trust", "theirs", "--yes"], why);
    let listed = project.rig.run(&["servers", "--no-check"]);
    assert!(listed.text().contains(why), "{listed:?}");
    allow(project.rig.work(), 0o755);
    project.check_started(&["list", "theirs"]);
}

#[test]
fn trust_is_listed_and_taken_back() {
    let project = Project::new();
    project.write(&json!({"one": project.entry(), "two": project.entry()}));
    let listed = |key: &str| {
        let listed = project.rig.run(&["config", "trust", "--json"]).json();
        let names = listed[key].as_array().expect("a list").iter();
        names.map(|it| it["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("waiting"), ["one", "two"]);
    let both = project.rig.run(&["config", "trust", "one", "two", "--yes"]);
    assert_eq!(both.code, Some(0), "{both:?}");
    assert!(both.stderr.contains("command   sh -c 'touch"), "{both:?}");
    assert_eq!((listed("trusted").len(), listed("waiting").len()), (2, 0));
    let gone = project.rig.run(&["config", "trust", "--revoke", "one"]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    project.check_refused(&["list", "one"], NOT_TRUSTED);
    project.check_started(&["list", "two"]);
    let folder = project.rig.run(&["config", "trust", "--revoke", "./"]);
    assert_eq!(folder.code, Some(0), "{folder:?}");
    project.check_refused(&["list", "two"], NOT_TRUSTED);
    let nothing = project.rig.run(&["config", "trust", "--revoke", "two"]);
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    project.trust("one");
    let all = project.rig.run(&["config", "trust", "--revoke", "--all"]);
    assert_eq!(all.code, Some(0), "{all:?}");
    assert_eq!(listed("trusted").len(), 0);
}

#[test]
fn a_project_is_not_copied_without_a_yes() {
    let project = Project::new();
    project.write(&json!({"theirs": project.entry()}));
    let own = project.rig.home().join(".config/bowline/bowline.json");
    let has = || {
        let text = fs::read_to_string(&own).expect("it is there");
        text.contains("theirs")
    };
    let ran = project.rig.run(&["config", "import"]);
    assert!(!has(), "{ran:?}");
    assert!(ran.stderr.contains("left out theirs"), "{ran:?}");
    assert!(ran.stderr.contains("it would run: sh -c 'touch"), "{ran:?}");
    let mut asked = Terminal::run(&project.rig, &["config", "import"]);
    asked.wait_for("command   sh -c 'touch");
    asked.wait_for("[y/N]").type_line("n");
    asked.end();
    assert!(!has());
    let mut asked = Terminal::run(&project.rig, &["config", "import"]);
    asked.wait_for("[y/N]").type_line("yes");
    asked.end();
    assert!(has());
    project.check_started(&["list", "theirs"]);
}

#[test]
fn a_name_is_not_taken_over_by_a_copy_either() {
    let project = Project::new();
    project.write(&json!({"demo": project.entry(), "off.x": project.entry()}));
    let ran = project.rig.run(&["config", "import", "--yes"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.text().contains("0 servers added"), "{ran:?}");
    project.rig.run(&["list", "demo"]);
    assert!(!project.was_started());
}

#[test]
fn a_call_that_was_suspended_goes_on_with_what_was_trusted() {
    let project = Project::new();
    project.write(&json!({"theirs": {"command": example("asker")}}));
    project.trust("theirs");
    let suspended = project.rig.run(&["call", "theirs.in_turn", "--json"]);
    let id = suspended.json()["suspended"]
        .as_str()
        .expect("an id")
        .to_owned();
    project.write(&json!({"theirs": project.entry()}));
    let why = "is no longer the server that the call was made to";
    project.check_refused(&["resume", &id], why);
    project.write(&json!({"theirs": {"command": example("asker")}}));
    let ran = project.rig.run(&["resume", &id, "row=1"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_somebody_added_themselves_needs_no_yes() {
    let project = Project::new();
    let script = project.entry()["args"][1]
        .as_str()
        .expect("a script")
        .to_owned();
    let add = [
        "config",
        "add",
        "mine",
        "--project",
        "--",
        "sh",
        "-c",
        &script,
    ];
    let ran = project.rig.run(&add);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    project.check_started(&["list", "mine"]);
}

#[test]
fn a_name_cannot_be_a_command_for_a_shell() {
    let project = Project::new();
    project.write(&json!({"x; reboot": project.entry()}));
    let advice = "bowline config trust 'x; reboot'";
    project.check_refused(&["list", "x; reboot"], advice);
    let listed = project.rig.run(&["servers"]);
    assert!(listed.text().contains(advice), "{listed:?}");
}

#[test]
fn an_entry_cannot_hide_what_it_runs() {
    let project = Project::new();
    let args = json!(["-c", "exit 1\n\u{1b}[2Kcommand   harmless\u{202e}"]);
    project.write(&json!({"theirs": {"command": "sh", "args": args}}));
    let mut asked = Terminal::run(&project.rig, &["list", "theirs"]);
    asked.wait_for("sh -c 'exit 1\\n\\u{1b}[2Kcommand   harmless\\u{202e}'");
    asked.wait_for("[y/N]").type_line("n");
    asked.end();
}
