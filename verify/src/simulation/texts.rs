//! The few texts of the simulated world, digested once.

use std::sync::OnceLock;

use dirigent_core::Tail;

/// The most messages that one reply is cut into.
pub(super) const PARTS_MAX: u8 = 4;
/// How many different replies there are.
const SCRIPTS: u8 = 16;

/// A text by number: a whole reply, one of its parts, or its draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text {
    script: u8,
    part: Part,
}

/// Which piece of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Whole,
    Draft,
    Piece(u8),
}

/// One reply: cut, whole and unfinished.
#[derive(Debug)]
struct Script {
    whole: Tail,
    draft: Tail,
    pieces: Vec<Tail>,
}

impl Text {
    /// Any whole reply.
    pub(super) fn whole(number: u64) -> Self {
        let script = u8::try_from(number % u64::from(SCRIPTS)).unwrap_or(0);
        Self { script, part: Part::Whole }
    }

    /// How many pieces it is cut into.
    pub(super) const fn pieces(self) -> u8 {
        1 + self.script % PARTS_MAX
    }

    /// One piece of it.
    pub(super) const fn piece(self, at: u8) -> Self {
        Self { script: self.script, part: Part::Piece(at) }
    }

    /// The message before it was finished by an edit.
    pub(super) const fn draft(self) -> Self {
        Self { script: self.script, part: Part::Draft }
    }

    /// What a message with this text is digested to.
    pub(super) fn tail(self) -> Tail {
        let Some(script) = scripts().get(usize::from(self.script)) else {
            return Tail::EMPTY;
        };
        match self.part {
            Part::Whole => script.whole,
            Part::Draft => script.draft,
            Part::Piece(at) => script.pieces.get(usize::from(at)).copied().unwrap_or_default(),
        }
    }
}

fn scripts() -> &'static [Script] {
    static SCRIPTS_ONCE: OnceLock<Vec<Script>> = OnceLock::new();
    SCRIPTS_ONCE.get_or_init(|| (0..SCRIPTS).map(write).collect())
}

/// Replies of one to four messages, long and short, one of them nothing but a fence.
fn write(script: u8) -> Script {
    let pieces: Vec<String> = (0..=script % PARTS_MAX)
        .map(|part| match script {
            15 => "```".to_owned(),
            _ if script % 3 == 0 => format!("s{script}p{part}"),
            _ => format!("Reply {script}, part {part}: {}", "all of it matters. ".repeat(3)),
        })
        .collect();
    Script {
        whole: Tail::of(&pieces.join("\n")),
        draft: Tail::of(&format!("thinking about {script} …")),
        pieces: pieces.iter().map(|piece| Tail::of(piece)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pieces_of_a_reply_join_to_its_whole() {
        for number in 0..u64::from(SCRIPTS) {
            let whole = Text::whole(number);
            let mut joined = Tail::EMPTY;
            (0..whole.pieces()).for_each(|at| joined.join(&whole.piece(at).tail()));
            assert_eq!(joined, whole.tail());
        }
    }
}
