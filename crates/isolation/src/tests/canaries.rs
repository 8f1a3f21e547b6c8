//! Each anomaly, planted: found where it is proscribed, and not below.

use std::collections::BTreeMap;

use crate::branch::Branch;
use crate::history::{Access, Element, Fate, History, Key, Length, Look, Op, Transaction};
use crate::{Kind, Level, check};

const LEVELS: [Level; 5] = [
    Level::ReadUncommitted,
    Level::ReadCommitted,
    Level::RepeatableRead,
    Level::Snapshot,
    Level::Serializable,
];

/// A history in the making. Transactions overlap unless said otherwise.
#[derive(Default)]
struct Book(History);

fn append(key: Key, element: Element) -> Op {
    Op::Append(key, element)
}

fn read(key: Key, list: &[Element]) -> Op {
    Op::Read(key, Access::Plain, list.to_vec())
}

fn locked(key: Key, list: &[Element]) -> Op {
    Op::Read(key, Access::Locking, list.to_vec())
}

fn learned(key: Key, length: Length) -> Op {
    Op::Learn(key, Access::Plain, length)
}

impl Book {
    /// All that the last one read was read by one statement.
    fn in_one_statement(mut self) -> Book {
        let last = self.0.transactions.last_mut().expect("there is one");
        last.looks = vec![Look { begin: last.begin, end: last.end, ops: 0..last.ops.len() }];
        self
    }

    /// The anomalies at a level.
    fn found(&self, level: Level) -> Vec<Kind> {
        check(&self.0, level).iter().map(|anomaly| anomaly.kind).collect()
    }

    fn with(self, ops: &[Op]) -> Book {
        self.ended(Fate::Committed, ops)
    }

    fn ended(self, fate: Fate, ops: &[Op]) -> Book {
        let number = self.0.transactions.len() as u64;
        self.at(number, 1000 + number, fate, ops)
    }

    fn at(mut self, begin: u64, end: u64, fate: Fate, ops: &[Op]) -> Book {
        let session = self.0.transactions.len() as u32;
        let ops = ops.to_vec();
        let is_plain = |op: &Op| matches!(op, Op::Read(_, Access::Plain, _) | Op::Learn(_, Access::Plain, _));
        let looks = (0..ops.len()).filter(|at| is_plain(&ops[*at]));
        let looks = looks.map(|at| Look { begin, end, ops: at..at + 1 }).collect();
        self.0.transactions.push(Transaction { session, begin, end, fate, ops, undone: Vec::new(), looks });
        self
    }

    fn last(mut self, lists: &[(Key, &[Element])]) -> Book {
        self.0.last = lists.iter().map(|(key, list)| (*key, list.to_vec())).collect::<BTreeMap<_, _>>();
        self
    }

    /// From `level` on the anomaly `kind` is reported, alone; below, nothing.
    #[track_caller]
    fn shows(self, kind: Kind, level: Level) {
        for promised in LEVELS {
            let found: Vec<Kind> = check(&self.0, promised).iter().map(|anomaly| anomaly.kind).collect();
            let expected = if promised >= level { vec![kind] } else { vec![] };
            assert_eq!(found, expected, "{promised:?}: {:#?}", check(&self.0, promised));
        }
    }
}

#[test]
fn nothing_is_found_in_what_is_serial() {
    let book = Book::default()
        .at(1, 2, Fate::Committed, &[append(1, 11), append(1, 12), read(1, &[11, 12])])
        .at(3, 4, Fate::Aborted, &[read(1, &[11, 12]), append(1, 13), read(1, &[11, 12, 13])])
        .at(5, 6, Fate::Committed, &[read(1, &[11, 12]), read(2, &[]), append(2, 21)])
        .at(7, 8, Fate::Unknown, &[locked(2, &[21]), append(2, 22)])
        .at(7, 9, Fate::Unknown, &[append(3, 31)])
        .at(10, 11, Fate::Committed, &[read(2, &[21, 22]), read(3, &[])])
        .last(&[(1, &[11, 12]), (2, &[21, 22])]);
    assert_eq!(check(&book.0, Level::Serializable), []);
}

#[test]
fn g0_dirty_writes_in_opposite_orders() {
    let book = Book::default().with(&[append(1, 11), append(2, 12)]).with(&[append(1, 21), append(2, 22)]);
    book.last(&[(1, &[11, 21]), (2, &[22, 12])]).shows(Kind::G0, Level::ReadUncommitted);
}

#[test]
fn g0_an_append_between_two_of_another() {
    let book = Book::default().with(&[append(1, 11), append(1, 12)]).with(&[append(1, 21)]);
    book.last(&[(1, &[11, 21, 12])]).shows(Kind::G0, Level::ReadUncommitted);
}

#[test]
fn g1a_a_read_of_what_was_rolled_back() {
    let book = Book::default().ended(Fate::Aborted, &[append(1, 11)]).with(&[read(1, &[11])]);
    book.last(&[]).shows(Kind::G1a, Level::ReadCommitted);
}

#[test]
fn g1a_a_read_of_what_was_rolled_back_to_a_savepoint() {
    let mut book = Book::default().with(&[append(2, 12)]).with(&[read(1, &[11])]);
    book.0.transactions[0].undone.push((1, 11));
    book.last(&[(2, &[12])]).shows(Kind::G1a, Level::ReadCommitted);
}

#[test]
fn g1b_a_read_between_two_appends_of_one_transaction() {
    // it also read before the writer's second append and after its first: a cycle of one anti-dependency
    let book = Book::default().with(&[append(1, 11), append(1, 12)]).with(&[read(1, &[11])]);
    let book = book.last(&[(1, &[11, 12])]);
    assert_eq!(book.found(Level::ReadUncommitted), []);
    assert_eq!(book.found(Level::ReadCommitted), [Kind::G1b, Kind::StatementSkew]);
    assert_eq!(book.found(Level::RepeatableRead), [Kind::G1b, Kind::GSingle]);
}

#[test]
fn g1c_each_reads_what_the_other_wrote() {
    let book = Book::default().with(&[append(1, 11), read(2, &[22])]).with(&[append(2, 22), read(1, &[11])]);
    book.last(&[(1, &[11]), (2, &[22])]).shows(Kind::G1c, Level::ReadCommitted);
}

#[test]
fn g1c_a_read_of_what_began_after_its_end() {
    let book = Book::default().at(1, 2, Fate::Committed, &[read(1, &[11])]).at(
        3,
        4,
        Fate::Committed,
        &[append(1, 11)],
    );
    book.last(&[(1, &[11])]).shows(Kind::G1c, Level::ReadCommitted);
}

#[test]
fn g_single_a_reader_sees_half_of_a_transaction() {
    let book = Book::default().with(&[append(1, 11), append(2, 12)]).with(&[read(1, &[11]), read(2, &[])]);
    book.last(&[(1, &[11]), (2, &[12])]).shows(Kind::GSingle, Level::RepeatableRead);
}

#[test]
fn g_single_a_plain_read_and_a_locking_one_see_two_states() {
    let book = Book::default().with(&[append(1, 11)]).with(&[read(1, &[]), locked(1, &[11])]);
    book.last(&[(1, &[11])]).shows(Kind::GSingle, Level::Snapshot);
}

#[test]
fn a_stale_read_after_the_commit_was_acknowledged() {
    let book = Book::default().at(1, 2, Fate::Committed, &[append(1, 11)]);
    let book = book.at(3, 4, Fate::Committed, &[read(1, &[])]).last(&[(1, &[11])]);
    assert_eq!(book.found(Level::ReadUncommitted), []);
    assert_eq!(book.found(Level::ReadCommitted), [Kind::StatementSkew]);
    for level in [Level::RepeatableRead, Level::Snapshot, Level::Serializable] {
        assert_eq!(book.found(level), [Kind::GSingle]);
    }
}

#[test]
fn a_statement_sees_half_of_a_transaction() {
    let writer = || Book::default().with(&[append(1, 11), append(2, 12)]);
    let book = writer().with(&[read(1, &[11]), read(2, &[])]).in_one_statement();
    let book = book.last(&[(1, &[11]), (2, &[12])]);
    assert_eq!(book.found(Level::ReadUncommitted), []);
    assert_eq!(book.found(Level::ReadCommitted), [Kind::StatementSkew]);
    assert_eq!(book.found(Level::RepeatableRead), [Kind::GSingle]);
    // with locks each row is the latest
    let book = writer().with(&[locked(1, &[11]), locked(2, &[])]).in_one_statement();
    let book = book.last(&[(1, &[11]), (2, &[12])]);
    assert_eq!(book.found(Level::ReadCommitted), []);
}

#[test]
fn a_statement_of_read_committed_sees_an_old_state() {
    // its transaction had begun before; the statement had not
    let mut book = Book::default().at(1, 20, Fate::Committed, &[append(2, 21), read(1, &[])]);
    book.0.transactions[0].looks[0].begin = 10;
    let mut book = book.at(2, 9, Fate::Committed, &[append(1, 11)]).last(&[(1, &[11]), (2, &[21])]);
    assert_eq!(book.found(Level::ReadCommitted), [Kind::StatementSkew]);
    book.0.transactions[0].looks[0].begin = 8;
    assert_eq!(book.found(Level::ReadCommitted), []);
}

#[test]
fn plain_reads_of_one_that_also_writes_see_two_states() {
    let book = Book::default().with(&[append(1, 11), append(2, 12)]);
    let book = book.with(&[append(3, 31), read(1, &[11]), read(2, &[])]);
    book.last(&[(1, &[11]), (2, &[12]), (3, &[31])]).shows(Kind::GSingle, Level::RepeatableRead);
}

#[test]
fn plain_reads_see_two_appends_in_opposite_orders() {
    let book = Book::default().with(&[append(1, 11)]).with(&[append(2, 21)]);
    let book = book.with(&[read(1, &[11]), read(2, &[])]).with(&[read(2, &[21]), read(1, &[])]);
    book.last(&[(1, &[11]), (2, &[21])]).shows(Kind::GNonadjacent, Level::RepeatableRead);
}

#[test]
fn a_count_and_a_condition_see_half_of_a_transaction() {
    for (one, other) in [
        (Length::exactly(1), Length::exactly(0)),
        (Length::at_least(1), Length::at_most(0)),
        (Length::exactly(1), Length::at_most(0)),
    ] {
        let book = Book::default().with(&[append(1, 11), append(2, 12)]);
        let book = book.with(&[learned(1, one), learned(2, other)]);
        book.last(&[(1, &[11]), (2, &[12])]).shows(Kind::GSingle, Level::RepeatableRead);
    }
    // and no conclusion is drawn from what a condition leaves open
    let book = Book::default().with(&[append(1, 11), append(2, 12)]);
    let book = book.with(&[learned(1, Length::at_least(1)), learned(2, Length::at_most(1))]);
    assert_eq!(book.last(&[(1, &[11]), (2, &[12])]).found(Level::Serializable), []);
}

#[test]
fn a_phantom_that_a_condition_did_not_show() {
    // each looked for lists of one element and then made one
    let book = Book::default()
        .with(&[learned(1, Length::at_most(0)), learned(2, Length::at_most(0)), append(1, 11)])
        .with(&[learned(1, Length::at_most(0)), learned(2, Length::at_most(0)), append(2, 22)]);
    book.last(&[(1, &[11]), (2, &[22])]).shows(Kind::G2, Level::Serializable);
}

#[test]
fn a_count_of_what_was_rolled_back() {
    let book = Book::default().ended(Fate::Aborted, &[append(1, 11)]);
    let book = book.with(&[learned(1, Length::exactly(1))]);
    book.last(&[]).shows(Kind::G1a, Level::ReadCommitted);
}

#[test]
fn a_duplicate_of_what_a_crash_took() {
    let book = Book::default().ended(Fate::Unknown, &[append(1, 11)]);
    let book = book.with(&[Op::Learn(1, Access::Locking, Length::at_least(1))]);
    book.last(&[]).shows(Kind::VanishedRead, Level::ReadCommitted);
}

#[test]
fn a_duplicate_of_what_was_inserted_later() {
    let book = Book::default().at(
        1,
        2,
        Fate::Committed,
        &[Op::Learn(1, Access::Locking, Length::at_least(1)), append(2, 21)],
    );
    let book = book.at(3, 4, Fate::Committed, &[append(1, 11)]);
    book.last(&[(1, &[11]), (2, &[21])]).shows(Kind::G1c, Level::ReadCommitted);
}

#[test]
fn a_count_between_two_appends_of_one_transaction() {
    let book = Book::default().with(&[append(1, 11), append(1, 12)]);
    let book = book.with(&[learned(1, Length::exactly(1))]).last(&[(1, &[11, 12])]);
    assert_eq!(book.found(Level::ReadUncommitted), []);
    assert!(book.found(Level::ReadCommitted).contains(&Kind::G1b));
}

#[test]
fn a_count_without_an_append_of_its_own() {
    let book = Book::default().with(&[append(1, 11), learned(1, Length::exactly(0))]);
    book.last(&[(1, &[11])]).shows(Kind::Internal, Level::ReadUncommitted);
}

#[test]
fn a_branch_that_is_lost_or_comes_back_contradicts_what_was_promised() {
    for end in [Fate::Committed, Fate::Aborted] {
        // without an answer the list decides
        assert_eq!(Branch::new(end).look(false), Ok(Some(Fate::Aborted)));
        let mut branch = Branch::new(end);
        assert_eq!(branch.look(true), Ok(None));
        assert!(branch.look(false).is_err(), "listed once, and gone");
        let mut branch = Branch::new(end);
        branch.is_prepared();
        assert!(branch.look(false).is_err(), "prepared, and gone");
        assert_eq!(branch.look(true), Ok(None));
        branch.is_ending();
        assert_eq!(branch.look(true), Ok(None), "asked, and not done yet");
        assert_eq!(branch.look(false), Ok(Some(end)));
        branch.has_ended();
        assert_eq!(branch.look(false), Ok(Some(end)));
        assert!(branch.look(true).is_err(), "ended, and there again");
    }
}

#[test]
fn a_branch_that_was_to_be_committed_and_is_not_there() {
    let mut branch = Branch::new(Fate::Committed);
    branch.is_prepared();
    branch.is_ending();
    let fate = branch.look(false).unwrap().unwrap();
    Book::default().ended(fate, &[append(1, 11)]).last(&[]).shows(Kind::LostAppend, Level::ReadUncommitted);
}

#[test]
fn lost_update_two_build_upon_one_version() {
    let book = Book::default()
        .with(&[append(1, 11)])
        .with(&[read(1, &[11]), append(1, 21)])
        .with(&[read(1, &[11]), append(1, 31)]);
    book.last(&[(1, &[11, 21, 31])]).shows(Kind::LostUpdate, Level::Snapshot);
}

#[test]
fn g_nonadjacent_a_long_fork_is_no_snapshot_isolation() {
    // two readers see two independent appends in opposite orders
    let book = Book::default()
        .with(&[append(1, 11)])
        .with(&[append(2, 21)])
        .with(&[locked(1, &[11]), locked(2, &[])])
        .with(&[locked(2, &[21]), locked(1, &[])]);
    book.last(&[(1, &[11]), (2, &[21])]).shows(Kind::GNonadjacent, Level::Snapshot);
}

#[test]
fn g2_write_skew_is_snapshot_isolation_and_not_serializable() {
    let book = Book::default().with(&[read(1, &[]), read(2, &[]), append(1, 11)]).with(&[
        read(1, &[]),
        read(2, &[]),
        append(2, 22),
    ]);
    book.last(&[(1, &[11]), (2, &[22])]).shows(Kind::G2, Level::Serializable);
}

#[test]
fn g2_two_adjacent_edges_and_a_reader() {
    // Fekete's read-only anomaly: the third sees the second and not the first, which did not see the second
    let book = Book::default()
        .with(&[read(1, &[]), read(2, &[]), append(1, 11)])
        .at(1, 50, Fate::Committed, &[append(2, 22)])
        .at(60, 61, Fate::Committed, &[read(1, &[]), read(2, &[22])]);
    book.last(&[(1, &[11]), (2, &[22])]).shows(Kind::G2, Level::Serializable);
}

/// What happens if a restart unlocks what a prepared transaction has read: the second changes that, and the third sees it, and that
/// the first is not there yet. Nothing is wrong with the two of them alone, nor if the first had read nothing.
#[test]
fn g2_what_a_prepared_transaction_has_read_changes_before_it_ends() {
    let prepared = [locked(1, &[]), append(2, 21)];
    let with = |prepared: &[Op]| {
        Book::default()
            .at(1, 60, Fate::Committed, prepared)
            .at(10, 20, Fate::Committed, &[locked(1, &[]), append(1, 11)])
            .at(30, 40, Fate::Committed, &[read(1, &[11]), read(2, &[])])
            .in_one_statement()
            .last(&[(1, &[11]), (2, &[21])])
    };
    with(&prepared).shows(Kind::G2, Level::Serializable);
    assert_eq!(check(&with(&prepared[1..]).0, Level::Serializable), []);
}

#[test]
fn an_acknowledged_append_that_is_lost() {
    let book = Book::default().with(&[append(1, 11)]).with(&[append(1, 21)]);
    book.last(&[(1, &[11])]).shows(Kind::LostAppend, Level::ReadUncommitted);
}

#[test]
fn an_unanswered_commit_that_is_there_in_part() {
    let book = Book::default().ended(Fate::Unknown, &[append(1, 11), append(2, 12)]);
    book.last(&[(1, &[11])]).shows(Kind::Torn, Level::ReadUncommitted);
}

#[test]
fn a_version_built_on_what_was_rolled_back() {
    let book = Book::default().ended(Fate::Aborted, &[append(1, 11)]).with(&[append(1, 21)]);
    book.last(&[(1, &[11, 21])]).shows(Kind::DirtyUpdate, Level::ReadUncommitted);
}

#[test]
fn an_element_that_is_there_twice() {
    let book = Book::default().with(&[append(1, 11)]);
    book.last(&[(1, &[11, 11])]).shows(Kind::Duplicate, Level::ReadUncommitted);
}

#[test]
fn an_element_out_of_nowhere() {
    Book::default().last(&[(1, &[99])]).shows(Kind::Garbage, Level::ReadUncommitted);
}

#[test]
fn a_transaction_that_does_not_see_its_own_append() {
    let book = Book::default().with(&[append(1, 11), read(1, &[])]);
    book.last(&[(1, &[11])]).shows(Kind::Internal, Level::ReadUncommitted);
}

#[test]
fn a_read_of_what_a_crash_took() {
    let book = Book::default().ended(Fate::Unknown, &[append(1, 11)]).with(&[read(1, &[11])]);
    book.last(&[]).shows(Kind::VanishedRead, Level::ReadCommitted);
}

#[test]
fn reads_that_no_order_explains() {
    let book = Book::default().with(&[append(1, 11)]).with(&[append(1, 21)]).with(&[read(1, &[21])]);
    book.last(&[(1, &[11, 21])]).shows(Kind::IncompatibleOrder, Level::ReadCommitted);
}

#[test]
fn the_report_names_the_transactions_of_the_cycle() {
    let book = Book::default()
        .with(&[read(1, &[]), read(2, &[]), append(1, 11)])
        .with(&[read(1, &[]), read(2, &[]), append(2, 22)])
        .last(&[(1, &[11]), (2, &[22])]);
    let anomalies = check(&book.0, Level::Serializable);
    let text = anomalies[0].to_string();
    assert!(text.starts_with("G2: T0 -rw 2-> T1 -rw 1-> T0\n"), "{text}");
    assert!(text.contains("T1 of session 1, acknowledged") && text.contains("Append(2, 22)"), "{text}");
}
