//! Compiling and printing the schemas of 1,000 tools.

use std::{hint::black_box, path::Path, time::Instant};

use bowline_schema::{
    TextCheck, Validator,
    print::{
        markdown,
        rust::{Options, Purpose, RustTypes},
        signature::{Detail, type_expression},
        typescript::{Printer, Style},
    },
    shape::Shape,
};
use serde_json::Value;

use crate::{
    Failure, Measured,
    check::{Checker, Jsonschema, Ours},
    generated, seconds,
};

/// How many tools there are.
const TOOLS: usize = 1_000;

/// Tools, and what their figures are called.
struct Tools {
    id: &'static str,
    /// The schemas of arguments and, where there are any, of results.
    schemas: Vec<(Value, Option<Value>)>,
}

/// Compiles and prints.
pub(crate) fn ours(times: u32) -> Result<Measured, Failure> {
    let mut measured = Measured::new();
    for tools in all()? {
        let total = (0..times)
            .map(|_| all_of(tools.schemas.clone()))
            .sum::<f64>();
        let compile = compile::<Ours>(&tools.schemas, times)?;
        measured.push((
            format!("schema.{}.print", tools.id),
            total / f64::from(times) * 1e3,
        ));
        measured.push((format!("schema.{}.compile", tools.id), compile * 1e3));
    }
    Ok(measured)
}

/// Compiles. It does not print.
pub(crate) fn jsonschema(times: u32) -> Result<Measured, Failure> {
    let mut measured = Measured::new();
    for tools in all()? {
        let compile = compile::<Jsonschema>(&tools.schemas, times)?;
        measured.push((format!("schema.{}.compile", tools.id), compile * 1e3));
    }
    Ok(measured)
}

/// Returns the seconds that it takes to compile the schemas of all arguments. None may
/// be refused: that would be quicker.
fn compile<C: Checker>(schemas: &[(Value, Option<Value>)], times: u32) -> Result<f64, Failure> {
    for (input, _) in schemas {
        C::compile(input)?;
    }
    Ok(seconds(times, || {
        for (input, _) in schemas {
            let _ = black_box(C::compile(black_box(input)));
        }
    }))
}

/// Returns the seconds that it takes to compile and print all tools.
fn all_of(schemas: Vec<(Value, Option<Value>)>) -> f64 {
    let start = Instant::now();
    for (input, output) in schemas {
        compile_and_print(input, Purpose::Make);
        if let Some(output) = output {
            compile_and_print(output, Purpose::Read);
        }
    }
    start.elapsed().as_secs_f64()
}

/// Does everything that there is for a schema.
fn compile_and_print(schema: Value, purpose: Purpose) {
    let shape = Shape::new(black_box(schema));
    let _ = black_box(Validator::new(shape.document()));
    black_box(TextCheck::compile(shape.document()));
    let typescript = Printer::new(&shape, Style::FILE);
    black_box(typescript.definitions());
    black_box(typescript.declaration("Tool"));
    let mut types = RustTypes::new(Options::default());
    types.add(&shape, "Tool", purpose);
    black_box(types.items());
    black_box(type_expression(&shape, shape.root(), Detail::PAGE));
    black_box(markdown::fields(&shape));
    black_box(markdown::named_types(&shape, 3));
}

/// The tools that are generated, and those of published servers if
/// `cargo xtask peers` has asked for them.
fn all() -> Result<Vec<Tools>, Failure> {
    let generated = (0..TOOLS).map(generated::tool).collect();
    let mut all = vec![Tools {
        id: "generated",
        schemas: generated,
    }];
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/offers.json");
    match std::fs::read(&path) {
        Ok(text) => all.push(Tools {
            id: "published",
            schemas: published(&text)?,
        }),
        Err(_) => eprintln!("schema: without published tools; `cargo xtask peers` gets them"),
    }
    Ok(all)
}

/// The schemas of the tools in this file, repeated until they are enough.
fn published(offers: &[u8]) -> Result<Vec<(Value, Option<Value>)>, Failure> {
    let offers: Value = serde_json::from_slice(offers).map_err(|error| error.to_string())?;
    let servers = offers.as_object().into_iter().flat_map(|all| all.values());
    let tools = servers.flat_map(|server| server["tools"].as_array().into_iter().flatten());
    let schemas: Vec<_> = tools
        .map(|tool| {
            (
                tool["inputSchema"].clone(),
                tool.get("outputSchema").cloned(),
            )
        })
        .collect();
    if schemas.is_empty() {
        return Err("the published servers have no tools".to_owned());
    }
    Ok(schemas.into_iter().cycle().take(TOOLS).collect())
}
