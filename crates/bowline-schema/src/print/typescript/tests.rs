//! What becomes of shapes.

use serde_json::{Map, Value, json};

use super::{Docs, Printer, Style};
use crate::shape::Shape;

/// Checks the compact form: the expression, then the declarations.
#[track_caller]
fn check(schema: Value, expected: &str) {
    let text = schema.to_string();
    let shape = Shape::new(schema);
    let printer = Printer::new(&shape, Style::PROMPT);
    let mut printed = printer.expression();
    for line in printer.definitions().lines() {
        printed.push_str(" where ");
        printed.push_str(line.trim_start_matches("type "));
    }
    assert_eq!(printed, expected, "{text}");
}

/// Checks the declarations of a file, with the type `T` for the document.
#[track_caller]
fn check_file(schema: Value, expected: &str) {
    let shape = Shape::new(schema);
    let printer = Printer::new(&shape, Style::FILE);
    let printed = format!("{}{}", printer.definitions(), printer.declaration("T"));
    assert_eq!(printed, expected, "{}", shape.document());
}

#[test]
fn simple_types_are_words() {
    check(json!({}), "unknown");
    check(json!(false), "never");
    check(json!({"type": "null"}), "null");
    check(json!({"type": "boolean"}), "boolean");
    check(json!({"type": "integer", "minimum": 1}), "number");
    check(json!({"type": "number"}), "number");
    check(json!({"type": "string", "format": "date"}), "string");
    check(json!({"type": ["string", "null"]}), "string|null");
    check(
        json!({"type": ["integer", "number", "string"]}),
        "number|string",
    );
}

#[test]
fn lists_and_tuples_bind_tighter_than_unions() {
    check(json!({"type": "array"}), "unknown[]");
    check(
        json!({"type": "array", "items": {"type": "string"}}),
        "string[]",
    );
    check(
        json!({"type": "array", "items": {"type": ["string", "null"]}}),
        "(string|null)[]",
    );
    let items = json!([{"type": "string"}, {"type": ["integer", "null"]}]);
    check(
        json!({"type": "array", "prefixItems": items, "minItems": 2, "items": false}),
        "[string,number|null]",
    );
    check(
        json!({"type": "array", "prefixItems": items, "minItems": 1, "items": {"type": "boolean"}}),
        "[string,(number|null)?,...boolean[]]",
    );
    let many: Vec<_> = (0..1000).map(|_| json!({"type": "string"})).collect();
    check(json!({"type": "array", "prefixItems": many}), "unknown[]");
}

#[test]
fn values_are_literals() {
    check(json!({"const": "a"}), r#""a""#);
    check(
        json!({"enum": ["it's", "\"", 1.0, -2.5, true]}),
        r#""it's"|'"'|1|-2.5|true"#,
    );
    check(
        json!({"enum": [true, "x", false, null]}),
        r#"boolean|"x"|null"#,
    );
    check(
        json!({"const": {"a-b": [1, {"c": null}], "d": {}}}),
        r#"{"a-b":[1,{c:null}],d:Record<string, unknown>}"#,
    );
    check(json!({"const": "*/\u{2028}\u{0}"}), r#""*/\u2028\u0000""#);
    let many: Vec<_> = (0..60).map(|at| json!(at)).collect();
    let listed: Vec<_> = (0..50).map(|at| at.to_string()).collect();
    check(
        json!({"enum": many}),
        &format!("{}|number /* 10 more */", listed.join("|")),
    );
}

#[test]
fn objects_have_members() {
    check(
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b-c": {}}, "required": ["a"]}),
        r#"{a:string,"b-c"?:unknown}"#,
    );
    check(
        json!({"properties": {"class": {}, "__proto__": {}, "a\nb\"*/": {}}, "additionalProperties": true}),
        r#"{class?:unknown,__proto__?:unknown,'a\nb"*/'?:unknown,[key:string]:unknown}"#,
    );
    check(json!({"type": "object"}), "Record<string,unknown>");
    check(
        json!({"type": "object", "additionalProperties": {"type": "number"}}),
        "Record<string,number>",
    );
    check(
        json!({"type": "object", "additionalProperties": false}),
        "Record<string,never>",
    );
}

#[test]
fn inherited_members_are_part_of_optional_ones() {
    check(
        json!({"properties": {"constructor": {"type": "string"}, "toString": {}}}),
        r#"{constructor?:string|Object["constructor"],toString?:unknown}"#,
    );
    check(
        json!({"properties": {"constructor": {"type": "string"}}, "required": ["constructor"]}),
        "{constructor:string}",
    );
}

#[test]
fn further_members_include_the_types_of_named_ones() {
    let object = |fields: Value, required: Value| json!({"properties": fields, "required": required, "additionalProperties": {"type": "number"}});
    check(
        object(json!({"a": {"type": "string"}}), json!(["a"])),
        "{a:string,[key:string]:number|string}",
    );
    check(
        object(
            json!({"a": {"type": "string"}, "b": {"type": "integer"}}),
            json!([]),
        ),
        "{a?:string,b?:number,[key:string]:number|string|undefined}",
    );
    let words = "x".repeat(100);
    check(
        object(
            json!({"a": {"properties": {(words.clone()): {}}}}),
            json!(["a"]),
        ),
        &format!("{{a:{{{words}?:unknown}},[key:string]:unknown}}"),
    );
}

#[test]
fn unions_are_joined() {
    let variant =
        |kind: &str| json!({"properties": {"kind": {"const": kind}}, "required": ["kind"]});
    check(
        json!({"oneOf": [variant("a"), variant("b"), {"type": "null"}]}),
        r#"{kind:"a"}|{kind:"b"}|null"#,
    );
    check(
        json!({"anyOf": [{"type": "integer", "minimum": 5}, {"type": "number", "maximum": 2}]}),
        "number",
    );
}

#[test]
fn types_that_are_used_once_are_spelled_out_in_prompts() {
    check(
        json!({
            "properties": {"a": {"$ref": "#/$defs/A"}, "b": {"$ref": "#/$defs/B"}, "c": {"items": {"$ref": "#/$defs/B"}}},
            "$defs": {"A": {"enum": ["x", "y"]}, "B": {"properties": {"a": {"$ref": "#/$defs/C"}}}, "C": {"type": "string"}, "Unused": {}},
        }),
        r#"{a?:"x"|"y",b?:B,c?:B[]} where B={a?:string}"#,
    );
}

#[test]
fn circles_can_be_compiled() {
    check(json!({"$ref": "#"}), "Root where Root=unknown");
    check(
        json!({"title": "Node", "properties": {"next": {"$ref": "#"}}}),
        "Node where Node={next?:Node}",
    );
    check(
        json!({"$ref": "#/$defs/Json", "$defs": {"Json": {"anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"$ref": "#/$defs/Json"}},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/Json"}},
        ]}}}),
        "Json where Json=string|Json[]|{[key:string]:Json}",
    );
    check(
        json!({"$ref": "#/$defs/A", "$defs": {
            "A": {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "string"}]},
            "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "number"}]},
        }}),
        "A where A=unknown where B=unknown",
    );
}

#[test]
fn definitions_have_valid_and_distinct_names() {
    let twice = |name: &str| {
        let reference = json!({"$ref": format!("#/$defs/{name}")});
        json!([reference, reference])
    };
    check(
        json!({
            "properties": {
                "a": {"prefixItems": twice("class"), "minItems": 2, "items": false},
                "b": {"prefixItems": twice("Class"), "minItems": 2, "items": false},
                "c": {"prefixItems": twice("Record"), "minItems": 2, "items": false},
                "d": {"prefixItems": twice("*~1 x"), "minItems": 2, "items": false},
            },
            "$defs": {"class": {"const": 1}, "Class": {"const": 2}, "Record": {"const": 3}, "*/ x": {"const": 4}},
        }),
        "{a?:[Class,Class],b?:[Class2,Class2],c?:[Record2,Record2],d?:[X,X]} where Class=1 where \
         Class2=2 where Record2=3 where X=4",
    );
}

#[test]
fn generators_choose_names() {
    let shape = Shape::new(
        json!({"items": {"$ref": "#/$defs/Item"}, "$defs": {"Item": {"type": "string"}}}),
    );
    let printer = Printer::with_names(&shape, Style::FILE, |definition| {
        format!("Search{}", definition.name)
    });
    assert_eq!(printer.definitions(), "export type SearchItem = string;\n");
    assert_eq!(
        printer.declaration("Items"),
        "export type Items = SearchItem[];\n"
    );
    // A document that is a named type is declared as such.
    let shape = Shape::new(json!({"properties": {"next": {"$ref": "#"}}}));
    let printer = Printer::with_names(&shape, Style::FILE, |_| "Arguments".to_owned());
    assert_eq!(
        printer.definitions(),
        "export interface Arguments {\n  next?: Arguments;\n}\n"
    );
    assert_eq!(printer.declaration("Arguments"), "");
    assert_eq!(
        printer.declaration("Other"),
        "export type Other = Arguments;\n"
    );
}

#[test]
fn files_are_formatted() {
    let long = "long_".repeat(14);
    check_file(
        json!({
            "properties": {
                "pets": {"type": "array", "items": {"oneOf": [
                    {"description": "A cat", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer", "maximum": 9}}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
                ]}},
                "owner": {"type": ["object", "null"], "properties": {"name": {"type": "string", "description": "Who"}}},
                "size": {"enum": [long, "medium"]},
                "point": {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}},
            },
        }),
        &format!(
            r#"export interface T {{
  pets?: (
    /** A cat */
    | {{
        kind: "cat";
        /**
         * @asType integer
         * @maximum 9
         */
        lives?: number;
      }}
    | {{ kind: "dog" }}
  )[];
  owner?: {{
    /** Who */
    name?: string;
  }} | null;
  size?:
    | "{long}"
    | "medium";
  point?: {{ x?: number; y?: number }};
}}
"#
        ),
    );
}

#[test]
fn comments_tell_what_the_schema_says() {
    check_file(
        json!({
            "title": "Search", "description": "Finds things.\n\n\n  @deprecated */ <b>\u{202e}x</b>\r\nmail a@b.c",
            "properties": {
                "page_size": {"title": "Page Size", "type": "integer", "minimum": 1, "exclusiveMaximum": 100, "multipleOf": 2, "default": 10},
                "q": {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^*/", "format": "x", "examples": ["a @b"], "deprecated": true},
                "tags": {"type": "array", "minItems": 1, "maxItems": 2, "uniqueItems": true, "items": {}},
                "order": {"description": "How", "oneOf": [{"const": "asc", "title": "Up"}, {"const": "desc", "description": "Down"}]},
                "odd": {"not": {"type": "string"}},
            },
        }),
        r#"/**
 * Finds things.
 *
 *   \@deprecated *\/ <b>x</b>
 * mail a@b.c
 */
export interface T {
  /**
   * @default 10
   * @asType integer
   * @minimum 1
   * @exclusiveMaximum 100
   * @multipleOf 2
   */
  page_size?: number;
  /**
   * @deprecated
   * @minLength 1
   * @maxLength 9
   * @format x
   * @pattern ^*\/
   * @example "a \@b"
   */
  q?: string;
  /**
   * @minItems 1
   * @maxItems 2
   * @uniqueItems
   */
  tags?: unknown[];
  /**
   * How
   * - `"asc"`: Up
   * - `"desc"`: Down
   */
  order?: "asc" | "desc";
  /** @schema {"not": {"type": "string"}} */
  odd?: unknown;
}
"#,
    );
}

#[test]
fn prompts_may_have_brief_comments() {
    let shape = Shape::new(json!({"properties": {
        "n": {"type": "integer", "minimum": 1, "default": 5, "description": "How many. Or so.\nMore"},
        "s": {"type": "string", "description": "A\u{7} */ b"},
        "t": {"type": "string", "format": "date", "deprecated": true},
        "u": {"type": "string"},
    }}));
    let style = Style::PROMPT.with_docs(Docs::Brief);
    assert_eq!(
        Printer::new(&shape, style).expression(),
        r"{/** How many; at least 1, default 5 */ n?:number,/** A *\/ b */ s?:string,/** format date, deprecated */ t?:string,u?:string}",
    );
}

#[test]
fn large_schemas_are_printed_in_part() {
    let text = "x".repeat(30_000);
    let alternatives: Vec<_> = (0..200)
        .map(|at| json!({"properties": {(format!("p{at}")): {"type": "string"}}}))
        .collect();
    let described = json!({
        "type": "object",
        "properties": {"a": {"description": text, "type": "string"}},
        "anyOf": alternatives,
    });
    let many: Map<String, Value> = (0..20_000)
        .map(|at| {
            (
                format!("property {at}"),
                json!({"type": ["string", "null"], "description": "x"}),
            )
        })
        .collect();
    let chain: Map<String, Value> = (0..10_000)
        .map(|at| {
            let next = json!({"properties": {"next": {"$ref": format!("#/$defs/T{}", at + 1)}}});
            (format!("T{at}"), next)
        })
        .collect();
    let cases = [
        described,
        json!({"properties": many}),
        json!({"$ref": "#/$defs/T0", "$defs": chain}),
        json!({"enum": (0..50_000).collect::<Vec<_>>()}),
    ];
    for schema in cases {
        let shape = Shape::new(schema);
        for style in [
            Style::FILE,
            Style::PROMPT,
            Style::PROMPT.with_docs(Docs::Brief),
        ] {
            let printer = Printer::new(&shape, style);
            let printed = printer.definitions() + &printer.declaration("T");
            assert!(printed.len() < 32 << 20, "{}", printed.len());
        }
    }
}

#[test]
fn further_members_do_not_multiply() {
    let mut schema = json!({"type": "string"});
    for _ in 0..40 {
        schema = json!({"properties": {"a": schema}, "additionalProperties": {"type": "number"}});
    }
    let shape = Shape::new(schema);
    assert!(Printer::new(&shape, Style::PROMPT).expression().len() < 10_000);
}

#[test]
fn deep_schemas_are_printed_in_part() {
    let mut schema = json!({"type": "string"});
    for _ in 0..10_000 {
        // `json!` would copy the inner schema recursively.
        let mut outer = Map::from_iter([("description".to_owned(), json!("x"))]);
        outer.insert("items".to_owned(), schema);
        schema = outer.into();
    }
    // Dropping a value of this depth would overflow the stack.
    let shape = std::mem::ManuallyDrop::new(Shape::new(schema));
    let printed = Printer::new(&shape, Style::FILE).declaration("T");
    assert!(printed.contains("unknown[][]"), "{printed}");
    assert!(crate::print::markdown::fields(&shape).starts_with("Type: `…[]"));
}
