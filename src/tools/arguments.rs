//! What the arguments of every tool can do.

use super::ToolError;
use super::fields::Fields;

/// The arguments of one tool.
pub(super) trait Arguments: Sized {
    /// The tool's name.
    const TOOL: &'static str;

    /// Takes the arguments as they were written.
    fn read(fields: &Fields<'_>) -> Result<Self, ToolError>;

    /// Looks at what they say: texts without white space around them, nothing too long or empty.
    /// Checking twice changes nothing.
    fn checked(self) -> Result<Self, ToolError>;
}
