//! Expanding references such as `${NAME}` in the strings of a configuration.

use std::path::{MAIN_SEPARATOR_STR, Path};

use super::{Environment, ProblemKind, input::Inputs, paths::Paths, report::Report};

/// Expands references. The replaced values are not expanded again, so no value can
/// refer to another.
pub(super) struct Expander<'a> {
    pub(super) environment: &'a Environment,
    pub(super) paths: &'a Paths,
    pub(super) inputs: Inputs<'a>,
    /// Whether strings are used literally.
    pub(super) literal: bool,
}

impl Expander<'_> {
    /// Disables references, for dialects without them.
    #[cfg(feature = "config-toml")]
    pub(super) fn literal(mut self) -> Self {
        self.literal = true;
        self
    }

    /// Expands the references in a string. Those that cannot be resolved are reported
    /// under `path`.
    pub(super) fn expand(&self, input: &str, path: &str, report: &mut Report) -> String {
        if self.literal {
            return input.to_owned();
        }
        let mut out = String::with_capacity(input.len());
        let mut rest = input;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inner, after)) = after.split_once('}') else {
                // The rest may be anything and must not be shown.
                report.add(path, ProblemKind::InvalidReference("…".to_owned()));
                out.push_str("${");
                rest = after;
                break;
            };
            match self.reference(inner) {
                Ok(value) => out.push_str(&value),
                Err(kind) => {
                    out.push_str(&format!("${{{inner}}}"));
                    report.add(path, kind);
                }
            }
            rest = after;
        }
        out.push_str(rest);
        out
    }

    /// As [`expand`](Self::expand), for a string that is or may be a path: a leading
    /// `~/` is the home folder.
    pub(super) fn expand_path(&self, input: &str, path: &str, report: &mut Report) -> String {
        if self.literal {
            return input.to_owned();
        }
        let Some(input) = self.paths.expand_home(input) else {
            report.invalid_value(path, "cannot expand ~: the home folder is unknown");
            return input.to_owned();
        };
        self.expand(&input, path, report)
    }

    fn reference(&self, inner: &str) -> Result<String, ProblemKind> {
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        match (self.lookup(name), default) {
            // As in a shell, `:-` also applies to empty values.
            (Ok(value), Some(default)) if value.is_empty() => Ok(default.to_owned()),
            (Ok(value), _) => Ok(value),
            (Err(kind @ ProblemKind::InvalidReference(_)), _) => Err(kind),
            (Err(_), Some(default)) => Ok(default.to_owned()),
            (Err(kind), None) => Err(kind),
        }
    }

    fn lookup(&self, name: &str) -> Result<String, ProblemKind> {
        let path_string = |path: Option<&Path>| {
            path.map(|path| path.to_string_lossy().into_owned())
                .ok_or_else(|| ProblemKind::Unresolvable(name.to_owned()))
        };
        let workspace = self.paths.workspace.as_deref();
        match name {
            "workspaceFolder" => path_string(workspace),
            "workspaceFolderBasename" => {
                path_string(workspace.and_then(Path::file_name).map(Path::new))
            }
            "userHome" => path_string(self.paths.home.as_deref()),
            "pathSeparator" | "/" => Ok(MAIN_SEPARATOR_STR.to_owned()),
            _ => match name.split_once(':') {
                Some(("env", variable)) => self.variable(variable),
                Some(("input", id)) => {
                    let answer = self.inputs.value(id);
                    answer.ok_or_else(|| ProblemKind::MissingInput(id.to_owned()))
                }
                Some((scheme, _)) if is_variable_name(scheme) => {
                    Err(ProblemKind::Unresolvable(name.to_owned()))
                }
                None if is_variable_name(name) => self.variable(name),
                _ => Err(ProblemKind::InvalidReference(name.to_owned())),
            },
        }
    }

    fn variable(&self, name: &str) -> Result<String, ProblemKind> {
        let value = self.environment.get(name).map(str::to_owned);
        value.ok_or_else(|| ProblemKind::UnsetVariable(name.to_owned()))
    }
}

/// Returns whether a string is a valid variable name.
pub(super) fn is_variable_name(input: &str) -> bool {
    let mut chars = input.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}
