//! IN by hash: a long list of constants, and the rows of a subquery, are made to keys once, and each row then
//! looks its own key up.
//!
//! A key is made in the domain in which the two sides are compared ([`Domain`]), so that keys are equal
//! exactly where the comparison one by one says "equal". Where a value has no key in its domain - a number
//! that is no date is compared as a number - there is no index, and the comparison one by one decides. NULL
//! is kept apart: what is not found is unknown if there was one.
//!
//! ```text
//!  x IN (1, NULL, 3)      keys {1, 3}, has_null      x = 1: true    x = 2: NULL    x NULL: NULL
//!  x IN (SELECT ...)      no row at all              false, whatever x is
//! ```

use palisade_catalog::{SqlType, Value};

use super::hash_key::append_domain_key;
use super::keys::KeyIndex;
use super::{Context, Domain, Expr};
use crate::place::At;
use crate::{SqlAttempt, SqlResult};

/// Lists up to this length are compared one by one: that takes no longer than a look-up.
const SHORT: usize = 8;
/// The same for texts, each comparison of which takes about as long as making a key.
const SHORT_OF_TEXTS: usize = 2;
/// Items made to keys between two looks at whose turn it is.
const PART: usize = 128;

/// Whether keys can be made in a domain that are equal where values are.
pub fn has_keys(domain: Domain) -> bool {
    match domain {
        Domain::Integer | Domain::Decimal | Domain::Double | Domain::Text(_) => true,
        Domain::DateTime | Domain::YearOrDate => true,
        Domain::Fixed(_) | Domain::DateOrNone | Domain::Time | Domain::TimeOrNone | Domain::Json(..) => false,
    }
}

/// The lists of a statement that have been made to keys, by the address of the list.
#[derive(Debug, Default)]
pub struct Lists(Vec<(usize, List)>);

#[derive(Debug, Default)]
struct List {
    /// Keys by the domain in which they are compared: of most lists there is one.
    domains: Vec<(Domain, KeyIndex)>,
    has_null: bool,
    /// Items before this one have been made to keys.
    next: usize,
    /// There is an item without a key.
    is_refused: bool,
    /// The key that was looked for last, whose memory the next one takes.
    key: Vec<u8>,
}

/// What a look-up found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// `IN` is that.
    Answer(Option<bool>),
    /// Compare one by one.
    Unknown,
}

impl Context<'_> {
    /// Whether `value`, which is not NULL and of type `ty`, is in a list. May ask to wait while the list is
    /// made to keys.
    pub fn find_in_list(
        &mut self,
        list: &[(Domain, Expr)],
        value: &Value,
        ty: &SqlType,
    ) -> SqlAttempt<Found> {
        let is_of_texts = matches!(list.first(), Some((Domain::Text(_), _)));
        if list.len() <= if is_of_texts { SHORT_OF_TEXTS } else { SHORT } {
            return Ok(Found::Unknown);
        }
        let address = list.as_ptr() as usize;
        let place = match self.state.lists.0.iter().position(|(known, _)| *known == address) {
            Some(place) => place,
            None => {
                let constant = |(domain, item): &(Domain, Expr)| item.is_constant() && has_keys(*domain);
                let is_refused = !list.iter().all(constant);
                self.state.lists.0.push((address, List { is_refused, ..List::default() }));
                self.state.lists.0.len() - 1
            }
        };
        if self.state.lists.0.at(place)?.1.is_refused {
            return Ok(Found::Unknown);
        }
        // Out of the context while the context makes keys.
        let mut own = std::mem::take(&mut self.state.lists.0.at_mut(place)?.1);
        let found = own.find(self, list, value, ty);
        self.state.lists.0.at_mut(place)?.1 = own;
        found
    }
}

impl List {
    fn find(
        &mut self,
        cx: &mut Context<'_>,
        list: &[(Domain, Expr)],
        value: &Value,
        ty: &SqlType,
    ) -> SqlAttempt<Found> {
        while self.next < list.len() {
            let end = list.len().min(self.next + PART);
            for (domain, item) in list.part(self.next..end)? {
                let item_value = item.eval(cx)?;
                self.add(cx, *domain, &item_value, &item.ty)?;
            }
            self.next = end;
            cx.session.charge(self.domains.iter().map(|(_, keys)| keys.size()).sum())?;
            cx.take_turns(PART as u32)?;
        }
        if self.is_refused {
            return Ok(Found::Unknown);
        }
        let List { domains, key, .. } = self;
        for (domain, keys) in domains {
            key.clear();
            if !append_domain_key(cx, value, ty, *domain, key)? {
                return Ok(Found::Unknown);
            }
            if keys.contains(key) {
                return Ok(Found::Answer(Some(true)));
            }
        }
        Ok(Found::Answer(if self.has_null { None } else { Some(false) }))
    }

    fn add(&mut self, cx: &mut Context<'_>, domain: Domain, value: &Value, ty: &SqlType) -> SqlResult<()> {
        if value.is_null() {
            self.has_null = true;
            return Ok(());
        }
        let place = match self.domains.iter().position(|(known, _)| *known == domain) {
            Some(place) => place,
            None => {
                self.domains.push((domain, KeyIndex::default()));
                self.domains.len() - 1
            }
        };
        let mut key = Vec::new();
        match append_domain_key(cx, value, ty, domain, &mut key)? {
            true => drop(self.domains.at_mut(place)?.1.insert(&key)),
            false => self.is_refused = true,
        }
        Ok(())
    }
}

/// What the rows of a subquery say of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// A row is equal to them.
    Equal,
    /// None of those without a NULL is; those [with one](RowKeys::with_null) leave it unknown or not.
    NotEqual,
    /// The values are one NULL, and there are rows.
    Unknown,
    /// The rows have to be compared one by one.
    Undecided,
}

/// The rows of a subquery as keys.
#[derive(Debug, Default)]
pub struct RowKeys {
    keys: KeyIndex,
    /// Numbers of the rows with a NULL in them: compared one by one, for what they leave unknown.
    with_null: Vec<usize>,
    rows: usize,
    /// There is a row without a key.
    is_refused: bool,
}

impl RowKeys {
    /// Takes in the next row.
    pub fn add(
        &mut self,
        cx: &mut Context<'_>,
        row: &[Value],
        types: impl Iterator<Item = SqlType>,
        domains: &[Domain],
    ) -> SqlResult<()> {
        let number = self.rows;
        self.rows += 1;
        if row.iter().any(Value::is_null) {
            self.with_null.push(number);
            return Ok(());
        }
        let mut key = Vec::new();
        for ((value, ty), domain) in row.iter().zip(types).zip(domains) {
            self.is_refused |= !append_domain_key(cx, value, &ty, *domain, &mut key)?;
        }
        self.keys.insert(&key);
        Ok(())
    }

    /// About how many bytes it holds.
    pub fn size(&self) -> usize {
        self.keys.size() + self.with_null.len() * size_of::<usize>()
    }

    /// Numbers of the rows with a NULL in them.
    pub fn with_null(&self) -> &[usize] {
        &self.with_null
    }

    /// What the rows say of these values.
    pub fn find(
        &self,
        cx: &mut Context<'_>,
        values: &[Value],
        operands: &[Expr],
        domains: &[Domain],
    ) -> SqlResult<Among> {
        if self.rows == 0 {
            return Ok(Among::NotEqual);
        }
        if let [Value::Null] = values {
            return Ok(Among::Unknown);
        }
        if self.is_refused || values.iter().any(Value::is_null) {
            return Ok(Among::Undecided);
        }
        let mut key = Vec::new();
        for ((value, operand), domain) in values.iter().zip(operands).zip(domains) {
            if !append_domain_key(cx, value, &operand.ty, *domain, &mut key)? {
                return Ok(Among::Undecided);
            }
        }
        Ok(if self.keys.contains(&key) { Among::Equal } else { Among::NotEqual })
    }
}
