//! Draws a speaker list as a ring: its agents, the one that has the floor, and the result of each turn.

use crate::drawing::svg::{Svg, short};

/// A speaker list at one moment. `svg` draws it as a ring that you read clockwise from the top.
///
/// ```
/// use dirigent_control::drawing::{Ring, RingSeat, SeatMark};
///
/// let seats = vec![RingSeat { name: "Poet".to_owned(), mark: SeatMark::Speaks }];
/// let ring = Ring { seats, middle: "Poet".to_owned(), below: "is running".to_owned() };
/// assert!(ring.svg().contains("Poet"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Ring {
    /// The places in speaking order.
    pub seats: Vec<RingSeat>,
    /// The text in the middle.
    pub middle: String,
    /// The smaller text below the one in the middle.
    pub below: String,
}

/// One place in a [`Ring`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct RingSeat {
    /// The name of the agent.
    pub name: String,
    /// The state of the agent.
    pub mark: SeatMark,
}

/// The state of an agent in a ring. Each state has its own shape, so that you can tell them apart without colours.
///
/// ```
/// assert_eq!(dirigent_control::drawing::SeatMark::Passed.words(), "passed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SeatMark {
    /// The agent has the floor.
    Speaks,
    /// The agent's turn is still to come.
    Ahead,
    /// The agent has spoken.
    Spoke,
    /// The agent had no words to add.
    Passed,
    /// The agent was skipped.
    Skipped,
    /// The agent is muted.
    Muted,
    /// The agent is offline, not assigned, or has left.
    Away,
}

impl SeatMark {
    /// Returns the state in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Speaks => "has the floor",
            Self::Ahead => "to come",
            Self::Spoke => "spoke",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Muted => "muted",
            Self::Away => "away",
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Speaks => "speaks",
            Self::Ahead => "ahead",
            Self::Spoke => "spoke",
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Muted => "muted",
            Self::Away => "away",
        }
    }
}

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
const RADIUS: f64 = 96.0;

/// The most seats with names beside them. With more seats the names would overlap.
const NAMED_MAX: usize = 12;

impl Ring {
    /// Returns the SVG as part of a page. Your stylesheet must contain [`STYLE`](crate::drawing::STYLE).
    pub fn svg(&self) -> String {
        let mut svg = Svg::default();
        let seats: Vec<_> =
            self.seats.iter().map(|seat| format!("{} {}", seat.name, seat.mark.words())).collect();
        let label = format!("Speaker list: {}", seats.join(", "));
        #[rustfmt::skip]
        svg.open("svg", &[
            ("xmlns", &"http://www.w3.org/2000/svg"), ("class", &"ring"), ("role", &"img"), ("aria-label", &label),
            ("viewBox", &format_args!("0 0 {WIDTH} {HEIGHT}")),
        ]);
        let (middle_x, middle_y) = (WIDTH / 2.0, HEIGHT / 2.0);
        #[rustfmt::skip]
        svg.empty("circle", &[
            ("class", &"round"), ("cx", &middle_x), ("cy", &middle_y), ("r", &RADIUS),
        ]);
        let texts =
            [("middle", middle_y + 2.0, &self.middle), ("below", middle_y + 22.0, &self.below)];
        for (class, y, text) in texts {
            #[rustfmt::skip]
            svg.text("text", &[
                ("class", &class), ("x", &middle_x), ("y", &y), ("text-anchor", &"middle"),
            ], &short(text, 20.0));
        }
        let count = f64::from(u32::try_from(self.seats.len().max(1)).unwrap_or(u32::MAX));
        for (at, seat) in (0_u32..).zip(&self.seats) {
            let angle = std::f64::consts::TAU * f64::from(at) / count;
            draw_seat(&mut svg, seat, angle, self.seats.len() <= NAMED_MAX);
        }
        svg.close("svg");
        svg.finish()
    }
}

fn draw_seat(svg: &mut Svg, seat: &RingSeat, angle: f64, is_told: bool) {
    let (sin, cos) = angle.sin_cos();
    let (x, y) = (WIDTH / 2.0 + RADIUS * sin, HEIGHT / 2.0 - RADIUS * cos);
    let round = |value: f64| (value * 10.0).round() / 10.0;
    let (x, y) = (round(x), round(y));
    svg.open("g", &[("class", &seat.mark.class())]);
    svg.text("title", &[], &format!("{} {}", seat.name, seat.mark.words()));
    if seat.mark == SeatMark::Speaks {
        svg.empty("circle", &[("class", &"halo"), ("cx", &x), ("cy", &y), ("r", &15)]);
    }
    svg.empty("circle", &[("class", &"seat"), ("cx", &x), ("cy", &y), ("r", &9)]);
    match seat.mark {
        SeatMark::Passed => {
            let (left, top) = (x - 4.5, y - 2.0);
            #[rustfmt::skip]
            svg.empty("rect", &[
                ("class", &"glyph"), ("x", &left), ("y", &top), ("width", &9), ("height", &4),
            ]);
        }
        SeatMark::Skipped | SeatMark::Muted => {
            let d = format!("M{} {}l9 -9", x - 4.5, y + 4.5);
            svg.empty("path", &[("class", &"glyph"), ("d", &d)]);
        }
        SeatMark::Speaks | SeatMark::Ahead | SeatMark::Spoke | SeatMark::Away => {}
    }
    if is_told {
        let anchor = match sin {
            sin if sin > 0.25 => "start",
            sin if sin < -0.25 => "end",
            _ => "middle",
        };
        let (left, top) = (round(x + 20.0 * sin), round(y - 26.0 * cos));
        // There are two lines, and above the ring they grow upwards.
        let top = if cos > 0.25 { top - 6.0 } else { top + 4.0 };
        let (name_x, name_y, state_y) = (left, top, top + 13.0);
        let name: [(&str, &dyn std::fmt::Display); 4] =
            [("class", &"name"), ("x", &name_x), ("y", &name_y), ("text-anchor", &anchor)];
        svg.text("text", &name, &short(&seat.name, 14.0));
        let state: [(&str, &dyn std::fmt::Display); 4] =
            [("class", &"how"), ("x", &name_x), ("y", &state_y), ("text-anchor", &anchor)];
        svg.text("text", &state, seat.mark.words());
    }
    svg.close("g");
}
