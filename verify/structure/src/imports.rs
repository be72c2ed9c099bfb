//! Which module names what of which other module.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ItemMod, ItemUse, Stmt, UseTree};

use crate::source::{Source, is_for_tests};

type Module = Vec<String>;

/// The modules of a crate with the modules that each names. What a module contains below it is not named by it:
/// only what is written with `use` or as a path counts, and a re-export counts as what it re-exports.
pub(crate) struct Imports {
    edges: BTreeMap<Module, BTreeSet<Module>>,
}

impl Imports {
    pub(crate) fn of<'a>(sources: impl Iterator<Item = &'a Source>) -> Self {
        let named: BTreeMap<Module, Vec<(Vec<String>, String)>> = sources
            .map(|source| {
                let mut paths =
                    Paths { module: source.module.clone(), found: Vec::new(), roots: Vec::new() };
                paths.roots = first_names(source);
                paths.visit_file(&source.file);
                (source.module.clone(), paths.found)
            })
            .collect();
        let resolver = Resolver { named: &named };
        let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, found) in &named {
            let targets = found.iter().filter_map(|(path, _)| resolver.module_of(path, 8));
            // The root names everything: it is the list of what there is.
            let others = targets.filter(|target| target != module && !target.is_empty());
            if !module.is_empty() {
                edges.insert(module.clone(), others.collect());
            }
        }
        Self { edges }
    }

    pub(crate) fn edges(&self) -> &BTreeMap<Module, BTreeSet<Module>> {
        &self.edges
    }
}

/// The names of the modules that a file declares.
fn first_names(source: &Source) -> Vec<String> {
    let declared = source.file.items.iter().filter_map(|item| {
        if let syn::Item::Mod(module) = item { Some(module.ident.to_string()) } else { None }
    });
    declared.collect()
}

/// Paths that begin in this crate, each from its root on, with the name under which it is known.
struct Paths {
    module: Module,
    roots: Vec<String>,
    found: Vec<(Vec<String>, String)>,
}

impl Paths {
    fn add(&mut self, mut path: Vec<String>, name: String) {
        let mut from = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.module.clone(),
            Some(first) if self.roots.iter().any(|root| root == first) => {
                path.insert(0, "self".to_owned());
                self.module.clone()
            }
            _ => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => drop(from.pop()),
                _ => from.push(part),
            }
        }
        self.found.push((from, name));
    }

    fn walk(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect();
        match tree {
            UseTree::Path(path) => {
                let longer: Vec<String> = with(&path.ident);
                self.walk(&path.tree, &longer);
            }
            UseTree::Name(name) => self.add(with(&name.ident), name.ident.to_string()),
            UseTree::Rename(name) => self.add(with(&name.ident), name.rename.to_string()),
            UseTree::Glob(_) => self.add(before.to_vec(), "*".to_owned()),
            UseTree::Group(group) => group.items.iter().for_each(|item| self.walk(item, before)),
        }
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_for_tests(&item.attrs) {
            self.walk(&item.tree, &[]);
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if !is_for_tests(attributes(statement)) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let parts: Vec<String> =
                path.segments.iter().map(|part| part.ident.to_string()).collect();
            let name = parts.last().cloned().unwrap_or_default();
            self.add(parts, name);
        }
        visit::visit_path(self, path);
    }
}

/// The attributes of a statement, where the kinds of it that stand with a condition can have some.
fn attributes(statement: &Stmt) -> &[Attribute] {
    match statement {
        Stmt::Local(local) => &local.attrs,
        Stmt::Macro(called) => &called.attrs,
        Stmt::Expr(Expr::Block(block), _) => &block.attrs,
        Stmt::Expr(Expr::Call(call), _) => &call.attrs,
        Stmt::Expr(Expr::MethodCall(call), _) => &call.attrs,
        Stmt::Expr(Expr::Try(tried), _) => &tried.attrs,
        Stmt::Expr(..) | Stmt::Item(_) => &[],
    }
}

/// Finds the module in which something is that a path names.
struct Resolver<'a> {
    named: &'a BTreeMap<Module, Vec<(Vec<String>, String)>>,
}

impl Resolver<'_> {
    /// `most`: re-exports that are followed.
    fn module_of(&self, path: &[String], most: usize) -> Option<Module> {
        let depth = (0..=path.len())
            .rev()
            .find(|depth| path.get(..*depth).is_some_and(|start| self.named.contains_key(start)))?;
        let (module, rest) = path.split_at_checked(depth)?;
        let Some(name) = rest.first().filter(|_| most > 0) else {
            return Some(module.to_vec());
        };
        let uses = self.named.get(module)?;
        let is_it = |found: &&(Vec<String>, String)| found.1 == *name && found.0 != path;
        match uses.iter().find(is_it) {
            Some((target, _)) => self.module_of(target, most - 1),
            None => Some(module.to_vec()),
        }
    }
}
