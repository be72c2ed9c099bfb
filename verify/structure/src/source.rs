//! One file: its syntax, its size, and what it declares.

use std::path::{Path, PathBuf};
use std::{fs, io};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemMod, ItemStruct, Visibility};

/// A file of a crate.
pub(crate) struct Source {
    /// Its path within the crate, the root being empty.
    pub(crate) module: Vec<String>,
    /// Whether it is compiled for tests alone.
    pub(crate) is_test: bool,
    pub(crate) items: Items,
    pub(crate) file: syn::File,
}

/// All files below a folder.
pub(crate) fn sources(folder: &Path) -> io::Result<Vec<Source>> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    let mut sources =
        paths.iter().map(|path| read(folder, path)).collect::<io::Result<Vec<_>>>()?;
    let tests: Vec<Vec<String>> = sources.iter().flat_map(test_modules).collect();
    for source in &mut sources {
        source.is_test = tests.iter().any(|test| source.module.starts_with(test));
    }
    Ok(sources)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

fn read(folder: &Path, path: &Path) -> io::Result<Source> {
    let text = fs::read_to_string(path)?;
    let file = syn::parse_file(&text).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("{}: {error}", path.display()))
    })?;
    let mut items = Items { lines: code_lines(&text, 1, usize::MAX), ..Items::default() };
    Counter { text: &text, items: &mut items }.visit_file(&file);
    Ok(Source {
        module: module_of(path.strip_prefix(folder).unwrap_or(path)),
        is_test: false,
        items,
        file,
    })
}

/// The lines from `first` to `last` that are neither blank nor a comment.
fn code_lines(text: &str, first: usize, last: usize) -> usize {
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    text.lines().take(last).skip(first - 1).filter(is_code).count()
}

fn module_of(path: &Path) -> Vec<String> {
    let stem = path.with_extension("");
    let mut module: Vec<String> =
        stem.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    if module.last().is_some_and(|last| last == "lib" || last == "mod") {
        module.pop();
    }
    module
}

/// The modules that a file declares for tests alone.
fn test_modules(source: &Source) -> Vec<Vec<String>> {
    let declared = source.file.items.iter().filter_map(|item| {
        let Item::Mod(ItemMod { attrs, ident, content: None, .. }) = item else {
            return None;
        };
        let below = || source.module.iter().cloned().chain([ident.to_string()]).collect();
        is_for_tests(attrs).then(below)
    });
    declared.collect()
}

pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.require_list().map(|list| list.tokens.to_string());
        let is_condition =
            attribute.path().is_ident("cfg") && condition.is_ok_and(|it| it == "test");
        is_condition || attribute.path().is_ident("test")
    })
}

/// What a file declares, without what is compiled for tests alone.
#[derive(Default)]
pub(crate) struct Items {
    /// Lines that are neither blank nor a comment.
    pub(crate) lines: usize,
    /// Structs, enums, unions and traits.
    pub(crate) types: usize,
    /// Items with `pub` alone before them, without methods and modules.
    pub(crate) public: usize,
    /// Public fields of structs that hold settings.
    pub(crate) settings: usize,
}

struct Counter<'a> {
    text: &'a str,
    items: &'a mut Items,
}

impl Counter<'_> {
    fn add(&mut self, visibility: &Visibility) {
        self.items.public += usize::from(matches!(visibility, Visibility::Public(_)));
    }
}

impl<'ast> Visit<'ast> for Counter<'_> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "syn adds kinds of items; these are those that count"
    )]
    fn visit_item(&mut self, item: &'ast Item) {
        if is_for_tests(attributes(item)) {
            let span = item.span();
            self.items.lines -= code_lines(self.text, span.start().line, span.end().line);
            return;
        }
        match item {
            Item::Struct(ItemStruct { vis, ident, fields, .. }) => {
                self.items.types += 1;
                self.add(vis);
                let name = ident.to_string();
                if ["Settings", "Config", "Limits", "Options"].iter().any(|end| name.ends_with(end))
                {
                    let is_public =
                        |field: &&syn::Field| matches!(field.vis, Visibility::Public(_));
                    self.items.settings += fields.iter().filter(is_public).count();
                }
            }
            Item::Enum(syn::ItemEnum { vis, .. })
            | Item::Union(syn::ItemUnion { vis, .. })
            | Item::Trait(syn::ItemTrait { vis, .. }) => {
                self.items.types += 1;
                self.add(vis);
            }
            Item::Fn(syn::ItemFn { vis, .. })
            | Item::Const(syn::ItemConst { vis, .. })
            | Item::Static(syn::ItemStatic { vis, .. })
            | Item::Type(syn::ItemType { vis, .. }) => self.add(vis),
            _ => {}
        }
        visit::visit_item(self, item);
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "syn adds kinds of items; these are those that count"
)]
fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(syn::ItemConst { attrs, .. })
        | Item::Enum(syn::ItemEnum { attrs, .. })
        | Item::Fn(syn::ItemFn { attrs, .. })
        | Item::Impl(syn::ItemImpl { attrs, .. })
        | Item::Macro(syn::ItemMacro { attrs, .. })
        | Item::Mod(ItemMod { attrs, .. })
        | Item::Static(syn::ItemStatic { attrs, .. })
        | Item::Struct(ItemStruct { attrs, .. })
        | Item::Trait(syn::ItemTrait { attrs, .. })
        | Item::Type(syn::ItemType { attrs, .. })
        | Item::Use(syn::ItemUse { attrs, .. }) => attrs,
        _ => &[],
    }
}
