//! What the fuzzer does with a registry's file. A total function that panics only when a promise is broken; the
//! tests replay the corpus through it.

use std::collections::HashSet;

use dirigent_store::parse_identities;

/// The registry's file: whatever it says, what counts of it is one to one.
pub(crate) fn identity_file(bytes: &[u8]) {
    let Ok(registry) = parse_identities(bytes) else {
        return;
    };
    let (mut accounts, mut agents) = (HashSet::new(), HashSet::new());
    for identity in registry.identities() {
        assert!(accounts.insert(identity.discord_user_id), "an account counts twice");
        assert!(agents.insert(identity.agent_id.clone()), "an agent counts twice");
        assert_eq!(registry.by_account(identity.discord_user_id), Some(identity));
        assert_eq!(registry.by_agent(&identity.agent_id), Some(identity));
    }
    assert!(registry.bad_entries().iter().all(|(number, _)| *number > 0));
}
