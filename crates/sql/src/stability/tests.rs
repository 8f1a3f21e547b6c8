use super::*;

fn outline(index: &str) -> Arc<Outline> {
    Arc::new(Outline::parse(&format!("read 0 ranges `{index}` `d`.`t`")).unwrap())
}

fn identity(text: &str) -> Arc<Identity> {
    let switches = OptimizerSwitches::default();
    Arc::new(Identity { database: "d".to_owned(), switches, digest: text.as_bytes().to_vec() })
}

const NOW: Duration = Duration::from_secs(5000);

/// Executes until no trial goes on any more, each plan taking so long. Gives how many executions there were.
fn contest(plans: &KeptPlans, identity: &Arc<Identity>, free: &Arc<Outline>, micros: [u64; 2]) -> usize {
    for count in 0..1000 {
        match plans.choose(identity, free, NOW) {
            Choice::OnTrial { tried, turn, .. } => {
                let [kept_takes, tried_takes] = micros;
                let took = if turn == Turn::Kept { kept_takes } else { tried_takes };
                // No two executions take the same time.
                let took = Duration::from_micros(took + count as u64 % 5);
                plans.measured(identity, &tried, turn, took, NOW);
            }
            Choice::AsItIs(_) | Choice::Held(..) => return count,
        }
    }
    panic!("the trial does not end");
}

#[test]
fn a_plan_is_kept_until_another_one_has_proved_to_be_faster() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    let Choice::AsItIs(stands) = plans.choose(&statement, &a, NOW) else { panic!("the first is kept") };
    assert!(matches!(plans.choose(&statement, &a, NOW), Choice::AsItIs(_)));
    assert!(stands.load(Ordering::Relaxed));
    // Another one that is slower: the statement is held to the first.
    let count = contest(&plans, &statement, &b, [100, 400]);
    assert!((6..20).contains(&count), "{count}");
    assert!(!stands.load(Ordering::Relaxed), "plans made before have asked again");
    assert!(matches!(plans.choose(&statement, &b, NOW), Choice::Held(kept, _) if kept == a));
    // After a while it is tried once more.
    let later = NOW + FIRST_REST;
    assert!(matches!(plans.choose(&statement, &b, later), Choice::OnTrial { .. }));
    contest(&plans, &statement, &b, [400, 100]);
    assert!(matches!(plans.choose(&statement, &b, NOW), Choice::AsItIs(_)));
    assert!(matches!(plans.choose(&statement, &a, NOW), Choice::OnTrial { kept, .. } if kept == b));
}

#[test]
fn plans_that_are_as_fast_change_nothing_and_the_trial_is_bounded() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    plans.choose(&statement, &a, NOW);
    let count = contest(&plans, &statement, &b, [100, 100]);
    assert!(count as u64 <= 2 * measure::MOST + 4, "{count}");
    assert_eq!(plans.outline(&statement), Some(a));
}

#[test]
fn both_plans_have_their_turns_and_the_one_that_is_kept_the_first() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    plans.choose(&statement, &a, NOW);
    let mut turns = Vec::new();
    for _ in 0..40 {
        let Choice::OnTrial { tried, turn, longest, .. } = plans.choose(&statement, &b, NOW) else { break };
        assert_eq!(longest.is_none(), turns.is_empty());
        turns.push(turn);
        let took = Duration::from_micros(100 + turns.len() as u64 * 37 % 50);
        plans.measured(&statement, &tried, turn, took, NOW);
    }
    assert_eq!(turns[..2], [Turn::Kept; 2]);
    let kept = turns.iter().filter(|turn| **turn == Turn::Kept).count();
    assert!((18..=22).contains(&kept) && turns.len() == 40, "{turns:?}");
    let alternates = turns.windows(2).all(|pair| pair[0] != pair[1]);
    assert!(!alternates, "a pattern of two values would favour one plan");
}

#[test]
fn a_plan_that_fails_is_left_alone_longer_each_time() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    plans.choose(&statement, &a, NOW);
    let mut now = NOW;
    for rest in [600, 2400, 9600, 38_400, 86_400, 86_400] {
        assert!(matches!(plans.choose(&statement, &b, now), Choice::OnTrial { .. }), "{rest}");
        plans.failed(&statement, &b, now);
        now += Duration::from_secs(rest - 1);
        assert!(matches!(plans.choose(&statement, &b, now), Choice::Held(..)), "{rest}");
        now += Duration::from_secs(1);
    }
}

#[test]
fn a_trial_of_a_statement_that_always_fails_ends() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    plans.choose(&statement, &a, NOW);
    for _ in 0..MOST_TURNS {
        assert!(matches!(plans.choose(&statement, &b, NOW), Choice::OnTrial { .. }));
    }
    assert!(matches!(plans.choose(&statement, &b, NOW), Choice::Held(..)));
}

#[test]
fn what_cannot_be_made_again_is_kept_no_longer() {
    let plans = KeptPlans::default();
    let (statement, a, b) = (identity("s"), outline("a"), outline("b"));
    plans.choose(&statement, &a, NOW);
    for _ in 1..MOST_MISSES {
        plans.missed(&statement, &b, false);
    }
    assert_eq!(plans.outline(&statement), Some(a.clone()));
    plans.missed(&statement, &b, false);
    assert_eq!(plans.outline(&statement), Some(b));
    plans.missed(&statement, &a, true);
    assert_eq!(plans.outline(&statement), Some(a));
}

#[test]
fn statements_that_were_not_planned_lately_are_forgotten() {
    let plans = KeptPlans::default();
    let names = || (0..=MOST_STATEMENTS).map(|number| identity(&format!("s{number}")));
    let first = identity("s0");
    for name in names() {
        plans.choose(&name, &outline("a"), NOW);
        plans.choose(&first, &outline("a"), NOW);
    }
    let known = plans.list().len();
    assert!(known <= MOST_STATEMENTS - MOST_STATEMENTS / 8 + 1, "{known}");
    assert!(plans.outline(&first).is_some());
    assert!(plans.outline(&identity("s1")).is_none());
    let known = plans.lock();
    let weight: usize = known.statements.values().map(|kept| kept.weight).sum();
    assert!(weight > 0 && known.weight == weight);
    drop(known);
    plans.forget("d", b"s0");
    assert!(plans.outline(&first).is_none());
}
