//! The trait of every tool's arguments.

use super::ToolError;
use super::fields::Fields;

/// The arguments of one tool.
pub(super) trait Arguments: Sized {
    const TOOL: &'static str;

    fn read(fields: &Fields<'_>) -> Result<Self, ToolError>;

    /// Checks the arguments. It trims white space around texts, and refuses texts that are too long or empty. A second
    /// check has no effect.
    fn checked(self) -> Result<Self, ToolError>;
}
