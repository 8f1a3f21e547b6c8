//! Results from the MySQL manual, and random dates against a calendar that is counted day by day.

use palisade_base::prng::{Prng, test_seed};

use super::calendar::{Interval, days_in_month, is_leap_year};
use super::*;

fn date(text: &str) -> Date {
    Date::parse(text.as_bytes(), TemporalMode::default()).unwrap().value
}

fn time_of(text: &[u8], mode: TemporalMode) -> Option<Parsed<Time>> {
    Time::parse(text, mode, |there, _| there)
}

fn datetime(text: &str) -> DateTime {
    DateTime::parse(text.as_bytes(), TemporalMode::default()).unwrap().0.value
}

#[test]
fn the_calendar_agrees_with_counting_days() {
    let (mut year, mut month, mut day) = (0u16, 1u8, 1u8);
    let mut weekday = 5; // 0000-01-01, from the known Sunday 2007-10-07
    for number in 1..=calendar::LAST_DAY {
        let value = Date::new(year, month, day).unwrap();
        assert_eq!(value.to_days(), Some(number));
        assert!(value.is_valid());
        if number >= 366 {
            assert_eq!(Date::from_days(number), Some(value));
        }
        if year == 0 && month == 1 && day == 1 {
            weekday = value.weekday().unwrap();
        }
        assert_eq!(value.weekday(), Some(weekday));
        weekday = (weekday + 1) % 7;
        day += 1;
        let february =
            if year != 0 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) { 29 } else { 28 };
        let length = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][usize::from(month) - 1];
        if day > length {
            (day, month) = (1, month + 1);
            if month > 12 {
                (month, year) = (1, year + 1);
            }
        }
    }
    assert_eq!(year, 10_000);
    assert_eq!(Date::from_days(0), None);
    assert_eq!(Date::from_days(1), Some(date("0000-01-01")));
    assert_eq!(Date::from_days(365), Some(date("0000-12-31")));
    assert_eq!(Date::from_days(calendar::LAST_DAY + 1), None);
    assert_eq!(date("2007-10-07").to_days(), Some(733_321));
    assert_eq!(date("1970-01-01").to_days(), Some(calendar::EPOCH_DAYS));
    assert_eq!(date("2007-10-07").weekday(), Some(6));
    assert_eq!(date("2007-02-03").day_of_year(), Some(34));
    assert_eq!(date("2004-02-05").last_day(), Some(date("2004-02-29")));
    assert_eq!(date("2024-00-00").to_days(), None);
}

#[test]
fn weeks_as_in_the_manual() {
    for (text, mode, week, year) in [
        ("2008-02-20", 0, 7, 2008),
        ("2008-02-20", 1, 8, 2008),
        ("2008-12-31", 1, 53, 2008),
        ("2000-01-01", 0, 0, 2000),
        ("2000-01-01", 2, 52, 1999),
        ("1987-01-01", 2, 52, 1986),
        ("2008-02-20", 3, 8, 2008),
        ("2008-12-31", 3, 1, 2009),
        ("2024-12-30", 3, 1, 2025),
        ("2021-01-03", 3, 53, 2020),
        ("2021-01-03", 6, 1, 2021),
        ("2021-01-03", 4, 1, 2021),
        ("2021-01-03", 5, 0, 2021),
        ("2021-01-03", 7, 52, 2020),
    ] {
        assert_eq!(date(text).week(mode), Some((week, year)), "WEEK('{text}', {mode})");
    }
}

/// The ISO week (mode 3): the year and number that the week's Thursday has.
#[test]
fn iso_weeks_are_their_thursdays() {
    for days in (400_000..800_000).step_by(3) {
        let value = Date::from_days(days).unwrap();
        let thursday = Date::from_days(days - i64::from(value.weekday().unwrap()) + 3).unwrap();
        let week = (thursday.day_of_year().unwrap() - 1) / 7 + 1;
        assert_eq!(value.week(3), Some((week as u8, thursday.year())), "{value}");
    }
}

#[test]
fn reads_what_mysql_reads() {
    for (text, value) in [
        ("2026-01-31", "2026-01-31 00:00:00"),
        ("26-1-3", "2026-01-03 00:00:00"),
        ("70-1-3", "1970-01-03 00:00:00"),
        ("2026-01-31 23:59:58", "2026-01-31 23:59:58"),
        ("2026-01-31T23:59:58", "2026-01-31 23:59:58"),
        ("2026-01-31 1:2:3", "2026-01-31 01:02:03"),
        ("2026-01-31 23:59", "2026-01-31 23:59:00"),
        ("2026-01-31 23", "2026-01-31 23:00:00"),
        ("2026^01^31 23+59*58", "2026-01-31 23:59:58"),
        ("2012@12@31 11@30@45", "2012-12-31 11:30:45"),
        ("20260131", "2026-01-31 00:00:00"),
        ("260131", "2026-01-31 00:00:00"),
        ("20260131235958", "2026-01-31 23:59:58"),
        ("260131235958", "2026-01-31 23:59:58"),
        ("20260131T235958", "2026-01-31 23:59:58"),
        ("2026-01-31 23:59:58.5", "2026-01-31 23:59:58.500000"),
        ("2026-01-31 23:59:58.1234567", "2026-01-31 23:59:58.123457"),
        ("2026-01-31 23:59:59.9999999", "2026-02-01 00:00:00"),
        ("20260131235958.25", "2026-01-31 23:59:58.250000"),
        ("0000-00-00", "0000-00-00 00:00:00"),
        ("2026-00-00", "2026-00-00 00:00:00"),
        ("  2026-01-31  ", "2026-01-31 00:00:00"),
        ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
        ("2026.01.31", "2026-01-31 00:00:00"),
        // Digits up to a point are fields without delimiters; the point is one behind them.
        ("101112.5", "2010-11-12 05:00:00"),
        ("20260131.5", "2026-01-31 05:00:00"),
        ("127.0.0.1", "2012-07-00 00:01:00"),
        ("1.2.3", "2001-02-03 00:00:00"),
        ("1-2-3", "0001-02-03 00:00:00"),
        ("1:2:3", "0001-02-03 00:00:00"),
        ("1011121", "2010-11-12 01:00:00"),
        ("101112T13", "2010-11-12 13:00:00"),
        ("20260131.", "2026-01-31 00:00:00"),
        ("2026-01-31-", "2026-01-31 00:00:00"),
        ("2026-01-31 10:", "2026-01-31 10:00:00"),
        ("2026-01-31 10:11:12 ", "2026-01-31 10:11:12"),
    ] {
        let (parsed, offset) = DateTime::parse(text.as_bytes(), TemporalMode::default()).expect(text);
        assert_eq!(
            (parsed.value.to_string().as_str(), parsed.truncated, offset),
            (value, false, None),
            "{text}"
        );
    }
    for text in [
        "",
        "x",
        "2026",
        "2026-01",
        "2026-13-01",
        "2026-01-32",
        "2026-02-30",
        "2026-01-31 24:00:00",
        "1:2",
        "20260131 235958",
        "20260131T10",
        "1.2",
        "101112.56",
        "2026 -01-31",
        "2026-01-31 10 ",
        "2026-01-31 10 :11",
        "2026-01-31 10:11: 12",
        "2026-01-31 10:11:12+",
        "2026-01-31 10:11:12+1:00",
        "2026-01-31 10:11:12+14:01",
        "2026-01-31 10:11:12-00:00",
    ] {
        assert_eq!(DateTime::parse(text.as_bytes(), TemporalMode::default()), None, "{text}");
    }
    for (text, value) in [
        ("2026-01-31abc", "2026-01-31 00:00:00"),
        ("2026-01-31 10:00:00x", "2026-01-31 10:00:00"),
        ("2026-01-31 x", "2026-01-31 00:00:00"),
    ] {
        let (parsed, _) = DateTime::parse(text.as_bytes(), TemporalMode::default()).expect(text);
        assert_eq!((parsed.value.to_string().as_str(), parsed.truncated), (value, true), "{text}");
    }
    let with_offset = DateTime::parse(b"2026-01-31 10:00:00.5-05:30", TemporalMode::default()).unwrap();
    assert_eq!((with_offset.1, with_offset.0.truncated), (Some(-19_800), false));
    // An offset follows the second; elsewhere its sign is one more delimiter.
    let to_the_minute = DateTime::parse(b"2026-01-31 10:00+02:00", TemporalMode::default()).unwrap();
    assert_eq!(
        (to_the_minute.0.value.to_string().as_str(), to_the_minute.0.truncated, to_the_minute.1),
        ("2026-01-31 10:00:02", true, None)
    );
}

#[test]
fn plain_dates_have_nothing_that_is_deprecated() {
    let read = |text: &str| DateTime::parse_plain(text.as_bytes(), TemporalMode::default());
    for text in [
        "2026-01-31",
        "2026-1-31 10",
        "2026-01-31T10:11:12.5",
        "20260131101112",
        "2026-02-30 10:11:12+01:00",
        "1.2.3.4",
        "1.2-3 4.5",
    ] {
        assert!(read(text).is_some(), "{text}");
    }
    for text in [
        " 2026-01-31",
        "2026-01-31 ",
        "2026.01-31",
        "2026-01-31  10:11",
        "2026-01-31 10.11",
        "2026-01-31x",
        "2026-01-31-",
        "1.2.3:4",
        "11.2.3.4",
        "2026-01-31 10:",
        "20260131.10",
        "2026-01-31 10:11:12 +01:00",
        "10:11:12",
        "2026-13-01",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn a_date_before_a_time_has_a_space_behind_it() {
    let read = |text: &str| {
        let parsed = Time::parse(text.as_bytes(), TemporalMode::default(), |there, seconds| {
            let micros = there.to_micros().unwrap() - i64::from(seconds) * 1_000_000;
            DateTime::from_micros(micros).unwrap()
        });
        parsed.map(|parsed| (parsed.value.to_string(), parsed.truncated))
    };
    for (text, value, truncated) in [
        ("2026-01-31 10:11:12", "10:11:12", false),
        ("2026-01-31 00:11:12+01:00", "23:11:12", false),
        ("20260131T101112", "10:11:12", false),
        ("2026-02-30 10:11:12x", "10:11:12", true),
        ("2026-01-31T10:11:12", "00:20:26", true),
        ("1 10:11:12.789", "34:11:12.789000", false),
        ("12:34abcdefghij", "12:34:00", true),
    ] {
        assert_eq!(read(text), Some((value.to_owned(), truncated)), "{text}");
    }
    for text in
        ["2026-13-30 10:00:00", "2026-01-31 xxx", "-2026-01-31 10:00:00", "12abcdefghijk", "12345678901"]
    {
        assert_eq!(read(text), None, "{text}");
    }
    assert_eq!(Time::parse_clock(b"2026-01-31 10:11:12", TemporalMode::default()), None);
}

#[test]
fn modes_decide_about_zero_and_impossible_dates() {
    let strict = TemporalMode { no_zero_date: true, no_zero_in_date: true, ..TemporalMode::default() };
    assert_eq!(Date::parse(b"0000-00-00", strict), None);
    assert_eq!(Date::parse(b"2026-00-10", strict), None);
    assert!(Date::parse(b"2026-01-10", strict).is_some());
    let lax = TemporalMode { allow_invalid_dates: true, ..TemporalMode::default() };
    assert_eq!(Date::parse(b"2026-02-31", lax).unwrap().value.to_string(), "2026-02-31");
    assert_eq!(Date::parse(b"2026-02-32", lax), None);
}

#[test]
fn numbers_are_dates_and_times() {
    let mode = TemporalMode::default();
    for (number, expected) in [
        (20_260_131, Some("2026-01-31 00:00:00")),
        (260_131, Some("2026-01-31 00:00:00")),
        (700_101, Some("1970-01-01 00:00:00")),
        (20_260_131_235_958, Some("2026-01-31 23:59:58")),
        (260_131_235_958, Some("2026-01-31 23:59:58")),
        (101, Some("2000-01-01 00:00:00")),
        (0, Some("0000-00-00 00:00:00")),
        (100, None),
        (1_301, None),
        (-1, None),
        (i64::MAX, None),
        (20_260_230, None),
        (20_260_131_246_060, None),
    ] {
        let value = DateTime::from_number(number, 0, mode).map(|parsed| parsed.value.to_string());
        assert_eq!(value.as_deref(), expected, "{number}");
    }
    assert_eq!(datetime("2026-01-31 23:59:58").to_number(), 20_260_131_235_958);
    for (number, expected) in [
        (0, Some(("00:00:00", false))),
        (59, Some(("00:00:59", false))),
        (-10_203, Some(("-01:02:03", false))),
        (8_385_959, Some(("838:59:59", false))),
        (8_386_000, Some(("838:59:59", true))),
        (-9_000_000_000, Some(("-838:59:59", true))),
        (60, None),
        (6_000, None),
        (20_260_131_235_958, Some(("23:59:58", false))),
    ] {
        let parsed = Time::from_number(number, 0).map(|parsed| (parsed.value.to_string(), parsed.truncated));
        assert_eq!(parsed, expected.map(|(text, truncated)| (text.to_owned(), truncated)), "{number}");
    }
}

#[test]
fn times_as_mysql_reads_them() {
    for (text, expected) in [
        ("10:11:12", Some(("10:11:12", false))),
        ("10:11", Some(("10:11:00", false))),
        ("1112", Some(("00:11:12", false))),
        ("12", Some(("00:00:12", false))),
        ("101112", Some(("10:11:12", false))),
        ("-10:11:12.5", Some(("-10:11:12.500000", false))),
        ("01:02:03.004", Some(("01:02:03.004000", false))),
        ("1 02:03:04.123", Some(("26:03:04.123000", false))),
        ("1 10:11:12", Some(("34:11:12", false))),
        ("2 10", Some(("58:00:00", false))),
        ("34 22:59:59", Some(("838:59:59", false))),
        ("839:00:00", Some(("838:59:59", true))),
        ("-900:00:00", Some(("-838:59:59", true))),
        ("2026-01-31 10:11:12", Some(("10:11:12", false))),
        ("10:11:12abc", Some(("10:11:12", true))),
        ("12e", Some(("00:00:12", true))),
        ("1.5e-3", None),
        ("10:00:00e3", None),
        ("10:61:00", None),
        ("abc", None),
        ("", None),
    ] {
        let parsed = time_of(text.as_bytes(), TemporalMode::default())
            .map(|parsed| (parsed.value.to_string(), parsed.truncated));
        assert_eq!(parsed, expected.map(|(text, truncated)| (text.to_owned(), truncated)), "{text}");
    }
}

#[test]
fn digits_of_fractions_are_those_of_the_second() {
    for (text, digits) in [("2026-01-31 10:00:00.25", Some(2)), ("2026-01-31 10.11.12", Some(0)), ("x", None)]
    {
        assert_eq!(DateTime::fraction_digits(text.as_bytes()), digits, "{text}");
    }
    for (text, digits) in [("1 10:00:00.1234567", Some(6)), ("10:00", Some(0)), ("1.5", Some(1)), ("x", None)]
    {
        assert_eq!(Time::fraction_digits(text.as_bytes()), digits, "{text}");
    }
    let cutting = TemporalMode { truncate_fractional: true, ..TemporalMode::default() };
    let cut = time_of(b"10:00:00.9999999", cutting).unwrap();
    assert_eq!(cut.value.to_string(), "10:00:00.999999");
}

#[test]
fn adds_intervals_as_mysql_does() {
    let months = |months| Interval { months, micros: 0 };
    let micros = |micros| Interval { months: 0, micros };
    for (text, interval, negative, expected) in [
        ("2018-05-01", months(12), false, Some("2019-05-01 00:00:00")),
        ("2024-01-31", months(1), false, Some("2024-02-29 00:00:00")),
        ("2024-03-31", months(1), true, Some("2024-02-29 00:00:00")),
        ("2020-12-31 23:59:59", micros(1_000_000), false, Some("2021-01-01 00:00:00")),
        ("2100-12-31 23:59:59", micros(61_000_000), false, Some("2101-01-01 00:01:00")),
        ("1992-12-31 23:59:59.000002", micros(1_999_999), true, Some("1992-12-31 23:59:57.000003")),
        ("9999-12-31", micros(86_400_000_000), false, None),
        ("0001-01-01", micros(1), true, Some("0000-12-31 23:59:59.999999")),
        ("0000-01-01", micros(1), true, None),
        ("2024-00-10", months(1), false, None),
        ("2024-01-10", months(i64::MIN), true, None),
        ("2024-01-10", micros(i128::MAX), false, None),
    ] {
        let value = datetime(text).add(interval, negative).map(|value| value.to_string());
        assert_eq!(value.as_deref(), expected, "{text} {interval:?}");
    }
}

#[test]
fn microseconds_round_trip_and_order() {
    let mut prng = Prng::new(test_seed(70));
    let mut last = None;
    let mut all: Vec<i64> = (0..5000)
        .map(|_| {
            366 * calendar::DAY_US
                + prng.below((calendar::LAST_DAY - 366) as u64 * calendar::DAY_US as u64) as i64
        })
        .collect();
    all.sort_unstable();
    for micros in all {
        let value = DateTime::from_micros(micros).unwrap();
        assert_eq!(value.to_micros(), Some(micros));
        assert_eq!(DateTime::from_packed(value.packed()), Some(value));
        assert!(last <= Some(value));
        last = Some(value);
        let text = value.to_string();
        assert_eq!(datetime(&text), value);
        let fsp = prng.below(7) as u8;
        let unit = 10i64.pow(6 - u32::from(fsp));
        assert_eq!(value.truncate(fsp).to_micros(), Some(micros / unit * unit));
        let rounded = value.round(fsp).and_then(DateTime::to_micros);
        assert!(rounded.is_none_or(|rounded| rounded == (micros + unit / 2) / unit * unit));
    }
}

#[test]
fn formats_with_the_digits_asked_for() {
    let shown = |fsp| {
        let mut out = Vec::new();
        datetime("2026-01-31 01:02:03.450600").format(fsp, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(shown(0), "2026-01-31 01:02:03");
    assert_eq!(shown(2), "2026-01-31 01:02:03.45");
    assert_eq!(shown(6), "2026-01-31 01:02:03.450600");
    let mut out = Vec::new();
    Time::MIN.format(1, &mut out);
    assert_eq!(out, b"-838:59:59.0");
    assert_eq!(
        time_of(b"10:00:00.95", TemporalMode::default()).unwrap().value.round(1).to_string(),
        "10:00:01"
    );
    assert_eq!(time_of(b"-0:00:00.06", TemporalMode::default()).unwrap().value.to_number(), 0);
    assert_eq!(date("0026-01-02").to_string(), "0026-01-02");
}

#[test]
fn zones_convert_both_ways() {
    assert_eq!(Zone::parse("+02:00"), Some(Zone::Fixed(7200)));
    assert_eq!(Zone::parse("-13:59").unwrap().name(), "-13:59");
    assert_eq!(Zone::parse("+14:01"), None);
    assert_eq!(Zone::parse("2:00"), None);
    assert_eq!(Zone::parse("Nowhere/Land"), None);
    let noon = datetime("2026-07-01 12:00:00.25");
    let east = Zone::Fixed(7200);
    let point = east.to_timestamp(noon).unwrap();
    assert_eq!(point.to_datetime(&Zone::UTC).to_string(), "2026-07-01 10:00:00.250000");
    assert_eq!(point.to_datetime(&east), noon);
    assert_eq!(Zone::UTC.to_timestamp(DateTime::ZERO), Some(Timestamp::ZERO));
    assert_eq!(Timestamp::ZERO.to_datetime(&east), DateTime::ZERO);
    assert_eq!(Zone::UTC.to_timestamp(datetime("1970-01-01 00:00:00")), None);
    assert!(Zone::UTC.to_timestamp(datetime("1970-01-01 00:00:01")).is_some());
    assert_eq!(Zone::UTC.to_timestamp(datetime("2038-01-19 03:14:07.999999")), Some(Timestamp::MAX));
    assert_eq!(Zone::UTC.to_timestamp(datetime("2038-01-19 03:14:08")), None);
    assert_eq!(Zone::UTC.to_unix_micros(datetime("2038-01-19 03:14:08")), Some(2_147_483_648_000_000));
    assert!(Zone::UTC.to_unix_micros(datetime("3001-01-18 23:59:59.999999")).is_some());
    assert_eq!(Zone::UTC.to_unix_micros(datetime("3001-01-19 00:00:00")), None);
    assert_eq!(Zone::UTC.to_unix_micros(DateTime::ZERO), None);
    assert_eq!(Zone::UTC.to_timestamp(datetime("2026-00-01 00:00:00")), None);
}

/// Needs the system's zone database; without it there are only fixed offsets.
#[test]
fn named_zones_follow_their_clock_changes() {
    let Some(zone) = Zone::parse("Europe/Berlin") else { return };
    assert_eq!(zone.name(), "Europe/Berlin");
    let utc = |text: &str| zone.to_timestamp(datetime(text)).unwrap().to_datetime(&Zone::UTC).to_string();
    assert_eq!(utc("2026-01-31 12:00:00"), "2026-01-31 11:00:00");
    assert_eq!(utc("2026-07-01 12:00:00"), "2026-07-01 10:00:00");
    assert_eq!(utc("2026-03-29 02:30:00"), "2026-03-29 01:00:00", "skipped by the clock change");
    assert_eq!(utc("2026-10-25 02:30:00"), "2026-10-25 00:30:00", "comes twice");
    let point = zone.to_timestamp(datetime("2026-07-01 12:00:00")).unwrap();
    assert_eq!(point.to_datetime(&zone).to_string(), "2026-07-01 12:00:00");
}

#[test]
fn garbage_never_panics() {
    let mut prng = Prng::new(test_seed(71));
    for _ in 0..50_000 {
        let length = prng.below(24);
        let text: Vec<u8> = (0..length).map(|_| *prng.pick(b"0123456789012345-:. T+/x\xff")).collect();
        let mode = TemporalMode { allow_invalid_dates: prng.one_in(2), ..TemporalMode::default() };
        let _ = Date::parse(&text, mode);
        let _ = time_of(&text, mode);
        if let Some((parsed, _)) = DateTime::parse(&text, mode) {
            let shown = parsed.value.to_string();
            let again = DateTime::parse(shown.as_bytes(), mode).map(|(parsed, _)| parsed.value);
            assert_eq!(again, Some(parsed.value), "{}", text.escape_ascii());
            let _ = parsed.value.add(Interval { months: prng.next_u64() as i64, micros: 1 }, prng.one_in(2));
            let _ = parsed.value.date().week(prng.below(8) as u8);
        }
        let number = prng.next_u64() as i64 >> prng.below(64);
        let _ = DateTime::from_number(number, 0, mode);
        let _ = Time::from_number(number, 999_999);
    }
    assert!(is_leap_year(2000) && !is_leap_year(1900) && !is_leap_year(0));
    assert_eq!(days_in_month(2023, 13), 0);
}
