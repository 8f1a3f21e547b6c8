//! LATERAL: tables that are made anew for each row of a table before them, the last one that they read.

use palisade_plan::json_table;
use palisade_plan::{Operator, Plan, Query};

/// A table that is made anew.
#[derive(Debug, Clone)]
struct Remade {
    slot: usize,
    /// The table for whose rows it is.
    row_slot: usize,
    row_alias: String,
}

/// The tables of a plan that are made anew.
#[derive(Debug, Default)]
pub(super) struct AllRemade {
    all: Vec<Remade>,
    /// Tables whose rows have been said to make others anew.
    said: Vec<usize>,
}

impl AllRemade {
    /// Those of a plan.
    pub(super) fn of(plan: &Plan) -> AllRemade {
        let mut remade = AllRemade::default();
        if let Some(query) = &plan.query {
            remade.add_query(query);
        }
        plan.subqueries.iter().flatten().for_each(|query| remade.add_query(query));
        remade
    }

    fn add_query(&mut self, query: &Query) {
        self.add(&query.root, &mut Vec::new());
    }

    /// Adds those below an operator; `before` are the tables before it in the order in which they are joined.
    fn add(&mut self, operator: &Operator, before: &mut Vec<(usize, String)>) {
        if let Some((slot, alias)) = table_of(operator) {
            if let Operator::Derived { query, .. } = operator
                && json_table::of_operator(&query.root).is_none()
            {
                let mut rows = before.iter().rev();
                if let Some((row_slot, row_alias)) = rows.find(|(slot, _)| query.outer_slots.contains(slot)) {
                    let (row_slot, row_alias) = (*row_slot, row_alias.clone());
                    self.all.push(Remade { slot, row_slot, row_alias });
                }
                self.add_query(query);
            }
            before.push((slot, alias));
            return;
        }
        operator.inputs().into_iter().for_each(|input| self.add(input, before));
    }

    /// For the rows of which table the table in a slot is made anew.
    pub(super) fn row_of(&self, slot: usize) -> Option<(usize, &str)> {
        let remade = self.all.iter().find(|remade| remade.slot == slot)?;
        Some((remade.row_slot, &remade.row_alias))
    }

    /// The name of the table that an operator reads if tables are made anew for its rows, the first time.
    pub(super) fn said_of(&mut self, operator: &Operator) -> Option<String> {
        let (slot, alias) = match operator {
            Operator::Noted { input, .. } | Operator::Filter { input, .. } => return self.said_of(input),
            operator => table_of(operator)?,
        };
        let is_said = self.said.contains(&slot) || self.all.iter().all(|remade| remade.row_slot != slot);
        (!is_said).then(|| {
            self.said.push(slot);
            alias
        })
    }
}

/// The slot of the table that an operator reads, and its name.
pub(super) fn table_of(operator: &Operator) -> Option<(usize, String)> {
    match operator {
        Operator::Scan { slot, alias, .. }
        | Operator::Virtual { slot, alias, .. }
        | Operator::Derived { slot, alias, .. }
        | Operator::Recursive { slot, alias, .. }
        | Operator::Working { slot, alias, .. } => Some((*slot, alias.clone())),
        Operator::IndexMerge { inputs, .. } => table_of(super::rows::scan_of(inputs.first()?)?),
        _ => None,
    }
}
