//! A Discord on this machine, for developing a bot without a token.

fn main() {}
