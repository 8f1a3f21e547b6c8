//! A histogram as JSON, as MySQL shows it in information_schema.COLUMN_STATISTICS and takes it back in
//! UPDATE HISTOGRAM ... USING DATA.

use palisade_catalog::descriptor::Column;
use palisade_catalog::histogram::{self, Bucket, CHARACTERS, Histogram, MOST_BUCKETS};
use palisade_catalog::json::{Json, JsonError, Members, Name, parse};
use palisade_catalog::store::{self, StoreContext};
use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{Collation, CollationId, SqlType, Timestamp, Value, ValueRef, Zone};
use palisade_expr::func::base64;

/// How texts are marked: JSON has none that are of another character set.
const TEXT: &str = "base64:type254:";
/// How far the frequencies may be from being all of 1.
const NEARLY: f64 = 1e-9;

/// A histogram over a column of type `ty`, as text; moments of TIMESTAMP are shown in `zone`.
pub(crate) fn text_of(histogram: &Histogram, ty: &SqlType, zone: &Zone) -> Vec<u8> {
    let bucket = |bucket| bucket_json(bucket, histogram.is_singleton, (ty, zone));
    let buckets = histogram.buckets.iter().map(bucket);
    let updated = Timestamp(histogram.updated_us).to_datetime(&Zone::UTC);
    let kind = if histogram.is_singleton { "singleton" } else { "equi-height" };
    let members = [
        ("buckets", Json::Array(buckets.collect())),
        ("data-type", text(histogram::data_type(ty).unwrap_or_default())),
        ("auto-update", Json::Bool(histogram.auto_update)),
        ("null-values", Json::Double(histogram.nulls)),
        ("collation-id", Json::Int(i64::from(histogram.collation.wire_number()))),
        ("last-updated", text(shown(ValueRef::DateTime(updated), &SqlType::DateTime { fsp: 6 }))),
        ("sampling-rate", Json::Double(histogram.sampling_rate)),
        ("histogram-type", text(kind)),
        ("number-of-buckets-specified", Json::Int(histogram.buckets_specified.into())),
    ];
    let members = members.into_iter().map(|(name, value)| (Name(name.to_owned()), value));
    Json::Object(members.collect::<Members>()).to_text()
}

fn text(text: impl Into<String>) -> Json {
    Json::String(text.into())
}

fn shown(value: ValueRef<'_>, ty: &SqlType) -> String {
    let mut out = Vec::new();
    value.append_text(ty, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn bucket_json(bucket: &Bucket, is_singleton: bool, shown: (&SqlType, &Zone)) -> Json {
    let upper = value_json(&bucket.upper, shown);
    let cumulative = Json::Double(bucket.cumulative);
    Json::Array(match is_singleton {
        true => vec![upper, cumulative],
        false => {
            let distinct = i64::try_from(bucket.distinct).unwrap_or(i64::MAX);
            vec![value_json(bucket.lower(), shown), upper, cumulative, Json::Int(distinct)]
        }
    })
}

fn value_json(value: &Value, (ty, zone): (&SqlType, &Zone)) -> Json {
    match value {
        Value::Int(number) => Json::Int(*number),
        Value::UInt(number) => i64::try_from(*number).map_or(Json::UInt(*number), Json::Int),
        Value::Year(year) => Json::Int(i64::from(*year)),
        Value::Bit { bits, .. } => i64::try_from(*bits).map_or(Json::UInt(*bits), Json::Int),
        Value::Decimal(number) => Json::Decimal(*number),
        Value::Float(number) => Json::Double(f64::from(*number)),
        Value::Double(number) => Json::Double(*number),
        Value::Bytes(bytes) => text(format!("{TEXT}{}", base64::encoded(bytes))),
        Value::Time(_) => text(shown(value.as_ref(), &SqlType::Time { fsp: 6 })),
        Value::DateTime(_) => text(shown(value.as_ref(), &SqlType::DateTime { fsp: 6 })),
        Value::Timestamp(at) => {
            text(shown(ValueRef::DateTime(at.to_datetime(zone)), &SqlType::DateTime { fsp: 6 }))
        }
        _ => text(shown(value.as_ref(), ty)),
    }
}

/// Why a text is no histogram.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("JSON format error.")]
    Syntax { reason: String, position: usize },
    #[error("JSON data is not an object")]
    NoObject,
    #[error("Missing attribute at '{0}'.")]
    Missing(String),
    #[error("Wrong attribute type at '{0}'.")]
    WrongType(String),
    #[error("Unsupported histogram type at '{0}'.")]
    UnknownKind(String),
    #[error("Histogram data type does not match column data type at '{0}'.")]
    OtherType(String),
    #[error("The frequency must be greater than or equal to 0 and less than or equal to 1 at '{0}'.")]
    Frequency(String),
    #[error("The sampling rate must be greater than or equal to 0 and less than or equal to 1 at '{0}'.")]
    SamplingRate(String),
    #[error(
        "The value of attribute number-of-buckets-specified must be an integer in the range from 1 to \
         {MOST_BUCKETS} at '{0}'."
    )]
    BucketCount(String),
    #[error(
        "The number of real buckets must be less than or equal to the number specified by attribute \
         number-of-buckets-specified."
    )]
    TooManyBuckets,
    #[error("The charset ID does not exist at '{0}'.")]
    UnknownCharset(String),
    #[error("{count} elements required for bucket at '{path}'.")]
    Elements { count: &'static str, path: String },
    #[error("Value format error at '{0}'.")]
    Format(String),
    #[error("Out of range value for column at '{0}'.")]
    OutOfRange(String),
    #[error("The number of distinct values must be a positive integer at '{0}'.")]
    Distinct(String),
    #[error("The value at '{0}' must be greater than that of previous bucket.")]
    ValueOrder(String),
    #[error(
        "The lower inclusive value of bucket at '{0}' must be less than or equal to upper inclusive value."
    )]
    LowerAboveUpper(String),
    #[error(
        "The lower inclusive value of bucket at '{0}' must be greater than the upper inclusive value of \
         previous bucket."
    )]
    Overlap(String),
    #[error("The cumulative frequency of bucket at '{0}' must be greater than that of previous bucket.")]
    FrequencyOrder(String),
    // The quote at the end is MySQL's.
    #[error(
        "The sum of the null values fraction and the cumulative frequency of the last bucket should be 1.'"
    )]
    Sum,
    #[error("Equi-height histogram must have at least one bucket")]
    NoBucket,
}

type Reading<T> = Result<T, Problem>;

/// The histogram over `column` that a text says; it counts as made at `now_us`. Moments of TIMESTAMP are in
/// `zone`.
pub(crate) fn read(data: &[u8], column: &Column, zone: &Zone, now_us: i64) -> Reading<Histogram> {
    let document = parse::document(data).map_err(|error| match error {
        JsonError::Syntax { reason, position } => Problem::Syntax { reason: reason.to_owned(), position },
        other => Problem::Syntax { reason: other.to_string(), position: 0 },
    })?;
    let Json::Object(members) = document else { return Err(Problem::NoObject) };
    let object = Object { members };
    let is_singleton = match object.text("histogram-type")? {
        "singleton" => true,
        "equi-height" => false,
        _ => return Err(Problem::UnknownKind(path("histogram-type"))),
    };
    if Some(object.text("data-type")?) != histogram::data_type(&column.sql_type) {
        return Err(Problem::OtherType(path("data-type")));
    }
    let auto_update = match object.member("auto-update")? {
        Json::Bool(auto_update) => *auto_update,
        _ => return Err(Problem::WrongType(path("auto-update"))),
    };
    let nulls = part(object.member("null-values")?, &path("null-values"))?;
    let collation = object.collation()?;
    let sampling_rate = match object.member("sampling-rate")? {
        Json::Double(rate) if (0.0..=1.0).contains(rate) => *rate,
        Json::Double(_) => return Err(Problem::SamplingRate(path("sampling-rate"))),
        _ => return Err(Problem::WrongType(path("sampling-rate"))),
    };
    let buckets_specified = object.bucket_count()?;
    let Json::Array(buckets) = object.member("buckets")? else {
        return Err(Problem::WrongType(path("buckets")));
    };
    if !is_singleton && buckets.is_empty() {
        return Err(Problem::NoBucket);
    }
    if buckets.len() > usize::from(buckets_specified) {
        return Err(Problem::TooManyBuckets);
    }
    let mut read = Buckets { column, zone, is_singleton, buckets: Vec::with_capacity(buckets.len()) };
    for (number, bucket) in buckets.iter().enumerate() {
        read.add(bucket, number)?;
    }
    let buckets = read.buckets;
    let sum = nulls + buckets.last().map_or(0.0, |last| last.cumulative);
    // An empty table has neither values nor NULLs.
    if (sum - 1.0).abs() > NEARLY && !(buckets.is_empty() && nulls == 0.0) {
        return Err(Problem::Sum);
    }
    Ok(Histogram {
        is_singleton,
        buckets,
        nulls,
        collation,
        updated_us: now_us,
        sampling_rate,
        buckets_specified,
        auto_update,
    })
}

/// Where a member is.
fn path(name: &str) -> String {
    match name.contains('-') {
        true => format!("$.\"{name}\""),
        false => format!("$.{name}"),
    }
}

fn part(value: &Json, path: &str) -> Reading<f64> {
    match value {
        Json::Double(part) if (0.0..=1.0).contains(part) => Ok(*part),
        Json::Double(_) => Err(Problem::Frequency(path.to_owned())),
        _ => Err(Problem::WrongType(path.to_owned())),
    }
}

struct Object {
    members: Members,
}

impl Object {
    fn member(&self, name: &str) -> Reading<&Json> {
        self.members.get(&Name(name.to_owned())).ok_or_else(|| Problem::Missing(path(name)))
    }

    fn text(&self, name: &str) -> Reading<&str> {
        match self.member(name)? {
            Json::String(text) => Ok(text),
            _ => Err(Problem::WrongType(path(name))),
        }
    }

    fn collation(&self) -> Reading<CollationId> {
        let known = match self.member("collation-id")? {
            Json::Int(number) => {
                let id = u16::try_from(*number).ok().map(CollationId);
                id.and_then(Collation::by_id).map(|collation| collation.id)
            }
            Json::UInt(_) => None,
            _ => return Err(Problem::WrongType(path("collation-id"))),
        };
        known.ok_or_else(|| Problem::UnknownCharset(path("collation-id")))
    }

    fn bucket_count(&self) -> Reading<u16> {
        let name = "number-of-buckets-specified";
        let count = match self.member(name)? {
            Json::Int(count) => u64::try_from(*count).ok().filter(|count| (1..=MOST_BUCKETS).contains(count)),
            Json::UInt(_) => None,
            _ => return Err(Problem::WrongType(path(name))),
        };
        let count = count.and_then(|count| u16::try_from(count).ok());
        count.ok_or_else(|| Problem::BucketCount(path(name)))
    }
}

/// Buckets that are being read.
struct Buckets<'c> {
    column: &'c Column,
    zone: &'c Zone,
    is_singleton: bool,
    buckets: Vec<Bucket>,
}

impl Buckets<'_> {
    fn add(&mut self, bucket: &Json, number: usize) -> Reading<()> {
        let place = format!("$.buckets[{number}]");
        let at = |element: usize| format!("{place}[{element}]");
        let Json::Array(elements) = bucket else { return Err(Problem::WrongType(place)) };
        let (lower, upper, cumulative, distinct) = match (self.is_singleton, elements.as_slice()) {
            (true, [value, cumulative]) => (None, self.value(value, &at(0))?, part(cumulative, &at(1))?, 1),
            (true, _) => return Err(Problem::Elements { count: "Two", path: place }),
            (false, [lower, upper, cumulative, distinct]) => {
                let (lower, upper) = (self.value(lower, &at(0))?, self.value(upper, &at(1))?);
                let cumulative = part(cumulative, &at(2))?;
                let distinct = match distinct {
                    Json::Int(distinct @ 1..) => *distinct as u64,
                    Json::UInt(distinct) => *distinct,
                    Json::Int(_) => return Err(Problem::Distinct(at(3))),
                    _ => return Err(Problem::WrongType(at(3))),
                };
                (Some(lower), upper, cumulative, distinct)
            }
            (false, _) => return Err(Problem::Elements { count: "Four", path: place }),
        };
        let key = |value: &Value| {
            let mut key = Vec::new();
            histogram::put_key(&self.column.sql_type, value.as_ref(), &mut key);
            key
        };
        if lower.as_ref().is_some_and(|lower| key(lower) > key(&upper)) {
            return Err(Problem::LowerAboveUpper(at(0)));
        }
        if let Some(last) = self.buckets.last() {
            if key(lower.as_ref().unwrap_or(&upper)) <= key(&last.upper) {
                return Err(match self.is_singleton {
                    true => Problem::ValueOrder(at(0)),
                    false => Problem::Overlap(at(0)),
                });
            }
            if cumulative <= last.cumulative {
                return Err(Problem::FrequencyOrder(at(if self.is_singleton { 1 } else { 2 })));
            }
        }
        self.buckets.push(Bucket { lower, upper, cumulative, distinct });
        Ok(())
    }

    /// A value of the column.
    fn value(&self, value: &Json, path: &str) -> Reading<Value> {
        let out_of_range = || Problem::OutOfRange(path.to_owned());
        let wrong = || Problem::WrongType(path.to_owned());
        let ty = &self.column.sql_type;
        let value = match (ty, value) {
            (SqlType::Enum { members, .. }, Json::Int(index)) => {
                let index = u64::try_from(*index).map_err(|_| out_of_range())?;
                return if index <= members.len() as u64 {
                    Ok(Value::UInt(index))
                } else {
                    Err(out_of_range())
                };
            }
            (SqlType::Set { members, .. }, Json::Int(bits)) => {
                let bits = u64::try_from(*bits).map_err(|_| out_of_range())?;
                let known = members.len() >= 64 || bits >> members.len() == 0;
                return if known { Ok(Value::UInt(bits)) } else { Err(out_of_range()) };
            }
            (SqlType::Bit { width }, Json::Int(bits)) => {
                let bits = u64::try_from(*bits).map_err(|_| out_of_range())?;
                let fits = *width >= 64 || bits >> width == 0;
                return if fits { Ok(Value::Bit { bits, width: *width }) } else { Err(out_of_range()) };
            }
            (SqlType::Int { .. } | SqlType::Year, Json::Int(number)) => Value::Int(*number),
            (SqlType::Int { .. }, Json::UInt(number)) => Value::UInt(*number),
            (SqlType::Decimal { .. }, Json::Int(number)) => Value::Int(*number),
            (SqlType::Decimal { .. }, Json::UInt(number)) => Value::UInt(*number),
            (SqlType::Decimal { .. }, Json::Decimal(number)) => Value::Decimal(*number),
            (
                SqlType::Decimal { .. } | SqlType::Double { .. } | SqlType::Float { .. },
                Json::Double(number),
            ) => Value::Double(*number),
            (SqlType::Date | SqlType::Time { .. } | SqlType::DateTime { .. }, Json::String(text))
            | (SqlType::Timestamp { .. }, Json::String(text)) => Value::bytes(text.as_bytes()),
            (_, Json::String(text)) if ty.is_string() => {
                let encoded = text.strip_prefix(TEXT).ok_or_else(|| Problem::Format(path.to_owned()))?;
                let bytes = base64::decoded(encoded.as_bytes());
                let bytes = bytes.ok_or_else(|| Problem::Format(path.to_owned()))?;
                let charset = ty.collation().get().charset;
                let length = charset.prefix_len(&bytes, CHARACTERS);
                return Ok(Value::bytes(bytes.get(..length).unwrap_or(&bytes)));
            }
            _ => return Err(wrong()),
        };
        self.stored(&value, path)
    }

    /// A value as the column keeps it: what would have to be rounded is out of its range.
    fn stored(&self, value: &Value, path: &str) -> Reading<Value> {
        let source = match value {
            Value::Bytes(_) => SqlType::VarChar { length: 64, collation: CollationId::UTF8MB4_BIN },
            Value::Double(_) => SqlType::Double { unsigned: false, digits: None },
            Value::UInt(_) => SqlType::BIGINT_UNSIGNED,
            _ => SqlType::BIGINT,
        };
        let context = StoreContext {
            strict: true,
            strict_mode: true,
            temporal: TemporalMode::default(),
            zone: self.zone,
            began: Timestamp(0),
            source: &source,
        };
        let mut was_changed = false;
        let stored = store::coerce(value.as_ref(), self.column, &context, &mut |_| was_changed = true);
        match stored {
            Ok(stored) if !was_changed => Ok(stored),
            Err(_) if matches!(value, Value::Bytes(text) if !text.first().is_some_and(u8::is_ascii_digit)) => {
                Err(Problem::Format(path.to_owned()))
            }
            _ => Err(Problem::OutOfRange(path.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests;
