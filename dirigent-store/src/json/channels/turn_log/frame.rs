//! The form of a frame: how a turn stands in a file of the log, and how it is found there again.
//!
//! A frame is a line `<kind> <channel> <revision> <bytes> <synced> <sum of the body> <sum of the line>` and a body of so
//! many bytes. `<synced>` is how many bytes of the file the disk was known to have when the frame was written. The sums
//! are CRC-32, in eight hexadecimal digits; that of the line is over all that stands before it. So a body that is
//! damaged is known with its channel, and a line that is damaged names no channel at all. The frame of a fact has no body.
//!
//! A line begins as a frame does only where there is one: bodies are JSON, which writes the line breaks of strings in
//! another way. So what people write is never taken for a frame.

use std::fmt::Write as _;
use std::ops::Range;

use dirigent::ChannelId;
use dirigent::store::Revision;

use crate::record::LARGEST;
use crate::record::form::whole;

/// The longest first line of a frame: two numbers of 64 bits, two of eight digits, and two sums.
const HEADER_MAX: usize = 96;

/// What a frame holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The text of the channel's file.
    Turn,
    /// What changed since the channel's frame before.
    Change,
    /// What is left of a turn that was damaged after the disk had it.
    Lost,
    /// Nothing: the channel's file is as new as this, and was made to last.
    Fact,
    /// Blanks in the place of what was erased.
    Erased,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Turn, Self::Change, Self::Lost, Self::Fact, Self::Erased];

    /// What the frame begins with.
    const fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn ",
            Self::Change => "diff ",
            Self::Lost => "lost ",
            Self::Fact => "fact ",
            Self::Erased => "void ",
        }
    }

    fn of(frame: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| frame.starts_with(kind.name().as_bytes()))
    }
}

/// What the first line of a frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) channel: ChannelId,
    pub(super) revision: Revision,
    /// How many bytes the body has.
    pub(super) length: usize,
    /// How many bytes of the file the disk was known to have.
    pub(super) synced: u64,
    /// The sum of the body.
    pub(super) sum: u32,
}

impl Header {
    pub(super) fn of(
        kind: Kind,
        channel: ChannelId,
        revision: Revision,
        synced: u64,
        body: &[u8],
    ) -> Self {
        Self { kind, channel, revision, length: body.len(), synced, sum: crc32fast::hash(body) }
    }

    /// The first line. Those of one channel, revision, length and `synced` have the same length, whatever their kind.
    pub(super) fn line(&self) -> String {
        let Self { kind, channel, revision, length, synced, sum } = self;
        let mut line =
            format!("{}{channel} {} {length} {synced} {sum:08x}", kind.name(), revision.get());
        // Writing to a string does not fail.
        let _ = writeln!(line, " {:08x}", crc32fast::hash(line.as_bytes()));
        line
    }

    /// What the line that begins here says, if it is as it was written, and how long it is.
    fn read(rest: &[u8]) -> Option<(Self, usize)> {
        let kind = Kind::of(rest)?;
        let line = rest.get(..rest.len().min(HEADER_MAX))?;
        let end = line.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(rest.get(..end)?).ok()?;
        let (summed, sum) = line.rsplit_once(' ')?;
        if self::sum(sum)? != crc32fast::hash(summed.as_bytes()) {
            return None;
        }
        let mut words = summed.strip_prefix(kind.name())?.split(' ');
        let (channel, revision) = (whole(words.next()?)?, whole(words.next()?)?);
        let (length, synced) = (whole(words.next()?)?, whole(words.next()?)?);
        let sum = self::sum(words.next()?)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= LARGEST)?;
        let (channel, revision) = (ChannelId::new(channel), Revision::new(revision));
        let header = Self { kind, channel, revision, length, synced, sum };
        words.next().is_none().then_some((header, end + 1))
    }
}

/// A sum as it is written.
fn sum(digits: &str) -> Option<u32> {
    let is_sum =
        digits.len() == 8 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    u32::from_str_radix(digits, 16).ok().filter(|_| is_sum)
}

/// A frame that was found in a file: its first line is as it was written.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) header: Header,
    /// Where its first line begins.
    pub(super) begin: usize,
    /// Where its body stands.
    pub(super) body: Range<usize>,
    /// Its body is as it was written; that of an erased one always is.
    pub(super) is_sound: bool,
}

/// What was found in a file.
#[derive(Debug, Default)]
pub(super) struct Scanned {
    /// The frames, in order.
    pub(super) frames: Vec<Frame>,
    /// What is damaged and names no channel.
    pub(super) damaged: Vec<Range<usize>>,
    /// A frame that was cut short by the end of the file.
    pub(super) cut: Option<Range<usize>>,
}

impl Scanned {
    /// How many bytes the disk was known to have when the newest frame was written. What stands there was lost by
    /// nothing but damage; what stands behind may also be what a power cut left.
    pub(super) fn synced(&self) -> u64 {
        self.frames.iter().map(|frame| frame.header.synced).max().unwrap_or_default()
    }

    /// Whether anything is neither as it was written nor cut short.
    pub(super) fn is_damaged(&self) -> bool {
        !self.damaged.is_empty() || self.frames.iter().any(|frame| !frame.is_sound)
    }
}

/// Looks through a file.
pub(super) fn scan(content: &[u8]) -> Scanned {
    let (mut found, mut at) = (Scanned::default(), 0);
    while let Some(rest) = content.get(at..).filter(|rest| !rest.is_empty()) {
        let Some((header, first)) = Header::read(rest) else {
            if is_cut_line(rest) {
                found.cut = Some(at..content.len());
                break;
            }
            let end = next_line(rest).map_or(content.len(), |next| at + next);
            // Blanks are what was damaged and then erased.
            let is_blank = |byte: &u8| matches!(byte, b' ' | b'\n');
            if !content.get(at..end).is_some_and(|stretch| stretch.iter().all(is_blank)) {
                found.damaged.push(at..end);
            }
            at = end;
            continue;
        };
        let body = at + first..(at + first).saturating_add(header.length);
        let Some(text) = content.get(body.clone()) else {
            found.cut = Some(at..content.len());
            break;
        };
        let is_sound = header.kind == Kind::Erased || crc32fast::hash(text) == header.sum;
        let begin = std::mem::replace(&mut at, body.end);
        found.frames.push(Frame { header, begin, body, is_sound });
    }
    found
}

/// Whether this is the beginning of a first line, and nothing more.
fn is_cut_line(rest: &[u8]) -> bool {
    let is_of_line = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    rest.len() < HEADER_MAX && rest.iter().all(is_of_line)
}

/// Where the next line begins that begins as a frame does. A hole in a file is zeros and has the line break before it; no
/// text has a zero.
fn next_line(rest: &[u8]) -> Option<usize> {
    let breaks = rest.iter().enumerate().filter(|(_, byte)| matches!(byte, b'\n' | 0));
    let mut lines = breaks.map(|(at, _)| at + 1);
    lines.find(|begin| rest.get(*begin..).and_then(Kind::of).is_some())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(kind: Kind, channel: u64, revision: u64, synced: u64, body: &str) -> Vec<u8> {
        let (channel, revision) = (ChannelId::new(channel), Revision::new(revision));
        let header = Header::of(kind, channel, revision, synced, body.as_bytes());
        [header.line().as_bytes(), body.as_bytes()].concat()
    }

    /// Three frames, and where the second begins and ends.
    fn three() -> (Vec<u8>, Range<usize>) {
        let frames = [
            frame(Kind::Turn, 7, 3, 0, "{\n  \"text\": 1\n}\n"),
            frame(Kind::Change, 8, 4, 10, "1 2 3\n"),
            frame(Kind::Lost, 9, 5, 90, "\0\n"),
        ];
        let begin = frames[0].len();
        (frames.concat(), begin..begin + frames[1].len())
    }

    fn revisions(content: &[u8]) -> Vec<u64> {
        let sound = scan(content).frames.into_iter().filter(|frame| frame.is_sound);
        sound.map(|frame| frame.header.revision.get()).collect()
    }

    #[test]
    fn frames_are_found_as_they_were_written() {
        let (content, second) = three();
        let found = scan(&content);
        assert_eq!((found.is_damaged(), found.cut.clone(), found.synced()), (false, None, 90));
        assert_eq!(revisions(&content), [3, 4, 5]);
        let frame = &found.frames[1];
        assert_eq!((frame.header.kind, frame.header.channel.get()), (Kind::Change, 8));
        assert_eq!((frame.begin, &content[frame.body.clone()]), (second.start, &b"1 2 3\n"[..]));
    }

    #[test]
    fn the_longest_first_line_is_read() {
        let (channel, revision) = (ChannelId::new(u64::MAX), Revision::new(u64::MAX));
        let header = Header {
            length: LARGEST,
            ..Header::of(Kind::Turn, channel, revision, 83_886_080, b"")
        };
        assert_eq!(
            Header::read(header.line().as_bytes()),
            Some((header.clone(), header.line().len()))
        );
    }

    #[test]
    fn any_byte_that_changes_takes_one_frame_out_and_is_reported() {
        let (content, second) = three();
        for at in second {
            for change in [0x01, 0x20, 0x80] {
                let mut bent = content.clone();
                bent[at] ^= change;
                assert_eq!(revisions(&bent), [3, 5], "byte {at}");
                assert!(scan(&bent).is_damaged(), "byte {at}");
            }
        }
    }

    #[test]
    fn a_body_that_is_damaged_is_known_with_its_channel_and_a_line_that_is_names_none() {
        let (content, second) = three();
        let mut bent = content.clone();
        bent[second.end - 2] ^= 1;
        let found = scan(&bent);
        let of: Vec<_> =
            found.frames.iter().map(|frame| (frame.header.channel.get(), frame.is_sound)).collect();
        assert_eq!((of, found.damaged), (vec![(7, true), (8, false), (9, true)], vec![]));
        bent.clone_from(&content);
        bent[second.start + 5] = b'9';
        let found = scan(&bent);
        assert_eq!((found.frames.len(), found.damaged), (2, vec![second]));
    }

    #[test]
    fn what_the_end_of_the_file_cuts_short_is_no_damage() {
        let (content, second) = three();
        for cut in 0..content.len() {
            let found = scan(&content[..cut]);
            assert!(!found.is_damaged(), "cut at {cut}");
            let complete = if cut < second.start { 0 } else { 1 + usize::from(cut >= second.end) };
            assert_eq!(found.frames.len(), complete, "cut at {cut}");
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_in_a_file_it_is_passed_over(
            content in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let sound = frame(Kind::Turn, 7, 3, 0, "{}\n");
            let all = [&content[..], &b"\n"[..], &sound].concat();
            prop_assert_eq!(revisions(&all), [3]);
        }
    }
}
