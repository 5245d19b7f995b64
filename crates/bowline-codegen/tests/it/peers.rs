//! Generated TypeScript compiles and works: with the compiler and the SDKs that
//! `cargo xtask peers` installs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use bowline::lock::Lock;
use bowline_codegen::typescript::generate;

use crate::fixture::{lock, lock_with_tools};

/// Names of tools that mean something in TypeScript, or nothing anywhere.
const DIFFICULT: [&str; 16] = [
    "class",
    "delete",
    "new",
    "constructor",
    "toString",
    "__proto__",
    "then",
    "prompts",
    "await",
    "2d",
    "*/",
    "größe",
    "a\nb",
    "tool",
    "record",
    "promise",
];

#[test]
fn modules_work_with_both_versions_of_the_official_sdk() {
    let project = Project::new("typescript-sdk", &lock());
    project.add("main.ts", include_str!("../fixtures/main.ts"));
    project.compile();
    let mut node = Command::new("node");
    let output = run(node.arg(project.0.join("out/main.js")));
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "1.x: passed\n2.x: passed\n"
    );
}

#[test]
fn difficult_names_compile() {
    Project::new("typescript-names", &lock_with_tools(&DIFFICULT)).compile();
}

/// A folder with generated modules, in which the peers are installed.
struct Project(PathBuf);

impl Project {
    fn new(name: &str, lock: &Lock) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => panic!("{error}"),
            _ => fs::create_dir_all(&folder).expect("the folder is writable"),
        }
        let project = Self(folder);
        for file in generate(lock).expect("no name is taken twice") {
            project.add(&file.path, &file.contents);
        }
        project.add("package.json", r#"{"type": "module"}"#);
        std::os::unix::fs::symlink(peers(), project.0.join("node_modules"))
            .expect("the folder is writable");
        project
    }

    fn add(&self, name: &str, contents: &str) {
        fs::write(self.0.join(name), contents).expect("the folder is writable");
    }

    /// Compiles all modules, with every check that a project may have switched on.
    fn compile(&self) {
        let modules = fs::read_dir(&self.0).expect("the folder is readable");
        let modules = modules.map(|entry| entry.expect("the folder is readable").path());
        let modules = modules.filter(|path| path.extension().is_some_and(|it| it == "ts"));
        let mut node = Command::new("node");
        node.arg(peers().join("typescript/bin/tsc"))
            .args([
                "--strict",
                "--noUncheckedIndexedAccess",
                "--exactOptionalPropertyTypes",
            ])
            .args([
                "--noUnusedLocals",
                "--noUnusedParameters",
                "--noImplicitOverride",
            ])
            .args([
                "--noPropertyAccessFromIndexSignature",
                "--noImplicitReturns",
            ])
            .args([
                "--verbatimModuleSyntax",
                "--isolatedModules",
                "--erasableSyntaxOnly",
            ])
            .args([
                "--target",
                "es2022",
                "--module",
                "nodenext",
                "--skipLibCheck",
            ])
            .args(["--outDir", "out", "--rootDir", "."])
            .args(modules)
            .current_dir(&self.0);
        run(&mut node);
    }
}

fn peers() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let modules = workspace.join("target/peers/node/node_modules");
    modules.canonicalize().expect("run `cargo xtask peers`")
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("Node.js is required");
    assert!(
        output.status.success(),
        "{}{}; run `cargo xtask peers` if something is missing",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}
