//! Dates and times as text and as numbers.

use super::{Date, DateTime, Time};

/// Appends a number with at least `width` (at most 10) digits.
#[expect(clippy::indexing_slicing, reason = "no u32 has more than 10 digits")]
fn digits(value: u32, width: usize, out: &mut Vec<u8>) {
    let mut buffer = [b'0'; 10];
    let (mut at, mut rest) = (buffer.len(), value);
    while rest > 0 {
        at -= 1;
        buffer[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    out.extend_from_slice(&buffer[at.min(buffer.len() - width)..]);
}

fn two(value: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + value / 10, b'0' + value % 10]);
}

/// Appends the first `fsp` digits of a second's fraction, with their point.
fn fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    let fsp = fsp.min(6);
    if fsp > 0 {
        out.push(b'.');
        digits(micros / 10u32.pow(6 - u32::from(fsp)), usize::from(fsp), out);
    }
}

impl Date {
    /// Appends `2026-01-31`.
    pub fn format(self, out: &mut Vec<u8>) {
        digits(self.year().into(), 4, out);
        out.push(b'-');
        two(self.month(), out);
        out.push(b'-');
        two(self.day(), out);
    }

    /// As a number: 20260131.
    pub fn to_number(self) -> u32 {
        u32::from(self.year()) * 10_000 + u32::from(self.month()) * 100 + u32::from(self.day())
    }
}

impl DateTime {
    /// Appends `2026-01-31 23:59:59`, with `fsp` digits of the fraction.
    pub fn format(self, fsp: u8, out: &mut Vec<u8>) {
        self.date().format(out);
        out.push(b' ');
        two(self.hour(), out);
        out.push(b':');
        two(self.minute(), out);
        out.push(b':');
        two(self.second(), out);
        fraction(self.micros(), fsp, out);
    }

    /// As a number: 20260131235959, without the fraction.
    pub fn to_number(self) -> u64 {
        let time =
            u64::from(self.hour()) * 10_000 + u64::from(self.minute()) * 100 + u64::from(self.second());
        u64::from(self.date().to_number()) * 1_000_000 + time
    }

    /// Rounded half up to `fsp` digits; `None` if that is beyond year 9999.
    pub fn round(self, fsp: u8) -> Option<DateTime> {
        let unit = 10u32.pow(6 - u32::from(fsp.min(6)));
        let rounded = (self.micros() + unit / 2) / unit * unit;
        if rounded < 1_000_000 {
            return Some(DateTime(self.0 - u64::from(self.micros()) + u64::from(rounded)));
        }
        let whole = self.truncate(0);
        if let Some(micros) = whole.to_micros() {
            return DateTime::from_micros(micros + 1_000_000);
        }
        // A date that is no day: only the time of day can carry.
        let seconds = whole.time().micros() / 1_000_000 + 1;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        DateTime::new(self.date(), hour as u8, minute as u8, second as u8, 0)
    }

    /// Cut to `fsp` digits.
    #[must_use]
    pub fn truncate(self, fsp: u8) -> DateTime {
        let unit = 10u32.pow(6 - u32::from(fsp.min(6)));
        DateTime(self.0 - u64::from(self.micros() % unit))
    }
}

impl Time {
    /// Appends `-23:59:59`, with `fsp` digits of the fraction; hours have two digits or three.
    pub fn format(self, fsp: u8, out: &mut Vec<u8>) {
        let (negative, hours, minutes, seconds, micros) = self.parts();
        if negative {
            out.push(b'-');
        }
        digits(hours.into(), 2, out);
        out.push(b':');
        two(minutes, out);
        out.push(b':');
        two(seconds, out);
        fraction(micros, fsp, out);
    }

    /// As a number: -235959, without the fraction.
    pub fn to_number(self) -> i64 {
        let (negative, hours, minutes, seconds, _) = self.parts();
        let magnitude = i64::from(hours) * 10_000 + i64::from(minutes) * 100 + i64::from(seconds);
        if negative { -magnitude } else { magnitude }
    }

    /// Rounded half away from zero to `fsp` digits, clamped to the range.
    #[must_use]
    pub fn round(self, fsp: u8) -> Time {
        let unit = 10i64.pow(6 - u32::from(fsp.min(6)));
        let half = if self.0 < 0 { -unit / 2 } else { unit / 2 };
        Time(((self.0 + half) / unit * unit).clamp(Time::MIN.0, Time::MAX.0))
    }

    /// Cut to `fsp` digits.
    #[must_use]
    pub fn truncate(self, fsp: u8) -> Time {
        let unit = 10i64.pow(6 - u32::from(fsp.min(6)));
        Time(self.0 / unit * unit)
    }
}

macro_rules! display {
    ($type:ty, |$value:ident, $out:ident| $format:expr) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut buffer = Vec::with_capacity(32);
                let ($value, $out) = (*self, &mut buffer);
                $format;
                f.pad(std::str::from_utf8(&buffer).expect("digits are ASCII"))
            }
        }
    };
}

display!(Date, |value, out| value.format(out));
display!(DateTime, |value, out| value.format(if value.micros() == 0 { 0 } else { 6 }, out));
display!(Time, |value, out| value.format(if value.micros() % 1_000_000 == 0 { 0 } else { 6 }, out));
