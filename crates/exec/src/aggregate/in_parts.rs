//! A grouping whose rows are added up [in parts](crate::parallel): the statement's side, which puts the
//! parts' groups together, and what a part does that has no memory for its groups.

use palisade_base::Blocked;
use palisade_base::seats::Look;
use palisade_engine::KeyRange;
use palisade_expr::aggregate::Accumulator;
use palisade_expr::keys::Numbered;
use palisade_expr::{SqlAttempt, SqlResult};
use palisade_plan::parallel::InParts;

use super::{AggregateState, Grouping, Groups, Row, append_group_key};
use crate::ExecContext;
use crate::parallel::{InOrder, Parts};

/// Who adds the rows up.
#[derive(Debug, Default)]
pub(super) enum Adding {
    /// That is open.
    #[default]
    Open,
    /// The statement itself.
    Alone,
    /// Parts of it. Between two waits for them others have their turn, and it is seen whether the client has
    /// gone.
    Parts { parts: Parts, has_paused: bool },
    /// They have, and their groups are put together.
    Merging(InOrder),
    /// All groups are there.
    Merged,
    /// This is a part.
    Part,
}

impl Adding {
    /// The rows are to be read again.
    pub(super) fn reset(&mut self) {
        if !matches!(self, Adding::Part) {
            *self = Adding::Open;
        }
    }
}

impl AggregateState {
    /// It is a part's.
    pub(crate) fn of_part(mut self) -> Self {
        self.adding = Adding::Part;
        self
    }

    /// What it adds up next, to the groups that it has, is the rows of this piece.
    pub(crate) fn begin_piece(&mut self, piece: KeyRange) {
        self.input.begin_piece(piece);
    }

    /// How many groups it has.
    pub(crate) fn count_groups(&self) -> usize {
        self.groups.count
    }

    /// Its groups, in the order in which they were met.
    pub(crate) fn into_groups(self) -> Groups {
        self.groups
    }

    /// Has the rows added up in parts; false if they are to be added up here.
    pub(super) fn consume_in_parts(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        in_parts: &InParts,
    ) -> SqlAttempt<bool> {
        loop {
            match &mut self.adding {
                Adding::Alone | Adding::Part => return Ok(false),
                Adding::Merged => return Ok(true),
                Adding::Open => {
                    self.adding = match Parts::begin(cx, plan, in_parts)? {
                        Some(parts) => Adding::Parts { parts, has_paused: true },
                        None => Adding::Alone,
                    };
                }
                Adding::Parts { parts, has_paused } => match parts.look()? {
                    Look::Wait(_) if !std::mem::replace(has_paused, true) => return Err(Blocked::yielding()),
                    Look::Wait(progress) => {
                        *has_paused = false;
                        return Err(Blocked::Wait(progress));
                    }
                    Look::TooLarge(_) => self.adding = Adding::Alone,
                    Look::Done(handed_in) => {
                        parts.count_ranges(cx, plan);
                        self.adding = Adding::Merging(InOrder::new(cx, handed_in));
                    }
                },
                Adding::Merging(_) => {
                    let mut adding = std::mem::take(&mut self.adding);
                    let merged = match &mut adding {
                        Adding::Merging(groups) => self.merge(cx, plan, groups),
                        _ => Ok(()),
                    };
                    self.adding = if merged.is_ok() { Adding::Merged } else { adding };
                    merged?;
                }
            }
        }
    }

    /// Puts the groups of all parts together. May ask to wait, and is called again then.
    fn merge(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        groups: &mut InOrder,
    ) -> SqlAttempt<()> {
        while let Some((part, number)) = groups.next() {
            cx.in_one_go(|cx| self.put_together(cx, plan, part, number))?;
            cx.take_turns(1)?;
        }
        Ok(())
    }

    /// Adds what a part has added up of one of its groups to what the parts before have.
    fn put_together(
        &mut self,
        cx: &mut ExecContext<'_, '_>,
        plan: &Grouping<'_>,
        part: &mut Groups,
        number: usize,
    ) -> SqlResult<()> {
        let level = plan.group.len();
        let values = part.values(number, plan);
        self.key.clear();
        append_group_key(cx, plan, Row::Computed(values), level, &mut self.key)?;
        let (position, is_new) = match self.index.number(&self.key) {
            Numbered::New(position) => {
                self.add_group(cx, plan, values, level)?;
                (position, true)
            }
            Numbered::Known(position) => (position, false),
        };
        let known = self.groups.accumulators(position, plan).iter_mut();
        let more = part.accumulators(number, plan).iter_mut();
        for ((known, more), spec) in known.zip(more).zip(plan.aggregates) {
            let more = std::mem::replace(more, Accumulator::Count(0));
            match is_new {
                true => *known = more,
                false => known.merge(more, spec)?,
            }
        }
        cx.session.charge(self.bytes + self.index.size())
    }
}
