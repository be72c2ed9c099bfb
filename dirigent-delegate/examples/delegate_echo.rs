//! Writes its arguments as JSON, whatever they are, for tests of command-line agents.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a program for tests")]

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", serde_json::to_string(&arguments).unwrap());
}
