//! stub
/// stub
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum SilencePolicy {
    /// stub
    #[default]
    Strict,
}
