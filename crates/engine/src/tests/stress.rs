//! Many sessions at once, with purge running: money moves between accounts, and no snapshot ever sees some
//! missing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};

use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{PartitionDef, RowView, TableDef, Value};

use super::harness::*;
use crate::{Engine, Error, ExclusiveLock, IsolationLevel, Table, TableName};

const ACCOUNTS: i64 = 40;
const MONEY: i64 = 100;

fn transfer(client: &mut Client, prng: &mut Prng) -> Result<(), Error> {
    let (from, to) = (prng.below(ACCOUNTS as u64) as i64, prng.below(ACCOUNTS as u64) as i64);
    let amount = prng.below(10) as i64;
    let text = vec![prng.next_u64() as u8; if prng.one_in(10) { 9000 } else { 30 }];
    client.update(from, |row| row.k = row.k.map(|k| k - amount))?;
    let savepoint = client.tx.savepoint();
    if prng.one_in(4) {
        // In vain.
        client.update(to, |row| row.k = Some(1_000_000))?;
        client.delete(from)?;
        retry_blocking(|| client.tx.rollback_to(savepoint))?;
    }
    if prng.one_in(5) {
        // The account moves away and comes back.
        client.update(to, |row| row.id += 1000)?;
        client.update(to + 1000, |row| (row.id, row.c) = (to, text.clone()))?;
    }
    client.update(to, |row| row.k = row.k.map(|k| k + amount))?;
    client.update(to, |row| row.u = row.u.map(|u| u + 1000))?;
    Ok(())
}

fn move_money(engine: Arc<Engine>, table: Arc<Table>, seed: u64, rounds: u64) {
    let mut prng = Prng::new(seed);
    let mut client = Client::new(&engine, &table);
    for _ in 0..rounds {
        match transfer(&mut client, &mut prng) {
            Ok(()) if prng.one_in(8) => client.rollback(),
            Ok(()) => client.commit(),
            Err(Error::Deadlock) => client.rollback(),
            Err(error) => panic!("{error}"),
        }
    }
}

fn watch(engine: Arc<Engine>, table: Arc<Table>, stop: Arc<AtomicBool>, isolation: IsolationLevel) {
    let mut client = Client::with(&engine, &table, isolation);
    while !stop.load(Ordering::Relaxed) {
        for index in [0, 1, 2, 0] {
            if isolation == IsolationLevel::ReadCommitted {
                client.tx.start_statement();
            }
            let rows = client.scan(index);
            let sum: i64 = rows.iter().map(|row| row.k.unwrap()).sum();
            let mut ids: Vec<_> = rows.iter().map(|row| row.id).collect();
            ids.sort_unstable();
            assert_eq!(ids, (0..ACCOUNTS).collect::<Vec<_>>(), "index {index}");
            assert_eq!(sum, ACCOUNTS * MONEY, "index {index}");
        }
        client.commit();
    }
}

#[test]
fn money_is_neither_made_nor_lost() {
    money_stays_in(definition("t"));
}

/// An account that moves away goes to another partition.
#[test]
fn money_is_neither_made_nor_lost_in_partitions() {
    money_stays_in(partitioned("t", &["p0", "p1", "p2"]));
}

fn money_stays_in(def: TableDef) {
    let seed = test_seed(7);
    let fs = memory();
    let engine = Engine::open(config(), fs.clone()).unwrap();
    create_schema(&engine);
    let t = create_table(&engine, def);
    let mut client = Client::new(&engine, &t);
    for id in 0..ACCOUNTS {
        client.insert(&Row::new(id, MONEY, Some(id), &vec![7; (id * 100) as usize])).unwrap();
    }
    client.commit();
    drop(client);
    let stop = Arc::new(AtomicBool::new(false));
    let watchers: Vec<_> = [IsolationLevel::RepeatableRead, IsolationLevel::ReadCommitted]
        .map(|isolation| {
            let (engine, t, stop) = (engine.clone(), t.clone(), stop.clone());
            std::thread::spawn(move || watch(engine, t, stop, isolation))
        })
        .into();
    let movers: Vec<_> = (0..4)
        .map(|number| {
            let (engine, t) = (engine.clone(), t.clone());
            std::thread::spawn(move || move_money(engine, t, seed + number, 150))
        })
        .collect();
    for mover in movers {
        mover.join().unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    for watcher in watchers {
        watcher.join().unwrap();
    }
    while engine.history_length() > 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    check(&engine, &t);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop(t);
    crash(engine);
    let engine = open(&fs);
    let t = table(&engine, "t");
    while engine.purge_step().unwrap() {}
    let rows = Client::new(&engine, &t).scan(1);
    assert_eq!(rows.iter().map(|row| row.k.unwrap()).sum::<i64>(), ACCOUNTS * MONEY);
    check(&engine, &t);
}

/// Of several that insert one unique value at once, one succeeds.
#[test]
fn a_unique_value_is_there_once_however_many_insert_it() {
    let (_fs, engine, t) = new_engine();
    let inserted: Vec<_> = (0..4)
        .map(|number| {
            let (engine, t) = (engine.clone(), t.clone());
            std::thread::spawn(move || {
                let mut client = Client::new(&engine, &t);
                let mut done = 0;
                for value in 0..100 {
                    let id = value * 10 + number;
                    match client.insert(&Row::new(id, 0, Some(value), b"")) {
                        Ok(()) if id % 7 == 0 => client.rollback(),
                        Ok(()) => {
                            client.commit();
                            done += 1;
                        }
                        Err(Error::DuplicateKey { index: 2 }) => client.commit(),
                        Err(error) => panic!("{error}"),
                    }
                }
                done
            })
        })
        .collect();
    let done: usize = inserted.into_iter().map(|thread| thread.join().unwrap()).sum();
    let mut values: Vec<_> = Client::new(&engine, &t).scan(0).into_iter().map(|row| row.u).collect();
    assert_eq!(values.len(), done);
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), done);
}

/// Changes rows of `t` until it has to stop. Gives how often it has committed.
fn use_table(engine: &Arc<Engine>, seed: u64, stop: &AtomicBool) -> u64 {
    let mut prng = Prng::new(seed);
    let mut done = 0;
    while !stop.load(Ordering::Relaxed) {
        let Ok(table) = engine.dictionary().table("test", "t").cloned() else { continue };
        let mut client = Client::new(engine, &table);
        let id = prng.below(200) as i64;
        let outcome = (|| {
            if !client.update(id, |row| row.k = Some(id % 5))? {
                client.insert(&Row::new(id, 1, Some(id), &vec![1; prng.below(6000) as usize]))?;
            }
            if prng.one_in(3) {
                client.delete(prng.below(200) as i64)?;
            }
            Ok(())
        })();
        match outcome {
            Ok(()) if prng.one_in(5) => drop(client),
            Ok(()) => {
                client.commit();
                done += 1;
            }
            Err(Error::TableChanged | Error::Deadlock) => client.rollback(),
            Err(Error::DuplicateKey { .. }) => client.rollback(),
            Err(error) => panic!("{error}"),
        }
    }
    done
}

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

/// Sessions go on while `change` changes a table 25 times, under a lock of `t` and `aside`.
fn changes_under_its_users(def: TableDef, change: impl Fn(&Arc<Engine>, &ExclusiveLock, usize)) {
    let seed = test_seed(11);
    let engine = Engine::open(config(), memory()).unwrap();
    create_schema(&engine);
    create_table(&engine, def);
    let stop = Arc::new(AtomicBool::new(false));
    let users: Vec<_> = (0..3)
        .map(|number| {
            let (engine, stop) = (engine.clone(), stop.clone());
            std::thread::spawn(move || use_table(&engine, seed + number, &stop))
        })
        .collect();
    for round in 0..25 {
        let mut held = ExclusiveLock::new(&engine, [name("t"), name("aside")]);
        retry_blocking(|| held.acquire()).unwrap();
        change(&engine, &held, round);
        drop(held);
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    stop.store(true, Ordering::Relaxed);
    let done: u64 = users.into_iter().map(|user| user.join().unwrap()).sum();
    assert!(done > 0);
    while engine.history_length() > 0 || !engine.active_transactions().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    check(&engine, &table(&engine, "t"));
}

/// The table they use is altered, truncated and renamed to and fro.
#[test]
fn tables_change_under_their_users() {
    changes_under_its_users(definition("t"), |engine, held, round| match round % 5 {
        0 => {
            let index = Index::new("more", vec![IndexPart::of(1), IndexPart::of(2)]);
            wait(engine.add_indexes(held, &name("t"), vec![index])).map(|_| ()).unwrap();
        }
        1 => wait(engine.drop_indexes(held, &name("t"), &["more".to_owned()])).map(|_| ()).unwrap(),
        2 => {
            let def = table(engine, "t").def().clone();
            let mut map = |row: &RowView<'_>, out: &mut Vec<_>| {
                out.extend(row.to_values());
                Ok(())
            };
            wait(engine.rebuild_table(held, &name("t"), def, &mut map)).map(|_| ()).unwrap();
        }
        3 => {
            wait(engine.rename_tables(held, &[(name("t"), name("aside"))])).unwrap();
            wait(engine.rename_tables(held, &[(name("aside"), name("t"))])).unwrap();
        }
        _ => wait(engine.truncate_table(held, &name("t"))).unwrap(),
    });
}

/// The table they use has two partitions, then three, then four; some are emptied, or change places with a
/// table.
#[test]
fn partitions_change_under_their_users() {
    changes_under_its_users(partitioned("t", &["p0", "p1"]), |engine, held, round| {
        let old = table(engine, "t");
        let count = old.partition_count();
        match round % 4 {
            0 | 1 => {
                let count = 2 + round % 3;
                let partitions = (0..count).map(|at| PartitionDef::named(format!("p{at}"))).collect();
                let def = TableDef { partitions, ..old.def().clone() };
                let mut router = |row: &RowView<'_>| match row.to_values().first() {
                    Some(Value::Int(id)) => Ok(home(*id, count)),
                    other => panic!("{other:?}"),
                };
                let (new, router) = (vec![None; count], Some(&mut router as &mut crate::RowRouter<'_>));
                wait(engine.change_partitions(held, &name("t"), def, &new, router)).map(|_| ()).unwrap();
            }
            2 => {
                let mut sources: Vec<_> = (0..count).map(Some).collect();
                sources[round % count] = None;
                let def = old.def().clone();
                wait(engine.change_partitions(held, &name("t"), def, &sources, None)).map(|_| ()).unwrap();
            }
            _ => {
                wait(engine.create_table(held, definition("aside"))).map(|_| ()).unwrap();
                let number = round % count;
                wait(engine.exchange_partition(held, &name("t"), number, &name("aside"))).unwrap();
                wait(engine.drop_tables(held, &[name("aside")])).unwrap();
            }
        }
    });
}
