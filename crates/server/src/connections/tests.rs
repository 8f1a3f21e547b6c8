use super::*;

fn entered(entry: Entry) -> Visit {
    match entry {
        Entry::Entered(visit) => visit,
        Entry::Refused(_) => panic!("there are not too many"),
    }
}

#[test]
fn clients_that_have_not_logged_in_take_no_place() {
    let connections = Arc::new(Connections::default());
    let enter = || connections.enter("localhost".into(), None, 1);
    let silent: Vec<Visit> = (0..5).map(|_| entered(enter())).collect();
    let [first, second, extra] = [(); 3].map(|()| entered(enter()));
    assert!(connections.admit(&first, 1, false));
    assert!(!connections.admit(&second, 1, false) && connections.admit(&extra, 1, true));
    assert!(!connections.admit(&second, 1, true), "there is one such place");
    let refused: Vec<Entry> = (0..3).map(|_| enter()).collect();
    assert!(refused.iter().all(|entry| matches!(entry, Entry::Refused(_))));
    assert_eq!((connections.count(), connections.ever()), (8, 11));
    drop((first, extra));
    assert!(connections.admit(&second, 1, false));
    assert!(!silent[0].is_killed());
}

#[test]
fn the_oldest_that_says_nothing_makes_room() {
    let connections = Arc::new(Connections::default());
    let enter = || entered(connections.enter("localhost".into(), None, 10));
    let inside = enter();
    assert!(connections.admit(&inside, 10, false));
    let silent: Vec<Visit> = (0..MOST_PENDING).map(|_| enter()).collect();
    assert!(silent.iter().all(|connection| !connection.is_killed()));
    let next = enter();
    assert!(silent[0].is_killed() && !silent[1].is_killed());
    assert!(!inside.is_killed() && !next.is_killed());
}

#[test]
fn the_reaper_ends_who_is_silent_past_the_deadline() {
    let connections = Arc::new(Connections::default());
    let silent = entered(connections.enter("localhost".into(), None, 10));
    let talkative = entered(connections.enter("localhost".into(), Some(7), 10));
    connections.reap(100);
    silent.set_deadline(&connections, 5);
    talkative.set_deadline(&connections, 50);
    connections.reap(105);
    assert!(!silent.is_killed());
    connections.reap(106);
    assert!(silent.is_killed() && silent.has_timed_out());
    assert!(!talkative.is_killed());
    talkative.clear_deadline();
    connections.reap(1000);
    assert!(!talkative.is_killed());
}

#[test]
fn the_process_list_shows_who_does_what() {
    let connections = Arc::new(Connections::default());
    let connection = entered(connections.enter("127.0.0.1".into(), Some(5000), 10));
    connection.identify("root", "root@localhost", Some("test"));
    connection.begin("Query", b"SELECT 1", 0);
    let processes = connections.processes();
    assert_eq!(processes[0].host, "127.0.0.1:5000");
    assert_eq!((processes[0].activity.command, &processes[0].activity.text[..]), ("Query", &b"SELECT 1"[..]));
    assert_eq!(connections.running(), 1);
    connection.end(0);
    assert_eq!(connections.running(), 0);
    let id = connection.id;
    assert!(connections.get(id).is_some());
    drop(connection);
    assert_eq!(connections.count(), 0);
    assert!(connections.get(id).is_none());
}

#[test]
fn administrators_take_no_place_and_are_given_one_always() {
    let connections = Arc::new(Connections::default());
    let Entry::Entered(first) = connections.enter("localhost".into(), None, 1) else {
        panic!("there is one")
    };
    assert!(connections.admit(&first, 1, false));
    let administrators: Vec<_> =
        (0..5).map(|_| connections.enter_administrator("localhost".into(), None)).collect();
    assert!(administrators.iter().all(|visit| connections.admit(visit, 1, false)));
    let Entry::Entered(beyond) = connections.enter("localhost".into(), None, 1) else { panic!("may log in") };
    assert!(connections.admit(&beyond, 1, true), "the place beyond is still there");
    drop(administrators);
    assert_eq!(connections.count(), 2);
    let silent: Vec<_> =
        (0..=MOST_PENDING).map(|_| connections.enter_administrator("localhost".into(), None)).collect();
    assert!(
        silent[0].is_killed() && !silent[1].is_killed(),
        "those that say nothing make room for each other"
    );
}
