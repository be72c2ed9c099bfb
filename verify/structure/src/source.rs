//! One file: its size, its functions, and the types that they belong to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemFn, ItemImpl, ItemMod, Type};

/// A file of a crate.
pub(crate) struct Source {
    /// Its path within the crate, the root being empty.
    pub(crate) module: Vec<String>,
    /// Whether it is compiled for tests alone.
    pub(crate) is_test: bool,
    pub(crate) lines: usize,
    /// Lines that are neither blank nor a comment.
    pub(crate) code_lines: usize,
    /// Its functions with their lines.
    pub(crate) functions: Vec<(String, usize)>,
    /// How many functions of their own types have here; what a trait asks for does not count.
    pub(crate) functions_of: BTreeMap<String, usize>,
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
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let mut found = Functions::default();
    found.visit_file(&file);
    Ok(Source {
        module: module_of(path.strip_prefix(folder).unwrap_or(path)),
        is_test: false,
        lines: text.lines().count(),
        code_lines: text.lines().filter(is_code).count(),
        functions: found.all,
        functions_of: found.by_type,
        file,
    })
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

#[derive(Default)]
struct Functions {
    all: Vec<(String, usize)>,
    by_type: BTreeMap<String, usize>,
}

impl Functions {
    fn add(&mut self, name: &syn::Ident, spanned: &impl Spanned) {
        let span = spanned.span();
        self.all.push((name.to_string(), span.end().line - span.start().line + 1));
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        if let (None, Type::Path(owner)) = (&block.trait_, &*block.self_ty) {
            let name = owner.path.segments.last().map(|last| last.ident.to_string());
            let is_function = |item: &&syn::ImplItem| matches!(item, syn::ImplItem::Fn(_));
            let functions = block.items.iter().filter(is_function).count();
            *self.by_type.entry(name.unwrap_or_default()).or_default() += functions;
        }
        visit::visit_item_impl(self, block);
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig.ident, &function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.add(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}
