//! The scripts, which Redis runs atomically.

use std::{borrow::Cow, sync::LazyLock};

use redis::{Cmd, Script as LoadedScript, cmd};

/// A script, with the parts that it begins with.
pub(crate) struct Script(LazyLock<(String, String)>);

macro_rules! scripts {
    ($($name:ident = [$($part:literal),+];)+) => {
        $(pub(crate) static $name: Script = Script(LazyLock::new(|| {
            let code = [$(include_str!(concat!("scripts/", $part, ".lua"))),+].join("\n");
            let hash = LoadedScript::new(&code).get_hash().to_owned();
            (code, hash)
        }));)+
    };
}

scripts! {
    START = ["start"];
    JOURNAL_OPEN = ["common", "journal_open"];
    JOURNAL_APPEND = ["common", "quota", "journal_append"];
    JOURNAL_RENEW = ["common", "journal_renew"];
    JOURNAL_RELEASE = ["common", "journal_release"];
    NODE_REGISTER = ["common", "node_register"];
    SESSION_PUT = ["common", "quota", "session_put"];
    SESSION_REMOVE = ["common", "quota", "session_remove"];
    SESSION_TAKE_OVER = ["common", "session_take_over"];
    VALUE_PUT = ["common", "quota", "value_put"];
    VALUE_REMOVE = ["common", "quota", "value_remove"];
    TASK_CREATE = ["common", "quota", "task_common", "task_create"];
    TASK_UPDATE = ["common", "quota", "task_common", "task_update"];
    TASK_RENEW = ["common", "task_renew"];
    TASK_CLAIM = ["common", "task_claim"];
    TASK_LIST = ["common", "task_list"];
    EVENTS_APPEND = ["common", "quota", "events_append"];
    EVENTS_AFTER = ["common", "events_after"];
    PROOF_INSERT = ["common", "quota", "proof_insert"];
    REVOKE = ["common", "revoke"];
    REVOKED_AFTER = ["common", "revoked_after"];
}

/// A script with its keys and arguments.
pub(crate) struct ScriptCall<'a> {
    script: &'static Script,
    keys: Vec<String>,
    arguments: Vec<Cow<'a, [u8]>>,
    is_repeatable: bool,
}

impl Script {
    /// Prepares a call. The first key and the first argument of most scripts are the
    /// generation of the data.
    pub(crate) fn call<'a>(&'static self, keys: impl Into<Vec<String>>) -> ScriptCall<'a> {
        ScriptCall {
            script: self,
            keys: keys.into(),
            arguments: Vec::new(),
            is_repeatable: true,
        }
    }
}

impl<'a> ScriptCall<'a> {
    pub(crate) fn bytes(mut self, argument: &'a [u8]) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn text(self, argument: &'a str) -> Self {
        self.bytes(argument.as_bytes())
    }

    pub(crate) fn owned(mut self, argument: String) -> Self {
        self.arguments.push(argument.into_bytes().into());
        self
    }

    pub(crate) fn number(self, argument: impl Into<u128>) -> Self {
        let argument: u128 = argument.into();
        self.owned(argument.to_string())
    }

    pub(crate) fn flag(self, argument: bool) -> Self {
        self.text(if argument { "1" } else { "0" })
    }

    /// Marks a call that has another effect if it runs twice.
    pub(crate) fn not_repeatable(mut self) -> Self {
        self.is_repeatable = false;
        self
    }

    pub(crate) fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }

    /// Returns the command that runs the script by its hash.
    pub(crate) fn by_hash(&self, generation: Option<&str>) -> Cmd {
        self.command("EVALSHA", &self.script.0.1, generation)
    }

    /// Returns the command that runs the script and loads it.
    pub(crate) fn by_code(&self, generation: Option<&str>) -> Cmd {
        self.command("EVAL", &self.script.0.0, generation)
    }

    fn command(&self, name: &str, script: &str, generation: Option<&str>) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(self.keys.len()).arg(&self.keys);
        if let Some(generation) = generation {
            command.arg(generation);
        }
        for argument in &self.arguments {
            command.arg(&**argument);
        }
        command
    }
}
