//! What Dirigent is proven with.
