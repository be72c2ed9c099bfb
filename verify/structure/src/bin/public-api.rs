//! `public-api` writes the public API of crates as text, from what rustdoc has made of them, or compares it with
//! what was written before. One item a paragraph: its path, its declaration, then its methods and implementations,
//! sorted, so that moving code changes nothing. `.ci/public-api` runs it.
#![expect(clippy::print_stdout, reason = "the differences are the output")]

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::{Arg, ArgAction, Command};

/// What ends the part of a page that the item's own crate decides on.
const ENDS: [&str; 3] =
    ["id=\"blanket-implementations\"", "id=\"implementors\"", "id=\"foreign-impls\""];

/// Implementations that follow from the fields and say little: they are left out. `Send` and `Sync` stay.
const LEFT_OUT: [&str; 6] =
    ["Freeze", "RefUnwindSafe", "StructuralPartialEq", "Unpin", "UnsafeUnpin", "UnwindSafe"];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let matches = Command::new("public-api")
        .about("Writes the public API of crates as text, or compares it with what was written")
        .arg(Arg::new("docs").long("docs").required(true).help("Where rustdoc wrote its pages"))
        .arg(Arg::new("listings").long("listings").required(true).help("Where the texts are"))
        .arg(
            Arg::new("by")
                .long("by")
                .required(true)
                .help("What made the pages, for the first line"),
        )
        .arg(Arg::new("write").long("write").action(ArgAction::SetTrue).help("Write, not compare"))
        .arg(Arg::new("crates").required(true).num_args(1..).help("The names of the packages"))
        .get_matches();
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let mut differ = false;
    for name in matches.get_many::<String>("crates").into_iter().flatten() {
        let now = listing(&Path::new(text("docs")).join(name.replace('-', "_")), name, text("by"))?;
        let file = Path::new(text("listings")).join(format!("{name}.txt"));
        if matches.get_flag("write") {
            fs::write(file, now)?;
            continue;
        }
        let before = fs::read_to_string(&file)?;
        if before.lines().next() != now.lines().next() {
            println!(
                "skipped: {} was written by another rustdoc, whose words may differ",
                file.display()
            );
            continue;
        }
        differ |= print_differences(name, &before, &now);
    }
    Ok(ExitCode::from(u8::from(differ)))
}

/// Prints the lines that only one of two listings has. Returns whether there are any.
fn print_differences(name: &str, before: &str, now: &str) -> bool {
    let (before, now) = (full_lines(before), full_lines(now));
    for line in before.difference(&now) {
        println!("{name}: - {line}");
    }
    for line in now.difference(&before) {
        println!("{name}: + {line}");
    }
    before != now
}

/// The lines of a listing, each behind the path of its item.
fn full_lines(text: &str) -> BTreeSet<String> {
    let mut item = "";
    let lines = text.lines().filter(|line| !line.is_empty()).map(|line| {
        if let Some(line) = line.strip_prefix("    ") {
            format!("{item}: {line}")
        } else {
            item = line;
            line.to_owned()
        }
    });
    lines.collect()
}

/// The public API of one crate.
fn listing(folder: &Path, name: &str, by: &str) -> Result<String, Box<dyn Error>> {
    let mut out = format!("# The public API of {name}, as rustdoc of {by} has it\n");
    let root = name.replace('-', "_");
    let mut modules = vec![String::new()];
    let mut items = BTreeSet::new();
    while let Some(module) = modules.pop() {
        let page = read(&folder.join(format!("{module}index.html")))?;
        let path = format!("{root}::{module}").replace('/', "::");
        let uses: BTreeSet<String> = parts(&page, "<code>pub use ", "</code>")
            .map(|part| plain(&format!("pub use {part}")))
            .collect();
        if !uses.is_empty() {
            write!(out, "\n{}\n", path.trim_end_matches(':'))?;
            uses.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
        }
        for link in parts(&page, "<a class=\"mod\" href=\"", "/index.html\"") {
            modules.push(format!("{module}{link}/"));
        }
    }
    let all = read(&folder.join("all.html"))?;
    let list = all.split_once("all-items").map_or("", |(_, list)| list);
    items.extend(parts(list, "<a href=\"", "\"").map(str::to_owned));
    for link in &items {
        let file = link.rsplit('/').next().and_then(|file| file.strip_suffix(".html"));
        let Some((_kind, item)) = file.and_then(|file| file.split_once('.')) else { continue };
        let modules = link
            .rsplit_once('/')
            .map_or(String::new(), |(modules, _)| format!("{}::", modules.replace('/', "::")));
        write!(out, "\n{root}::{modules}{item}\n")?;
        for line in lines_of(&read(&folder.join(link))?) {
            writeln!(out, "    {line}")?;
        }
    }
    Ok(out)
}

/// The declaration of a page's item, then its methods and implementations, sorted.
fn lines_of(page: &str) -> Vec<String> {
    let own = ENDS.iter().filter_map(|end| page.find(end)).min().unwrap_or(page.len());
    let own = page.get(..own).unwrap_or(page);
    let declaration = parts(own, "item-decl\">", "</pre>").next().map(plain);
    let headers = own.split("<section id=\"").skip(1).filter_map(|section| {
        let (head, rest) = section.split_once('>')?;
        let header = parts(rest, "class=\"code-header\">", "</h").next()?;
        (!head.contains("trait-impl")).then(|| plain(header))
    });
    let headers: BTreeSet<String> =
        headers.filter(|line| !line.is_empty() && !is_left_out(line)).collect();
    declaration.into_iter().chain(headers).collect()
}

/// Whether a line is an implementation that is left out.
fn is_left_out(line: &str) -> bool {
    let of = line.split_once(" for ").and_then(|(head, _)| head.rsplit([' ', '!']).next());
    line.starts_with("impl") && of.is_some_and(|of| LEFT_OUT.contains(&of))
}

/// The parts of a text between two marks.
fn parts<'a>(text: &'a str, begin: &'a str, end: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(begin).skip(1).filter_map(move |rest| Some(rest.split_once(end)?.0))
}

/// A piece of a page without tags, in one line.
fn plain(html: &str) -> String {
    let html = html.replace("</div>", " ");
    let mut out = String::new();
    let mut is_summary = false;
    for (at, piece) in html.split('<').enumerate() {
        let words =
            if at == 0 { Some(piece) } else { piece.split_once('>').map(|(_, words)| words) };
        is_summary = (is_summary || piece.starts_with("summary")) && !piece.starts_with("/summary");
        if !is_summary {
            out.push_str(words.unwrap_or_default());
        }
    }
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let out = entities.iter().fold(out, |out, (entity, sign)| out.replace(entity, sign));
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn read(file: &Path) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()).into())
}
