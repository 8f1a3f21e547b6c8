//! Adding what many rows add together.

use std::ops::Range;

use palisade_catalog::Decimal;

use super::{Accumulator, AggregateSpec, Sum, add_decimal, decimal_of};
use crate::SqlResult;
use crate::vectors::{Kind, Vector};

/// Numbers of which the halves can be added with 64 bits.
const ADDED_IN_HALVES: usize = 1 << 31;

/// The sum of numbers: their upper and lower halves are added by themselves, many at a time.
fn total(numbers: &[i64]) -> i128 {
    let of_part = |part: &[i64]| {
        let (upper, lower) = part.iter().fold((0i64, 0u64), |(upper, lower), number| {
            (upper.wrapping_add(*number >> 32), lower.wrapping_add(*number as u64 & u64::from(u32::MAX)))
        });
        (i128::from(upper) << 32) + i128::from(lower)
    };
    numbers.chunks(ADDED_IN_HALVES).map(of_part).sum()
}

impl Accumulator {
    /// Whether the values of a vector of this kind can be added as they are.
    pub fn takes_vector(&self, kind: Kind) -> bool {
        match self {
            Accumulator::Count(_) => true,
            Accumulator::Sum { sum, .. } => matches!(
                (sum, kind),
                (Sum::Integer(_), Kind::Signed | Kind::Unsigned)
                    | (Sum::Decimal(_), Kind::Decimal(_))
                    | (Sum::Double(_), Kind::Double)
            ),
            _ => false,
        }
    }

    /// Adds values of some rows of a vector that it [takes](Self::takes_vector), in their order.
    pub fn take_vector(
        &mut self,
        vector: &Vector,
        rows: Range<usize>,
        spec: &AggregateSpec,
    ) -> SqlResult<()> {
        if vector.kind == Kind::Double {
            let mut rows = rows;
            return rows.try_for_each(|row| self.take(vector.value(row), spec));
        }
        let exact = vector.exact.get(rows.clone()).unwrap_or_default();
        let (count, total) = match vector.nulls.get(rows).filter(|nulls| !nulls.is_empty()) {
            None => (exact.len(), total(exact)),
            Some(nulls) => {
                let values = exact.iter().zip(nulls).filter(|(_, null)| !**null);
                values.fold((0, 0i128), |(count, sum), (number, _)| {
                    (count + 1, sum.wrapping_add((*number).into()))
                })
            }
        };
        self.take_exact(count as u64, total, vector.kind)
    }

    /// Adds so many values whose sum this is. They are of a kind that it [takes](Self::takes_vector), and not
    /// doubles, whose sum depends on their order.
    pub fn take_exact(&mut self, values: u64, total: i128, kind: Kind) -> SqlResult<()> {
        if values == 0 {
            return Ok(());
        }
        match self {
            Accumulator::Count(count) => *count += values as i64,
            Accumulator::Sum { count, sum } => {
                *count += values;
                match (sum, kind) {
                    (Sum::Integer(sum), _) => *sum += total,
                    (Sum::Decimal(sum), Kind::Decimal(scale)) => {
                        *sum = add_decimal(sum, &Decimal::new(total, scale))?;
                    }
                    (Sum::Decimal(sum), _) => *sum = add_decimal(sum, &decimal_of(total))?,
                    (Sum::Double(_), _) => unreachable!("it takes no such value"),
                }
            }
            _ => unreachable!("it takes no such value"),
        }
        Ok(())
    }
}
