//! Aggregates of parts of a group's rows, put together.
//!
//! Which part has which rows is chance. So an aggregate is added up in parts only where the result does not
//! depend on it, to the last bit:
//!
//! | aggregate | in parts |
//! |---|---|
//! | COUNT; SUM and AVG of integers and decimals; BIT_AND, BIT_OR, BIT_XOR of numbers | yes |
//! | MIN and MAX of integers, decimals, dates and times | yes |
//! | MIN and MAX of text, FLOAT, DOUBLE | no: of equal values the first is kept; they may look unlike |
//! | SUM and AVG of FLOAT and DOUBLE, variances | no: sums of them depend on the order |
//! | GROUP_CONCAT, JSON_ARRAYAGG, JSON_OBJECTAGG | no: they are the rows in their order |
//! | of DISTINCT values | no: each part would have to keep them all |

use palisade_catalog::SqlType;

use super::{Accumulator, AggregateKind, AggregateSpec, Sum, add_decimal, wanted_order};
use crate::compare::compare_typed;
use crate::{SqlError, SqlResult};

impl AggregateSpec {
    /// Whether it can be computed of parts of the rows, each added up for itself.
    pub fn is_of_parts(&self) -> bool {
        if self.distinct || !self.order_by.is_empty() {
            return false;
        }
        match self.kind {
            AggregateKind::Count => true,
            AggregateKind::Sum | AggregateKind::Avg => {
                matches!(
                    Accumulator::new(self),
                    Accumulator::Sum { sum: Sum::Integer(_) | Sum::Decimal(_), .. }
                )
            }
            AggregateKind::Min | AggregateKind::Max => matches!(
                self.ty,
                SqlType::Int { .. }
                    | SqlType::Decimal { .. }
                    | SqlType::Date
                    | SqlType::Time { .. }
                    | SqlType::DateTime { .. }
                    | SqlType::Timestamp { .. }
                    | SqlType::Year
            ),
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => !self.ty.is_string(),
            _ => false,
        }
    }
}

impl Accumulator {
    /// Adds what has been added to another one, [of other rows](AggregateSpec::is_of_parts).
    pub fn merge(&mut self, other: Accumulator, spec: &AggregateSpec) -> SqlResult<()> {
        match (self, other) {
            (Accumulator::Count(count), Accumulator::Count(more)) => *count += more,
            (Accumulator::Sum { count, sum }, Accumulator::Sum { count: others, sum: more }) => {
                *count += others;
                match (sum, more) {
                    (Sum::Integer(sum), Sum::Integer(more)) => *sum += more,
                    (Sum::Decimal(sum), Sum::Decimal(more)) => *sum = add_decimal(sum, &more)?,
                    _ => return Err(not_of_parts()),
                }
            }
            (Accumulator::Extreme(known), Accumulator::Extreme(other)) => {
                // None of these is a text, which may be long.
                let order = compare_typed(other.as_ref(), known.as_ref(), &spec.ty, &mut |_| true);
                if !other.is_null() && (known.is_null() || order == wanted_order(spec.kind)) {
                    *known = other;
                }
            }
            (Accumulator::Bits { value }, Accumulator::Bits { value: more }) => match spec.kind {
                AggregateKind::BitAnd => *value &= more,
                AggregateKind::BitOr => *value |= more,
                _ => *value ^= more,
            },
            _ => return Err(not_of_parts()),
        }
        Ok(())
    }
}

fn not_of_parts() -> SqlError {
    SqlError::internal("an aggregate that is not computed of parts")
}
