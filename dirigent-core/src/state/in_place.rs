//! Copies of the state into memory that exists already.

/// Implements `Clone` for these types field by field, so that `clone_from` reuses the memory of the older copy. A host
/// copies a channel's state with every commit, and the derived `clone_from` would allocate it anew each time.
macro_rules! clone_in_place {
    ($($type:ident { $($field:ident),+ $(,)? })+) => {$(
        impl Clone for $type {
            fn clone(&self) -> Self {
                Self { $($field: Clone::clone(&self.$field)),+ }
            }

            #[inline]
            fn clone_from(&mut self, from: &Self) {
                $(Clone::clone_from(&mut self.$field, &from.$field);)+
            }
        }
    )+};
}

pub(crate) use clone_in_place;
