//! Keeps names to one meaning each.

use std::collections::BTreeMap;
use std::fs;

use super::source;

/// The public types of a crate: where each is found, and everything that rustdoc lists of it.
fn types(api: &str) -> Vec<(&str, Vec<&str>)> {
    let blocks = api.split("\n\n").map(|block| block.lines().collect::<Vec<_>>());
    let found = blocks.filter_map(|lines| {
        let (path, of_it) = lines.split_first()?;
        let name = path.rsplit("::").next()?;
        let declares =
            |kind: &str| of_it.first().is_some_and(|it| it.contains(&format!("pub {kind} {name}")));
        let is_type = ["struct", "enum", "trait", "type", "union"].into_iter().any(declares);
        is_type.then(|| (*path, of_it.to_vec()))
    });
    found.collect()
}

/// A name that is found in two places is the same type, passed on: what rustdoc lists of it is the same.
#[test]
fn no_two_public_types_have_one_name() {
    let folder = source::root().join("verify/api");
    let mut known: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let api = fs::read_to_string(file.unwrap().path()).unwrap();
        for (path, lines) in types(&api) {
            count += 1;
            let name = path.rsplit("::").next().unwrap();
            // How rustdoc writes the rest depends on whose page it is.
            let rest = ["impl ", "fn ", "const "];
            let is_own = |line: &&str| !rest.into_iter().any(|it| line.contains(it));
            let own = lines.into_iter().filter(is_own);
            let own: Vec<String> = own.map(str::to_owned).collect();
            let (first, of_it) =
                known.entry(name.to_owned()).or_insert_with(|| (path.to_owned(), own.clone()));
            assert_eq!(*of_it, own, "{first} and {path} are two things with one name");
        }
    }
    assert!(count > 500, "only {count} types were read");
}

/// These say nothing about what something is: where several types had them, a reader could not tell which was meant.
#[test]
fn words_that_mean_anything_name_one_type_at_most() {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in source::sources() {
        for line in fs::read_to_string(&file).unwrap().lines() {
            for word in ["Shared", "State", "Stage", "Known"] {
                let declares = |kind: &str| {
                    let after = line.split_once(kind).map(|(_, after)| after);
                    after.and_then(|after| after.strip_prefix(word)).is_some_and(|after| {
                        !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                    })
                };
                let is_comment = line.trim_start().starts_with("//");
                if !is_comment && (declares("struct ") || declares("enum ")) {
                    found.entry(word).or_default().push(file.display().to_string());
                }
            }
        }
    }
    for (word, files) in found {
        assert!(files.len() <= 1, "{word} is declared in {files:?}");
    }
}
