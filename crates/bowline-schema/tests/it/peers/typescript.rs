//! Printed TypeScript is accepted by its compiler, and accepts every valid value.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use bowline_schema::{
    Validator,
    print::typescript::{Printer, Style},
    shape::Shape,
};
use serde_json::{Value, json};

use crate::{shape::with_stated_types, suite};

/// `is<T>()(value)` compiles if the value has the type. Members that the type does not
/// mention are no error, unlike in an assignment.
const IS: &str = "declare function is<T>(): <V extends T>(value: V) => void;\n";

/// The value has no member in common with a type whose members are all optional. The
/// compiler takes that for a mistake, though such a value has the type.
const NOTHING_IN_COMMON: [&str; 2] = ["TS2353", "TS2559"];

/// A file for the compiler, and what its lines stand for.
#[derive(Default)]
struct Source {
    text: String,
    lines: usize,
    values: BTreeMap<usize, (bool, String)>,
}

impl Source {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.lines += text.matches('\n').count();
    }

    /// Adds a schema under two names: as for files, and as for prompts.
    fn push_schema(&mut self, number: usize, schema: &Value) {
        let shape = Shape::new(schema.clone());
        let printer = Printer::new(&shape, Style::FILE);
        let types = printer.definitions() + &printer.declaration("T");
        self.push(&format!("namespace F{number} {{\n{types}}}\n"));
        let printer = Printer::new(&shape, Style::PROMPT);
        let (types, root) = (printer.definitions(), printer.expression());
        self.push(&format!(
            "namespace P{number} {{\n{types}export type T = {root}\n}}\n"
        ));
    }

    fn push_value(&mut self, number: usize, schema: &Value, value: &Value, is_valid: bool) {
        for space in ["F", "P"] {
            self.push(&format!(
                "is<{space}{number}.T>()({});\n",
                expression(value)
            ));
            let what = format!("{value} of {schema:#}");
            self.values.insert(self.lines, (is_valid, what));
        }
    }
}

/// Writes a value as TypeScript. That is JSON, apart from the member that would set
/// the prototype.
fn expression(value: &Value) -> String {
    let text = value.to_string();
    text.replace(r#""__proto__":"#, r#"["__proto__"]:"#)
}

/// Compiles a file. Returns the errors by line.
fn compile(name: &str, source: &str) -> Vec<(usize, String)> {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.ts"));
    fs::write(&path, source).expect("the folder is writable");
    let compiler = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers");
    let compiler: PathBuf = compiler.join("node/node_modules/typescript/bin/tsc");
    let output = Command::new("node")
        .arg(&compiler)
        .args([
            "--noEmit", "--pretty", "false", "--strict", "--target", "es2022",
        ])
        .args(["--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"])
        .args(["--lib", "es2022"])
        .arg(&path)
        .output()
        .expect("Node.js is required");
    let text = String::from_utf8_lossy(&output.stdout);
    let marker = format!("{name}.ts(");
    let errors = text.lines().filter_map(|line| {
        let (_, place) = line.split_once(&marker)?;
        let (at, message) = place.split_once(',')?;
        Some((at.parse().ok()?, message.to_owned()))
    });
    let errors: Vec<_> = errors.collect();
    assert!(
        output.status.success() || !errors.is_empty(),
        "{text}; run `cargo xtask peers`"
    );
    errors
}

#[test]
fn every_valid_value_of_the_official_suite_is_assignable() {
    let mut source = Source::default();
    source.push(IS);
    for (number, group) in suite::groups().iter().enumerate() {
        let schema = &group["schema"];
        source.push_schema(number, schema);
        let Ok(stated) = Validator::new(&with_stated_types(schema)) else {
            continue;
        };
        for test in suite::list(&group["tests"]) {
            let (value, is_valid) = (&test["data"], test["valid"] == true);
            if is_valid == stated.is_valid(value) {
                source.push_value(number, schema, value, is_valid);
            }
        }
    }
    let (mut refused, mut uncommon) = (0, 0);
    for (line, message) in compile("suite", &source.text) {
        match source.values.get(&line) {
            Some((false, _)) => refused += 1,
            Some((true, _)) if NOTHING_IN_COMMON.iter().any(|it| message.contains(it)) => {
                uncommon += 1;
            }
            Some((true, what)) => panic!("{message}: {what}"),
            None => panic!("line {line}: {message}"),
        }
    }
    let valid = source.values.values().filter(|(is_valid, _)| *is_valid);
    let valid = valid.count();
    // Types that accept everything would pass too.
    assert!(
        valid > 1000 && refused > 300 && uncommon < 20,
        "{valid} valid, {refused} refused, {uncommon} uncommon"
    );
}

#[test]
fn difficult_schemas_can_be_compiled() {
    let names = [
        "class",
        "constructor",
        "*/",
        "a\nb",
        "'\"`",
        "\u{2028}",
        "ä",
        "",
        "readonly",
        "\\",
    ];
    let properties = |optional: bool| {
        let members = names.iter().map(|name| {
            (
                (*name).to_owned(),
                json!({"type": "string", "description": name, "default": name}),
            )
        });
        let members: serde_json::Map<_, _> = members.collect();
        json!({
            "properties": members,
            "required": if optional { json!([]) } else { json!(names) },
            "additionalProperties": {"type": "number"},
        })
    };
    let definitions = names.iter().map(|name| {
        let others: Vec<_> = names
            .iter()
            .map(|name| json!({"$ref": format!("#/$defs/{}", name.replace('~', "~0").replace('/', "~1"))}))
            .collect();
        ((*name).to_owned(), json!({"anyOf": [{"type": "object", "additionalProperties": {"anyOf": others}}, {"const": name}]}))
    });
    let definitions: serde_json::Map<_, _> = definitions.collect();
    let wide: Vec<_> = (0..256)
        .map(|at| json!({"properties": {"kind": {"const": at.to_string()}}, "required": ["kind"]}))
        .collect();
    let mut deep = json!({"type": "string"});
    for _ in 0..60 {
        deep = json!({"anyOf": [{"type": "array", "items": deep}, {"type": "number"}], "description": "*/"});
    }
    let chain = (0..3000).map(|at| {
        (
            format!("T{at}"),
            json!({"properties": {"next": {"$ref": format!("#/$defs/T{}", at + 1)}}}),
        )
    });
    let chain: serde_json::Map<_, _> = chain.collect();
    let cases = [
        properties(true),
        properties(false),
        json!({"$ref": "#/$defs/class", "$defs": definitions}),
        json!({"oneOf": wide}),
        deep,
        json!({"$ref": "#/$defs/T0", "$defs": chain}),
        json!({"enum": (0..5000).collect::<Vec<_>>()}),
        json!({"prefixItems": (0..500).map(|at| json!({"const": at})).collect::<Vec<_>>()}),
    ];
    let mut source = Source::default();
    source.push(IS);
    for (number, schema) in cases.iter().enumerate() {
        source.push_schema(number, schema);
    }
    source.push_value(0, &cases[0], &json!({}), true);
    source.push_value(0, &cases[0], &json!({"constructor": "x", "other": 5}), true);
    let errors = compile("difficult", &source.text);
    assert!(errors.is_empty(), "{errors:?}");
}
