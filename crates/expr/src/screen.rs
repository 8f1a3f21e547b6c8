//! Conditions on the bytes of rows: what a scan asks of each row before it makes a row of it.
//!
//! A scan that has read a batch makes its condition ready for the next ones. The conjuncts that compare a
//! column with what is the same for all rows become tests; where the column is of fixed width, a test
//! compares bytes, which are in the order of the values, and reads no value. A row that fails a test is
//! passed over.
//!
//! ```text
//!  d < '1995-01-01' AND (x = 5 OR name LIKE '%99%') AND a * 2 + b > 7 AND f(id) AND k = 3
//!  └── 3 bytes ───┘      5 bytes   └── Pattern ──┘      └ numbers ──┘     └── evaluated ─┘
//!  └──────────────────────── the screen ────────────────────────────┘     for what is left
//! ```
//!
//! A test asks whether a condition is true, so that AND and OR of tests are tests: what is NULL is not true.
//! Sums, differences and products of numbers are [computed](crate::vectors) from the bytes where they fit 64
//! bits; where they do not, the row is evaluated.
//!
//! Only the conjuncts before the first one that is no test are in the screen, so that what evaluating the
//! others says is said of the same rows as without it. For the same reason a constant that is warned of, or
//! fails, makes no test.

use std::cmp::Ordering;

use hashbrown::HashSet;
use palisade_catalog::collation::Pattern;
use palisade_catalog::row::{Field, PlainColumns, fixed_field};
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Collation, RowView, SqlType, Table, Value, ValueRef};

use crate::convert::text_of;
use crate::vectors::{Computation, Rows, Sides};
use crate::{Comparison, Context, Domain, Expr, Node, Truth};

/// The first conjuncts of a condition on rows of a table.
#[derive(Debug)]
pub struct Screen {
    tests: Vec<Test>,
    /// Where the tested columns are in plain rows.
    columns: PlainColumns,
    /// How many conjuncts they are.
    conjuncts: usize,
}

#[derive(Debug)]
enum Test {
    /// Of a column.
    Column { column: Tested, check: Check },
    /// All of one of these pass.
    Any(Vec<Vec<Test>>),
    /// How two numbers compare that are computed.
    Computed(Box<Computed>),
}

/// Numbers that are computed of a row and compared.
#[derive(Debug)]
struct Computed {
    computation: Computation,
    comparison: Comparison,
    sides: Sides,
}

/// A column that is tested.
#[derive(Debug, Clone, Copy)]
struct Tested {
    /// Its position in the table.
    column: usize,
    /// Its number among those of plain rows.
    number: usize,
}

#[derive(Debug)]
enum Check {
    /// IS NULL, or its contrary.
    Null {
        negated: bool,
    },
    /// With a field of up to 8 bytes, as a number.
    Word {
        comparison: Comparison,
        key: u64,
    },
    /// With a longer one.
    Field {
        comparison: Comparison,
        key: Vec<u8>,
    },
    /// With another column of the same type.
    Column {
        comparison: Comparison,
        other: Tested,
    },
    /// Among fields of up to 8 bytes.
    Words {
        keys: HashSet<u64>,
        negated: bool,
    },
    Text {
        comparison: Comparison,
        collation: &'static Collation,
        key: Vec<u8>,
    },
    /// Among few texts.
    Texts {
        collation: &'static Collation,
        keys: Vec<Vec<u8>>,
        negated: bool,
    },
    Like {
        pattern: Pattern,
        negated: bool,
    },
    /// What is so of no row: a list with NULL of which the contrary is wanted.
    Never,
}

/// Texts of a list that are compared one by one, at most.
const FEW_TEXTS: usize = 16;

/// A field of up to 8 bytes as a number: the order is that of the bytes.
#[inline]
fn word(field: &[u8]) -> u64 {
    match *field {
        [a, b, c] => u64::from(u32::from_be_bytes([0, a, b, c])),
        [a, b, c, d] => u64::from(u32::from_be_bytes([a, b, c, d])),
        [a, b, c, d, e] => u64::from(a) << 32 | u64::from(u32::from_be_bytes([b, c, d, e])),
        [a, b, c, d, e, f, g, h] => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        _ => field.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

impl Screen {
    /// Of a condition on rows of `table`, which are in a slot. `None` if its first conjunct is no test.
    pub fn new(cx: &mut Context<'_>, condition: &Expr, table: &Table, slot: usize) -> Option<Screen> {
        let parts = match &condition.node {
            Node::And(parts) => &parts[..],
            _ => std::slice::from_ref(condition),
        };
        let mut screen = Screen { tests: Vec::new(), columns: PlainColumns::new(table), conjuncts: 0 };
        let Screen { tests, columns, conjuncts } = &mut screen;
        let mut making = Making { cx, table, slot, tests, columns };
        for part in parts {
            let known = making.tests.len();
            if making.add(part).is_none() {
                making.tests.truncate(known);
                break;
            }
            *conjuncts += 1;
        }
        (screen.conjuncts > 0).then_some(screen)
    }

    /// The conjuncts of the same condition that are not in the screen.
    pub fn rest<'e>(&self, condition: &'e Expr) -> &'e [Expr] {
        match &condition.node {
            Node::And(parts) => parts.get(self.conjuncts..).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Whether a row passes all tests; `None` where that is not known, and the condition is to be evaluated.
    #[inline]
    pub fn passes(&self, table: &Table, row: &[u8]) -> Option<bool> {
        if self.columns.are_in(row) {
            return self.passes_plain(row);
        }
        let row = RowView::new(table, row).ok()?;
        self.passes_all(|tested| row.field(tested.column))
    }

    /// The same of a row that is [plain](PlainColumns::are_in), as it is for any columns of the table.
    #[inline]
    pub fn passes_plain(&self, row: &[u8]) -> Option<bool> {
        self.passes_all(|tested| self.columns.field(tested.number, row))
    }

    #[inline]
    fn passes_all<'r>(&self, field: impl Fn(Tested) -> Field<'r>) -> Option<bool> {
        for test in &self.tests {
            if !test.passes(&field)? {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl Test {
    #[inline]
    fn passes<'r>(&self, field_of: &impl Fn(Tested) -> Field<'r>) -> Option<bool> {
        match self {
            Test::Column { column, check } => check.passes(*column, field_of),
            Test::Any(branches) => any_passes(branches, field_of),
            Test::Computed(computed) => computed.passes(field_of),
        }
    }
}

/// Whether all tests of a branch pass. Branches behind one that passes are not asked.
#[inline(never)]
fn any_passes<'r>(branches: &[Vec<Test>], field_of: &impl Fn(Tested) -> Field<'r>) -> Option<bool> {
    for branch in branches {
        let mut passes = true;
        for test in branch {
            passes = test.passes(field_of)?;
            if !passes {
                break;
            }
        }
        if passes {
            return Some(true);
        }
    }
    Some(false)
}

impl Computed {
    #[inline(never)]
    fn passes<'r>(&self, field_of: &impl Fn(Tested) -> Field<'r>) -> Option<bool> {
        let field = |column: usize, number: usize| field_of(Tested { column, number });
        Some(match self.computation.compare(&self.sides, field)? {
            Some(ordering) => self.comparison.holds(ordering),
            None => false,
        })
    }
}

impl Check {
    #[inline]
    fn passes<'r>(&self, column: Tested, field_of: &impl Fn(Tested) -> Field<'r>) -> Option<bool> {
        let field = match field_of(column) {
            Field::Absent => return None,
            Field::Null => return Some(matches!(self, Check::Null { negated: false })),
            field => field,
        };
        Some(match (self, field) {
            (Check::Word { comparison, key }, Field::Fixed(field)) => comparison.holds(word(field).cmp(key)),
            (Check::Field { comparison, key }, Field::Fixed(field)) => comparison.holds(field.cmp(key)),
            (Check::Column { comparison, other }, Field::Fixed(field)) => match field_of(*other) {
                Field::Fixed(other) => comparison.holds(field.cmp(other)),
                Field::Null => false,
                _ => return None,
            },
            (Check::Words { keys, negated }, Field::Fixed(field)) => keys.contains(&word(field)) != *negated,
            (Check::Text { comparison, collation, key }, Field::Variable(text)) if text.len() <= PIECE => {
                comparison.holds(collation.compare(text, key))
            }
            (Check::Texts { collation, keys, negated }, Field::Variable(text)) if text.len() <= PIECE => {
                keys.iter().any(|key| collation.compare(text, key) == Ordering::Equal) != *negated
            }
            (Check::Like { pattern, negated }, Field::Variable(text)) if text.len() <= PIECE => {
                let matches: Result<bool, std::convert::Infallible> = pattern.matches(text, |_| Ok(()));
                matches.ok()? != *negated
            }
            (Check::Null { negated }, _) => *negated,
            (Check::Never, _) => false,
            _ => return None,
        })
    }
}

/// A screen that is being made.
struct Making<'m, 'x> {
    cx: &'m mut Context<'x>,
    table: &'m Table,
    slot: usize,
    tests: &'m mut Vec<Test>,
    columns: &'m mut PlainColumns,
}

impl Making<'_, '_> {
    /// Adds what a conjunct asks; `None` if that is no test.
    fn add(&mut self, part: &Expr) -> Option<()> {
        match &part.node {
            Node::Compare { comparison, domain, left, right } => {
                self.add_comparison(*comparison, *domain, left, right)
            }
            Node::Between { operand, domain, low, high, negated: false } => {
                self.add_comparison(Comparison::GreaterEqual, *domain, operand, low)?;
                self.add_comparison(Comparison::LessEqual, *domain, operand, high)
            }
            Node::Between { operand, domain, low, high, negated: true } => {
                let below = self.branch(|own| own.add_comparison(Comparison::Less, *domain, operand, low))?;
                let above =
                    self.branch(|own| own.add_comparison(Comparison::Greater, *domain, operand, high))?;
                self.tests.push(Test::Any(vec![below, above]));
                Some(())
            }
            Node::And(parts) => parts.iter().try_for_each(|part| self.add(part)),
            Node::Or(parts) => {
                let branches = parts.iter().map(|part| self.branch(|own| own.add(part)));
                let branches = branches.collect::<Option<Vec<_>>>()?;
                self.tests.push(Test::Any(branches));
                Some(())
            }
            Node::Is { operand, truth: Truth::Null, negated } => {
                let column = self.column(operand)?;
                self.push(column, Check::Null { negated: *negated })
            }
            Node::In { operand, list, negated } => self.add_list(operand, list, *negated),
            Node::Like { operand, pattern, escape, collation, negated } => {
                let column = self.column(operand)?;
                let text = self.text(pattern)?;
                let escape = match escape {
                    None => b"\\".to_vec(),
                    Some(escape) => self.text(escape)?,
                };
                is_text(&operand.ty).then_some(())?;
                let pattern = Pattern::new(collation.get(), &text, &escape);
                self.push(column, Check::Like { pattern, negated: *negated })
            }
            _ => None,
        }
    }

    /// The tests that `add` adds, by themselves.
    fn branch(&mut self, add: impl FnOnce(&mut Self) -> Option<()>) -> Option<Vec<Test>> {
        let others = std::mem::take(self.tests);
        let added = add(self);
        let own = std::mem::replace(self.tests, others);
        added.map(|()| own)
    }

    fn push(&mut self, column: usize, check: Check) -> Option<()> {
        let column = self.tested(column)?;
        self.tests.push(Test::Column { column, check });
        Some(())
    }

    fn tested(&mut self, column: usize) -> Option<Tested> {
        Some(Tested { column, number: self.columns.add(self.table, column)? })
    }

    /// The table's column that an expression is.
    fn column(&self, expr: &Expr) -> Option<usize> {
        let (slot, column) = expr.as_plain_column()?;
        (slot == self.slot && self.table.columns.len() > column).then_some(column)
    }

    fn add_comparison(
        &mut self,
        comparison: Comparison,
        domain: Domain,
        left: &Expr,
        right: &Expr,
    ) -> Option<()> {
        if comparison == Comparison::NullSafeEqual {
            return None;
        }
        if let (Some(left), Some(right)) = (self.column(left), self.column(right)) {
            let (left_type, right_type) = (self.type_of(left)?, self.type_of(right)?);
            (left_type == right_type && is_own_domain(left_type, domain)).then_some(())?;
            let other = self.tested(right)?;
            return self.push(left, Check::Column { comparison, other });
        }
        let (column, constant, comparison) = match (self.column(left), self.column(right)) {
            (Some(column), _) if right.is_quick_constant() => (column, right, comparison),
            (_, Some(column)) if left.is_quick_constant() => (column, left, comparison.flipped()),
            _ => return self.add_computed(comparison, domain, [left, right]),
        };
        let value = self.constant(constant)?;
        if value.is_null() {
            return self.push(column, Check::Never);
        }
        if let Domain::Text(collation) = domain {
            is_text(self.type_of(column)?).then_some(())?;
            let Value::Bytes(key) = &value else { return None };
            (key.len() <= PIECE).then_some(())?;
            return self
                .push(column, Check::Text { comparison, collation: collation.get(), key: key.to_vec() });
        }
        let key = self.field_of(column, domain, &value)?;
        let check = match key.len() {
            0..=8 => Check::Word { comparison, key: word(&key) },
            _ => Check::Field { comparison, key },
        };
        self.push(column, check)
    }

    /// Adds a comparison of numbers that are computed.
    fn add_computed(&mut self, comparison: Comparison, domain: Domain, sides: [&Expr; 2]) -> Option<()> {
        let rows = Rows { table: self.table, slot: self.slot, parameters: self.cx.parameters };
        let mut computation = Computation::default();
        let sides = computation.add_sides(sides, domain, rows, self.columns)?;
        self.tests.push(Test::Computed(Box::new(Computed { computation, comparison, sides })));
        Some(())
    }

    fn add_list(&mut self, operand: &Expr, list: &[(Domain, Expr)], negated: bool) -> Option<()> {
        let column = self.column(operand)?;
        let domain = list.first()?.0;
        let mut has_null = false;
        let mut values = Vec::with_capacity(list.len());
        for (of_item, item) in list {
            (*of_item == domain).then_some(())?;
            match self.constant(item)? {
                Value::Null => has_null = true,
                value => values.push(value),
            }
        }
        if has_null && negated {
            return self.push(column, Check::Never);
        }
        if let Domain::Text(collation) = domain {
            (is_text(self.type_of(column)?) && values.len() <= FEW_TEXTS).then_some(())?;
            let keys = values.iter().map(|value| match value {
                Value::Bytes(key) if key.len() <= PIECE => Some(key.to_vec()),
                _ => None,
            });
            let keys = keys.collect::<Option<Vec<Vec<u8>>>>()?;
            return self.push(column, Check::Texts { collation: collation.get(), keys, negated });
        }
        let mut keys = HashSet::with_capacity(values.len());
        for value in &values {
            let key = self.field_of(column, domain, value)?;
            (key.len() <= 8).then_some(())?;
            keys.insert(word(&key));
        }
        self.push(column, Check::Words { keys, negated })
    }

    fn type_of(&self, column: usize) -> Option<&SqlType> {
        Some(&self.table.columns.get(column)?.sql_type)
    }

    /// The value of what is the same for all rows, if finding it has nothing to say.
    fn constant(&mut self, expr: &Expr) -> Option<Value> {
        if !expr.is_quick_constant() {
            return None;
        }
        let before = self.cx.session.warnings.clone();
        let outer = self.cx.state.begin_one_go();
        let value = expr.eval(self.cx);
        self.cx.state.end_one_go(outer);
        let is_silent = self.cx.session.warnings.count() == before.count();
        if !is_silent || value.is_err() {
            self.cx.session.warnings = before;
        }
        value.ok().filter(|_| is_silent)
    }

    fn text(&mut self, expr: &Expr) -> Option<Vec<u8>> {
        let value = self.constant(expr)?;
        (!value.is_null()).then(|| text_of(&value, &expr.ty).to_vec())
    }

    /// The field that a column has which is equal to a value in a domain; `None` if there is none, or if
    /// comparing fields is not comparing in that domain.
    fn field_of(&self, column: usize, domain: Domain, value: &Value) -> Option<Vec<u8>> {
        let ty = self.type_of(column)?;
        is_own_domain(ty, domain).then_some(())?;
        match (ty, value) {
            (SqlType::Int { .. }, Value::Int(_) | Value::UInt(_)) => fixed_field(ty, value.as_ref()),
            (SqlType::Decimal { scale, .. }, Value::Decimal(number)) => {
                let kept = number.round(i32::from(*scale)).ok().filter(|kept| kept == number)?;
                fixed_field(ty, ValueRef::Decimal(kept))
            }
            (SqlType::Decimal { .. }, Value::Int(number)) => {
                fixed_field(ty, ValueRef::Decimal((*number).into()))
            }
            (SqlType::Double { .. }, Value::Double(number)) if number.is_finite() => {
                fixed_field(ty, value.as_ref())
            }
            (SqlType::Date, Value::Date(_)) => fixed_field(ty, value.as_ref()),
            (SqlType::Date, Value::DateTime(moment)) if moment.date().at_midnight() == *moment => {
                fixed_field(ty, ValueRef::Date(moment.date()))
            }
            (SqlType::DateTime { .. }, Value::Date(date)) => {
                fixed_field(ty, ValueRef::DateTime(date.at_midnight()))
            }
            (SqlType::DateTime { fsp }, Value::DateTime(moment)) => {
                let unit = 10u32.pow(6 - u32::from((*fsp).min(6)));
                moment.micros().is_multiple_of(unit).then_some(())?;
                fixed_field(ty, value.as_ref())
            }
            _ => None,
        }
    }
}

fn is_text(ty: &SqlType) -> bool {
    matches!(ty, SqlType::Char { .. } | SqlType::VarChar { .. } | SqlType::Text { .. })
}

/// Whether comparing values of a type in a domain is comparing their fields.
fn is_own_domain(ty: &SqlType, domain: Domain) -> bool {
    match ty {
        SqlType::Int { .. } => domain == Domain::Integer,
        SqlType::Decimal { .. } => domain == Domain::Decimal,
        SqlType::Double { .. } => domain == Domain::Double,
        SqlType::Date | SqlType::DateTime { .. } => domain == Domain::DateTime,
        _ => false,
    }
}
