//! The layout of a file. Each field has its own line down to the topics of the state, and
//! everything inside a topic is in one line. So you can find everything, but a list of 256 ids does
//! not fill the screen.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Objects nested deeper than this are written in one line.
const OPEN_DEPTHS: usize = 4;

/// Writes a value at this depth of the file.
pub(super) fn to_text<T: Serialize>(value: &T, depth: usize) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(2_048);
    value.serialize(&mut Serializer::with_formatter(&mut text, Layout { depth }))?;
    Ok(text)
}

/// Breaks lines between the fields of the outer objects.
struct Layout {
    /// The number of open objects and arrays.
    depth: usize,
}

impl Layout {
    const fn is_open(&self) -> bool {
        self.depth <= OPEN_DEPTHS
    }

    fn break_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Layout {
    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let was_open = self.is_open();
        self.depth -= 1;
        if was_open {
            self.break_line(writer)?;
        }
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.is_open() {
            self.break_line(writer)
        } else if first {
            Ok(())
        } else {
            writer.write_all(b" ")
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        // The content of an array is in one line.
        self.depth += OPEN_DEPTHS;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= OPEN_DEPTHS;
        writer.write_all(b"]")
    }
}
