//! Draws a score as SVG.

use std::fmt;

use crate::drawing::axis::Axis;
use crate::drawing::score::{AgentLine, Barline, Note, NoteKind, Score};
use crate::drawing::svg::{Svg, columns, escaped, short};
use crate::drawing::when::When;

/// The room for names to the left of the moments.
pub(crate) const MARGIN: f64 = 132.0; // assets/score.css has its width, too
/// The left edge of the labels below notes and lines.
const LABELS_FROM: f64 = MARGIN - 8.0;
const RIGHT: f64 = 28.0;
/// The middle of the first line. Above it are the times.
const TOP: f64 = 26.0 + TIMES;
/// The height of the row of times. The names on a page begin below it.
const TIMES: f64 = 22.0; // assets/score.css has it, too
/// The distance from one stave to the next.
const STAVE: f64 = 46.0;
/// The height of the two rows of labels below the last line. The first row has ends, and the second one has waits.
const BOTTOM: f64 = 40.0;
const NAME_COLUMNS: f64 = 16.0;
/// The name of the line with the messages of people.
pub(crate) const PEOPLE: &str = "People";
/// The width of a character in small text.
const SMALL_CHAR: f64 = 6.6;
/// The smallest gap between two labels of a row.
const APART: f64 = 6.0;

/// Returns a number with one digit after the point, so that the same score always gives the same text.
#[derive(Clone, Copy)]
struct Px(f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1}", self.0)
    }
}

pub(crate) fn svg(score: &Score, axis: &Axis, style: Option<&str>) -> String {
    // A page is opened at the end of the score. So on a phone only the newest part may be visible there.
    let min = if style.is_some() { 640.0 } else { 300.0 };
    // The size is in whole pixels, because browsers and librsvg round fractions differently.
    // Two times have room in every score.
    let min = f64::max(min, LABELS_FROM + 2.0 * room_of_time(is_one_day(axis)));
    let width = (MARGIN + axis.width() + RIGHT).max(min).ceil();
    let rows = f64::from(u32::try_from(score.staves.len()).unwrap_or(u32::MAX)) + 1.0;
    let height = TOP + rows * STAVE + BOTTOM - STAVE / 2.0;
    let mut svg = Svg::default();
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("class", &"score"),
            ("role", &"img"),
            ("aria-label", &summary(score)),
            ("width", &Px(width)),
            ("height", &Px(height)),
            ("viewBox", &format_args!("0 0 {} {}", Px(width), Px(height))),
        ],
    );
    if let Some(style) = style {
        svg.open("style", &[]);
        svg.raw(style);
        svg.close("style");
        svg.empty("rect", &[("class", &"paper"), ("width", &"100%"), ("height", &"100%")]);
    }
    let last = height - BOTTOM;
    times(&mut svg, axis, (width, last));
    folds(&mut svg, axis, last);
    barlines(&mut svg, score, axis, (width, last));
    people(&mut svg, score, axis, width);
    for (at, stave) in (1_u32..).zip(&score.staves) {
        let y = TOP + f64::from(at) * STAVE;
        draw_stave(&mut svg, stave, axis, y, width);
    }
    svg.empty(
        "line",
        &[
            ("class", &"playhead"),
            ("x1", &0),
            ("x2", &0),
            ("y1", &Px(TIMES)),
            ("y2", &Px(last + 8.0)),
            ("visibility", &"hidden"),
        ],
    );
    svg.close("svg");
    svg.finish()
}

/// Draws a score with the names beside it. Screen readers skip these names, because the score contains them, too.
pub(crate) fn sheet(score: &Score, axis: &Axis) -> String {
    if score.staves.is_empty() {
        return "<p class=\"no-score\">No agent has had a turn yet.</p>".to_owned();
    }
    let names = score.names().map(|name| format!("<span dir=\"auto\">{}</span>", escaped(name)));
    let names: String = names.collect();
    let svg = svg(score, axis, None);
    format!(
        "<div class=\"staves\"><div class=\"names\" aria-hidden=\"true\">{names}</div>{svg}</div>"
    )
}

/// Returns the text alternative of the picture.
fn summary(score: &Score) -> String {
    let count = |stave: &AgentLine, is: fn(&NoteKind) -> bool| {
        stave.notes.iter().filter(|note| is(&note.kind)).count()
    };
    let parts = score.staves.iter().map(|stave| {
        format!(
            "{} spoke {} times, was silent {} times and denied {} times",
            stave.name,
            count(stave, |kind| matches!(kind, NoteKind::Speech)),
            count(stave, |kind| matches!(kind, NoteKind::Rest(_))),
            count(stave, |kind| matches!(kind, NoteKind::Denied(_))),
        )
    });
    let parts: Vec<_> = parts.collect();
    let words = score.words.len();
    format!("Score of the channel. People wrote {words} times. {}.", parts.join("; "))
}

/// Draws the times above the lines, and the day beside them. A page shows them as the visitor's own.
fn times(svg: &mut Svg, axis: &Axis, (width, last): (f64, f64)) {
    let Some((from, _)) = axis.ends() else { return };
    let (from, is_one_day) = (When::of(from), is_one_day(axis));
    let side = Px(MARGIN - 20.0);
    let zone = if is_one_day { format!("{}, UTC", from.day_and_year()) } else { "UTC".to_owned() };
    let attributes: [(&str, &dyn fmt::Display); 4] =
        [("class", &"zone"), ("x", &side), ("y", &"15"), ("text-anchor", &"end")];
    svg.text("text", &attributes, &zone);
    let mut before = String::new();
    for (at, middle) in
        axis.labelled(room_of_time(is_one_day), (LABELS_FROM - MARGIN, width - MARGIN))
    {
        let when = When::of(at);
        let label = if is_one_day { when.time.clone() } else { when.day_and_time() };
        if label == before {
            continue;
        }
        before.clone_from(&label);
        let (x, middle) = (MARGIN + axis.place(at), MARGIN + middle);
        // From the label, which may stand a little beside its moment, and through all lines.
        let d = format!("M{} 19L{} 26V{}", Px(middle), Px(x), Px(last));
        svg.empty("path", &[("class", &"tick"), ("d", &d)]);
        let millis = at.as_millis();
        let attributes: [(&str, &dyn fmt::Display); 5] = [
            ("class", &(if is_one_day { "time" } else { "time days" })),
            ("data-at", &millis),
            ("x", &Px(middle)),
            ("y", &"15"),
            ("text-anchor", &"middle"),
        ];
        svg.text("text", &attributes, &label);
    }
}

/// Returns true if all moments are of one day in UTC.
fn is_one_day(axis: &Axis) -> bool {
    let day = |at| When::of(at).day_and_year();
    axis.ends().is_none_or(|(from, to)| day(from) == day(to))
}

/// Returns the width of a time, with the gap to the next one.
fn room_of_time(is_one_day: bool) -> f64 {
    APART + small_width(if is_one_day { When::WIDEST_TIME } else { When::WIDEST_DAY_AND_TIME })
}

fn folds(svg: &mut Svg, axis: &Axis, last: f64) {
    let mut row = LabelRow::from_left();
    for (place, wait) in &axis.folds {
        let x = MARGIN + place;
        let label = long(*wait);
        if row.takes(x, &label) {
            svg.text(
                "text",
                &[
                    ("class", &"fold"),
                    ("x", &Px(x)),
                    ("y", &Px(last + 30.0)),
                    ("text-anchor", &"middle"),
                ],
                &label,
            );
        }
        for off in [-2.0, 2.0] {
            svg.empty(
                "line",
                &[
                    ("class", &"foldline"),
                    ("x1", &Px(x + off + 3.0)),
                    ("x2", &Px(x + off - 3.0)),
                    ("y1", &Px(last + 2.0)),
                    ("y2", &Px(last + 10.0)),
                ],
            );
        }
    }
}

fn long(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

fn barlines(svg: &mut Svg, score: &Score, axis: &Axis, (width, last): (f64, f64)) {
    let x_of = |line: &Barline| MARGIN + axis.place(line.at);
    // The names cover everything to the left of the lines, and the picture ends to the right of them.
    let middle_of = |line: &Barline| {
        let half = small_width(&line.why) / 2.0;
        x_of(line).min(width - half).max(LABELS_FROM + half)
    };
    // The newest end comes first, because it explains the silence.
    let mut row = LabelRow::from_right();
    let mut takes = |line: &Barline| line.is_end && row.takes(middle_of(line), &line.why);
    let labelled: Vec<bool> = score.barlines.iter().rev().map(&mut takes).collect();
    for (line, is_labelled) in score.barlines.iter().zip(labelled.into_iter().rev()) {
        let x = x_of(line);
        svg.open("g", &[("class", &(if line.is_end { "end" } else { "bar" }))]);
        svg.text("title", &[], &line.why);
        let offsets: &[f64] = if line.is_end { &[0.0, 3.5] } else { &[0.0] };
        for off in offsets {
            svg.empty(
                "line",
                &[
                    ("x1", &Px(x + off)),
                    ("x2", &Px(x + off)),
                    ("y1", &Px(TOP + STAVE - 16.0)),
                    ("y2", &Px(last)),
                ],
            );
        }
        if is_labelled {
            svg.text(
                "text",
                &[("x", &Px(middle_of(line))), ("y", &Px(last + 14.0)), ("text-anchor", &"middle")],
                &line.why,
            );
        }
        svg.close("g");
    }
}

fn people(svg: &mut Svg, score: &Score, axis: &Axis, width: f64) {
    name(svg, PEOPLE, TOP);
    hairline(svg, TOP, width);
    for at in &score.words {
        let x = MARGIN + axis.place(*at);
        svg.open("g", &[("class", &"word")]);
        svg.text("title", &[], "a person writes");
        let d = format!("M{} {}l6 -6l6 6l-6 6z", Px(x - 6.0), Px(TOP));
        svg.empty("path", &[("d", &d)]);
        svg.close("g");
    }
}

fn draw_stave(svg: &mut Svg, stave: &AgentLine, axis: &Axis, y: f64, width: f64) {
    name(svg, &stave.name, y);
    hairline(svg, y, width);
    let mut notes: Vec<&Note> = stave.notes.iter().collect();
    notes.sort_by_key(|note| note.from);
    let mut row = LabelRow::from_left();
    for note in notes {
        let x = MARGIN + axis.place(note.from);
        let end = MARGIN + axis.place(note.to);
        draw_note(svg, &stave.name, note, (x, end, y), (&mut row, width));
    }
}

/// A row of labels that is filled from one side to the other, so that no label lies over another one.
struct LabelRow {
    /// The end of the newest label, measured in the direction in which the row is filled.
    free_from: f64,
    /// 1 for a row that is filled from the left, and -1 for its mirror image.
    direction: f64,
}

impl LabelRow {
    const fn from_left() -> Self {
        Self { free_from: LABELS_FROM, direction: 1.0 }
    }

    const fn from_right() -> Self {
        Self { free_from: f64::NEG_INFINITY, direction: -1.0 }
    }

    /// Takes the room for a label around this place. Returns false if another label has it.
    fn takes(&mut self, middle: f64, label: &str) -> bool {
        let (middle, half) = (middle * self.direction, small_width(label) / 2.0);
        let has_room = middle - half >= self.free_from;
        if has_room {
            self.free_from = middle + half + APART;
        }
        has_room
    }
}

fn draw_note(
    svg: &mut Svg,
    name: &str,
    note: &Note,
    (x, end, y): (f64, f64, f64),
    (row, width): (&mut LabelRow, f64),
) {
    let class = match note.kind {
        NoteKind::Speech => "speech",
        NoteKind::Running => "running",
        NoteKind::Rest(_) => "rest",
        NoteKind::Denied(_) => "denied",
    };
    svg.open("g", &[("class", &class)]);
    svg.text("title", &[], &format!("{name} {}", note.kind.words()));
    match &note.kind {
        NoteKind::Speech | NoteKind::Running => {
            let width = (end - x).max(5.0);
            #[rustfmt::skip]
            svg.empty("rect", &[
                ("x", &Px(x)), ("y", &Px(y - 8.0)), ("width", &Px(width)), ("height", &"16"), ("rx", &"3"),
            ]);
        }
        NoteKind::Rest(why) => {
            // A half rest lies on the line, in the middle of its time.
            let middle = f64::midpoint(x, end);
            #[rustfmt::skip]
            svg.empty("rect", &[
                ("x", &Px(middle - 6.0)), ("y", &Px(y - 6.0)), ("width", &"12"), ("height", &"6"), ("rx", &"1"),
            ]);
            if middle + small_width(why) / 2.0 <= width && row.takes(middle, why) {
                svg.text(
                    "text",
                    &[("x", &Px(middle)), ("y", &Px(y + 19.0)), ("text-anchor", &"middle")],
                    why,
                );
            }
        }
        NoteKind::Denied(_) => {
            svg.empty("circle", &[("cx", &Px(x)), ("cy", &Px(y)), ("r", &"4.5")]);
        }
    }
    svg.close("g");
}

fn name(svg: &mut Svg, name: &str, y: f64) {
    let x = Px(MARGIN - 20.0);
    let attributes: [(&str, &dyn fmt::Display); 4] =
        [("class", &"name"), ("x", &x), ("y", &Px(y + 4.0)), ("text-anchor", &"end")];
    svg.text("text", &attributes, &short(name, NAME_COLUMNS));
}

fn hairline(svg: &mut Svg, y: f64, width: f64) {
    #[rustfmt::skip]
    svg.empty("line", &[
        ("class", &"hairline"), ("x1", &Px(MARGIN - 10.0)), ("x2", &Px(width - RIGHT / 2.0)), ("y1", &Px(y)), ("y2", &Px(y)),
    ]);
}

fn small_width(text: &str) -> f64 {
    columns(text) * SMALL_CHAR
}
