//! The tool `dirigent-trace`.

use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/pm_and_dev")
}

/// How the tool ends, and what it writes to its output and to the errors.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut tool = std::process::Command::new(env!("CARGO_BIN_EXE_dirigent-trace"));
    let ran = tool.current_dir(folder()).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

/// F10: the tool itself, and that it says what is wrong and ends with a failure.
#[test]
fn the_tool_tells_a_recording_from_a_file_and_what_is_wrong_with_one() {
    let told = |file| {
        let text = std::fs::read_to_string(folder().join(file)).unwrap();
        (Some(0), text, String::new())
    };
    assert_eq!(run(&["hello.jsonl"]), told("hello.txt"));
    assert_eq!(run(&["--mermaid", "hello.jsonl"]), told("hello.mmd"));
    for (file, error) in
        [("nowhere.jsonl", "nowhere.jsonl: "), ("hello.txt", "hello.txt: "), (".", ".: ")]
    {
        let (code, told, refused) = run(&[file]);
        assert_eq!((code, told.as_str()), (Some(1), ""), "{file}");
        assert!(refused.starts_with(error), "{file}: {refused}");
    }
}

#[test]
fn help_is_output_and_arguments_that_are_not_known_are_an_error_of_usage() {
    for flag in ["--help", "-h"] {
        let (code, help, errors) = run(&[flag]);
        assert_eq!((code, errors.as_str()), (Some(0), ""));
        for word in ["Usage: dirigent-trace", "<RECORDING>", "--mermaid"] {
            assert!(help.contains(word), "{help}");
        }
    }
    for (arguments, word) in [
        (&[][..], "<RECORDING>"),
        (&["--svg", "hello.jsonl"], "--svg"),
        (&["hello.jsonl", "-x"], "-x"),
        (&["hello.jsonl", "hello.jsonl"], "hello.jsonl"),
    ] {
        let (code, told, refused) = run(arguments);
        assert_eq!((code, told.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(refused.contains(word) && refused.contains("Usage: "), "{refused}");
    }
}
