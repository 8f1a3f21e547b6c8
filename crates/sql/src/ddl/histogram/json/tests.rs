use palisade_catalog::histogram::{HistogramBuilder, Specification};

use super::*;

const MADE: Specification = Specification { buckets: 4, auto_update: false, now_us: 0 };

fn column(ty: SqlType) -> Column {
    Column::new("c", ty, 0)
}

fn document(buckets: &str) -> String {
    format!(
        "{{\"buckets\": {buckets}, \"data-type\": \"int\", \"auto-update\": false, \"null-values\": 0.0, \
         \"collation-id\": 8, \"sampling-rate\": 1.0, \"histogram-type\": \"singleton\", \
         \"number-of-buckets-specified\": 4}}"
    )
}

#[track_caller]
fn assert_refused(text: &str, message: &str) {
    let problem = read(text.as_bytes(), &column(SqlType::INT), &Zone::UTC, 0).expect_err(text);
    assert_eq!(problem.to_string(), message);
}

#[test]
fn what_is_shown_is_read_again() {
    let text = SqlType::VarChar { length: 9, collation: CollationId::UTF8MB4_BIN };
    let cases = [
        (SqlType::INT, vec![Value::Int(-3), Value::Int(9), Value::Null]),
        (SqlType::BIGINT_UNSIGNED, (1..20).map(|bits| Value::UInt(u64::MAX / bits)).collect()),
        (text, vec![Value::bytes(&b"a"[..]), Value::bytes("größe".as_bytes())]),
        (SqlType::Bit { width: 5 }, vec![Value::Bit { bits: 9, width: 5 }]),
        (
            SqlType::Double { unsigned: false, digits: None },
            (0..9).map(|x| Value::Double(f64::from(x) / 3.0)).collect(),
        ),
        (SqlType::Timestamp { fsp: 2 }, vec![Value::Timestamp(Timestamp(1_250_000)), Value::Null]),
    ];
    for (ty, values) in cases {
        let mut builder = HistogramBuilder::new(ty.clone(), 1 << 20, 1);
        values.iter().for_each(|value| builder.add(value.as_ref()));
        let made = builder.finish(MADE, 1.0);
        let shown = text_of(&made, &ty, &Zone::UTC);
        let again = read(&shown, &column(ty.clone()), &Zone::UTC, 0).unwrap();
        assert_eq!(text_of(&again, &ty, &Zone::UTC), shown, "{}", String::from_utf8_lossy(&shown));
    }
}

#[test]
fn what_is_no_histogram_is_refused_in_mysqls_words() {
    assert!(read(document("[[2, 0.6], [3, 1.0]]").as_bytes(), &column(SqlType::INT), &Zone::UTC, 0).is_ok());
    assert_refused("[1]", "JSON data is not an object");
    assert_refused("{}", "Missing attribute at '$.\"histogram-type\"'.");
    assert_refused(&document("3"), "Wrong attribute type at '$.buckets'.");
    assert_refused(&document("[[2, 0.6], 3]"), "Wrong attribute type at '$.buckets[1]'.");
    assert_refused(&document("[[2, 0.6, 3]]"), "Two elements required for bucket at '$.buckets[0]'.");
    assert_refused(&document("[[2, 1]]"), "Wrong attribute type at '$.buckets[0][1]'.");
    assert_refused(&document("[[2.5, 1.0]]"), "Wrong attribute type at '$.buckets[0][0]'.");
    assert_refused(&document("[[3000000000, 1.0]]"), "Out of range value for column at '$.buckets[0][0]'.");
    assert_refused(
        &document("[[2, 0.6], [1, 1.0]]"),
        "The value at '$.buckets[1][0]' must be greater than that of previous bucket.",
    );
    assert_refused(
        &document("[[2, 0.6], [3, 0.5]]"),
        "The cumulative frequency of bucket at '$.buckets[1][1]' must be greater than that of previous bucket.",
    );
    assert_refused(
        &document("[[2, 0.6]]"),
        "The sum of the null values fraction and the cumulative frequency of the last bucket should be 1.'",
    );
}
