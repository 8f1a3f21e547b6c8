use super::*;

const NOW: Specification = Specification { buckets: 8, auto_update: false, now_us: 0 };

fn of(values: impl IntoIterator<Item = Value>, ty: SqlType, specification: Specification) -> Histogram {
    let mut builder = HistogramBuilder::new(ty, 1 << 20, 7);
    values.into_iter().for_each(|value| builder.add(value.as_ref()));
    builder.finish(specification, 1.0)
}

fn numbers(values: impl IntoIterator<Item = i64>) -> Histogram {
    of(values.into_iter().map(Value::Int), SqlType::INT, NOW)
}

#[track_caller]
fn assert_near(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 0.005, "{found} is not near {wanted}");
}

#[test]
fn few_values_have_a_bucket_each() {
    let values = [1, 1, 1, 2, 2, 5].map(Value::Int).into_iter().chain([Value::Null, Value::Null]);
    let histogram = of(values, SqlType::INT, NOW);
    assert!(histogram.is_singleton);
    assert_near(histogram.nulls, 0.25);
    let ty = SqlType::INT;
    assert_near(histogram.equal(&ty, &Value::Int(2)), 0.25);
    assert_near(histogram.equal(&ty, &Value::Int(3)), 0.0);
    assert_near(histogram.between(&ty, Some((&Value::Int(1), false)), None), 0.375);
    assert_near(histogram.between(&ty, None, Some((&Value::Int(2), true))), 0.625);
    assert_near(histogram.between(&ty, None, Some((&Value::Int(2), false))), 0.375);
    assert_near(histogram.between(&ty, Some((&Value::Int(9), true)), None), 0.0);
}

#[test]
fn many_values_share_buckets_of_equal_height() {
    // As MySQL 9.7 has them of the same rows.
    let histogram = numbers((1..=500).map(|number| number % 50));
    let ends: Vec<_> = histogram
        .buckets
        .iter()
        .map(|bucket| (bucket.lower().clone(), bucket.upper.clone(), bucket.distinct))
        .collect();
    let bucket = |low, high, distinct| (Value::Int(low), Value::Int(high), distinct);
    let wanted = vec![
        bucket(0, 6, 7),
        bucket(7, 13, 7),
        bucket(14, 20, 7),
        bucket(21, 27, 7),
        bucket(28, 34, 7),
        bucket(35, 41, 7),
        bucket(42, 48, 7),
        bucket(49, 49, 1),
    ];
    assert_eq!(ends, wanted);
    let ty = SqlType::INT;
    assert_near(histogram.equal(&ty, &Value::Int(17)), 0.02);
    assert_near(histogram.between(&ty, Some((&Value::Int(10), true)), Some((&Value::Int(19), true))), 0.2);
    assert_near(histogram.between(&ty, None, Some((&Value::Int(-3), true))), 0.0);
    assert_near(histogram.between(&ty, Some((&Value::Int(-3), true)), None), 1.0);
}

#[test]
fn a_frequent_value_is_seen() {
    let histogram = numbers((0..1000).map(|number| if number % 2 == 0 { 7 } else { number }));
    assert_near(histogram.equal(&SqlType::INT, &Value::Int(7)), 0.5);
    assert!(histogram.equal(&SqlType::INT, &Value::Int(501)) < 0.004);
}

#[test]
fn a_frequent_value_leaves_the_others_their_buckets() {
    // As MySQL 9.7 has them of the same rows.
    let histogram = numbers((1..=500).map(|number| if number % 3 == 0 { 7 } else { number }));
    let distinct: Vec<u64> = histogram.buckets.iter().map(|bucket| bucket.distinct).collect();
    assert_eq!(distinct, [4, 1, 55, 55, 55, 55, 55, 54]);
}

#[test]
fn a_sample_tells_how_many_values_there_are() {
    let mut prng = palisade_base::prng::Prng::new(5);
    let sampled = |values: u64, prng: &mut palisade_base::prng::Prng| {
        let mut builder = HistogramBuilder::new(SqlType::INT, 1 << 20, 7);
        (0..512).for_each(|_| builder.add(ValueRef::Int(prng.below(values) as i64)));
        builder.finish(Specification { buckets: 64, ..NOW }, 512.0 / 100_000.0).distinct() as f64
    };
    for values in [20.0, 150.0, 1000.0] {
        let told = sampled(values as u64, &mut prng);
        assert!((0.7..1.4).contains(&(told / values)), "{told} of {values}");
    }
    // Where each value was met once there may be as many as rows.
    assert!(sampled(1 << 31, &mut prng) > 90_000.0);
}

#[test]
fn texts_compare_by_their_collation() {
    let ty = SqlType::VarChar { length: 20, collation: CollationId::UTF8MB4_0900_AI_CI };
    let words = ["apple", "APPLE", "banana", "band", "cherry"];
    let histogram = of(words.map(|word| Value::bytes(word.as_bytes())), ty.clone(), NOW);
    assert_near(histogram.equal(&ty, &Value::bytes(&b"Apple"[..])), 0.4);
    assert_near(histogram.beginning(&ty, b"BAN"), 0.4);
    assert_near(histogram.beginning(&ty, b"c"), 0.2);
    assert_near(histogram.beginning(&ty, b"x"), 0.0);
}

#[test]
fn what_takes_too_much_memory_is_sampled() {
    let mut builder = HistogramBuilder::new(SqlType::INT, 20_000, 11);
    for number in 0..100_000 {
        builder.add(if number % 4 == 0 { ValueRef::Null } else { ValueRef::Int(number) });
    }
    let histogram = builder.finish(NOW, 1.0);
    assert!(histogram.sampling_rate < 0.01, "{}", histogram.sampling_rate);
    assert!((histogram.nulls - 0.25).abs() < 0.15, "{}", histogram.nulls);
    let half = histogram.between(&SqlType::INT, None, Some((&Value::Int(50_000), true)));
    assert!((half / histogram.values() - 0.5).abs() < 0.15, "{half}");
}

#[test]
fn nothing_has_no_bucket() {
    let histogram = numbers([]);
    assert!(histogram.is_singleton && histogram.buckets.is_empty());
    assert_near(histogram.equal(&SqlType::INT, &Value::Int(1)), 0.0);
    assert_near(histogram.between(&SqlType::INT, None, None), 0.0);
}
