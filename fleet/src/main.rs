//! `bowline-fleet run`, and the processes that it starts.

#[cfg(target_os = "linux")]
mod arguments;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    arguments::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
