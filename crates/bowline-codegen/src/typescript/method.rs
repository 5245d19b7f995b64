//! Methods of classes, formatted as prettier does it.

use bowline_schema::print::typescript::jsdoc;

/// How wide lines may be.
pub(super) const MAX_WIDTH: usize = 80;

/// A method that returns what a function of the runtime returns.
pub(super) struct Method {
    pub(super) docs: String,
    pub(super) name: String,
    pub(super) parameters: Vec<String>,
    /// What the promise is for.
    pub(super) returns: String,
    pub(super) function: &'static str,
    /// What the function gets beside the client and the options.
    pub(super) arguments: Vec<String>,
}

impl Method {
    /// Writes the method for a class.
    pub(super) fn print(&self) -> String {
        let mut parameters = self.parameters.clone();
        parameters.push("options?: CallOptions".to_owned());
        let mut arguments = vec!["this.#client".to_owned()];
        arguments.extend(self.arguments.iter().cloned());
        arguments.push("options".to_owned());
        let start = list(
            &format!("  {}", self.name),
            &parameters,
            &format!(": Promise<{}> {{", self.returns),
        );
        let body = list(&format!("    return {}", self.function), &arguments, ";");
        format!("{}{start}\n{body}\n  }}\n", jsdoc(&self.docs, 2))
    }
}

/// Writes a list in parentheses, on one line if it fits.
pub(super) fn list(before: &str, items: &[String], after: &str) -> String {
    let line = format!("{before}({}){after}", items.join(", "));
    if line.chars().count() <= MAX_WIDTH {
        return line;
    }
    let margin: String = before.chars().take_while(|c| *c == ' ').collect();
    let items = items.iter().map(|item| format!("{margin}  {item},\n"));
    let items: String = items.collect();
    format!("{before}(\n{items}{margin}){after}")
}
