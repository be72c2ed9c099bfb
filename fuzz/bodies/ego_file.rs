//! What the fuzzer does with padded-cell's file. A total function that panics only when a promise is broken; the
//! tests replay the corpus through it.

use dirigent_store::ego::parse_ego;

/// padded-cell's file.
pub(crate) fn ego_file(bytes: &[u8]) {
    if let Ok(ego) = parse_ego(bytes) {
        let _ = (ego.has_accounts(), ego.agents().count());
    }
}
