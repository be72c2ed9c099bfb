//! The order of folders: each names folders below it only.

use crate::imports::Imports;

/// The folders of a crate, from above to below. A file beside them belongs to the folder of its name; what stands on one line
/// is one layer.
const ORDER: [(&str, &[&str]); 2] = [
    (
        "dirigent-core",
        &["turn_machine view snapshot audit config", "machine", "state", "text", "values"],
    ),
    (
        "dirigent",
        &[
            // Lists of names: for each reader what the folders below define.
            "prelude hooks operate snapshot store",
            "accept",
            "tools",
            "command",
            "host",
            "runtime",
            "memory",
            "room",
            "admission",
            "replay",
            "ports",
            "settings",
            "record",
            "values",
            "text written",
        ],
    ),
];

/// Tells which modules of a crate name one above them, and which stand in no layer. A crate without an order has neither.
pub(crate) fn faults(name: &str, imports: &Imports) -> Vec<String> {
    let Some((_, order)) = ORDER.iter().find(|(its_name, _)| *its_name == name) else {
        return Vec::new();
    };
    let layer = |module: &[String]| {
        let folder = module.first()?;
        order.iter().position(|layer| layer.split(' ').any(|its| its == folder))
    };
    let mut faults = Vec::new();
    for (module, named) in imports.edges() {
        let Some(at) = layer(module) else {
            faults.push(format!("the order of folders lacks {}", module.join("::")));
            continue;
        };
        for above in named.iter().filter(|other| layer(other).is_some_and(|its| its < at)) {
            let (from, to) = (module.join("::"), above.join("::"));
            faults.push(format!("{from} names {to}, which is above it"));
        }
    }
    faults
}
