use super::*;
use crate::sysvar_catalogue::*;

fn assign(name: &str, given: Given<'_>) -> Result<Assigned, MysqlError> {
    VariableId::named(name)?.declaration().assign(given)
}

#[test]
fn the_catalogue_is_by_name_and_documented() {
    for pair in VARIABLES.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} is out of order", pair[1].name);
    }
    for variable in VARIABLES {
        assert!(!variable.doc.is_empty() && variable.doc.ends_with('.'), "{}", variable.name);
        let shown = variable.shown(&variable.default_setting());
        if !matches!(variable.kind, Kind::Text(_)) {
            let again = variable.from_option(&shown).unwrap();
            assert_eq!(
                again,
                Assigned { setting: variable.default_setting(), warning: None },
                "{}",
                variable.name
            );
        }
    }
}

#[test]
fn names_are_found_in_any_case() {
    assert_eq!(VariableId::named("Max_Connections"), Ok(MAX_CONNECTIONS));
    let error = VariableId::named("nonsense").unwrap_err();
    assert_eq!((error.number(), error.message.as_str()), (1193, "Unknown system variable 'nonsense'"));
}

#[test]
fn options_take_sizes_and_words() {
    let option = |name, text| VariableId::named(name).unwrap().declaration().from_option(text);
    assert_eq!(option("max_allowed_packet", "64M").unwrap().setting, Setting::UInt(64 << 20));
    assert_eq!(option("innodb_buffer_pool_size", "1g").unwrap().setting, Setting::UInt(1 << 30));
    assert_eq!(option("autocommit", "off").unwrap().setting, Setting::Bool(false));
    assert_eq!(option("innodb_doublewrite", "0").unwrap().setting, Setting::Enum(0));
    assert_eq!(option("transaction_isolation", "read-committed").unwrap().setting, Setting::Enum(1));
    let moved = option("max_connections", "0").unwrap();
    assert_eq!(moved.setting, Setting::UInt(1));
    assert_eq!(moved.warning.unwrap().message, "Truncated incorrect max_connections value: '0'");
    assert!(option("max_connections", "many").is_err());
    assert!(option("max_connections", "99999999999999999999E").is_err());
    assert!(option("autocommit", "maybe").is_err());
}

#[test]
fn set_follows_mysqls_rules() {
    assert_eq!(assign("autocommit", Given::Int(0)).unwrap().setting, Setting::Bool(false));
    assert_eq!(assign("autocommit", Given::Int(7)).unwrap_err().number(), 1231);
    assert_eq!(
        assign("autocommit", Given::Text("x")).unwrap_err().message,
        "Variable 'autocommit' can't be set to the value of 'x'"
    );
    assert_eq!(assign("wait_timeout", Given::Text("5")).unwrap_err().number(), 1232);
    assert_eq!(assign("wait_timeout", Given::Int(-1)).unwrap().setting, Setting::UInt(1));
    assert_eq!(
        assign("wait_timeout", Given::Int(-1)).unwrap().warning.unwrap().message,
        "Truncated incorrect wait_timeout value: '-1'"
    );
    assert_eq!(assign("character_set_results", Given::Null).unwrap().setting, Setting::Null);
    assert_eq!(assign("timestamp", Given::Double(1.5)).unwrap().setting, Setting::Double(1.5));
    assert_eq!(assign("innodb_flush_log_at_trx_commit", Given::Int(5)).unwrap().setting, Setting::UInt(2));
    assert_eq!(
        SQL_MODE
            .declaration()
            .shown(&assign("sql_mode", Given::Text("ansi,STRICT_ALL_TABLES")).unwrap().setting),
        "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI,STRICT_ALL_TABLES"
    );
    assert_eq!(
        assign("sql_mode", Given::Text("ANSI,NOPE")).unwrap_err().message,
        "Variable 'sql_mode' can't be set to the value of 'NOPE'"
    );
}

#[test]
fn values_between_steps_are_made_smaller_with_a_warning() {
    for (value, stored, is_moved) in [
        (1 << 20, 1 << 20, false),
        (300_000, 299_008, true),
        (1, 262_144, true),
        ((4 << 30) - 1024, (4 << 30) - 1024, false),
        ((4 << 30) - 1, (4 << 30) - 1024, true),
        (1 << 40, (4 << 30) - 1024, true),
    ] {
        let assigned = assign("innodb_log_buffer_size", Given::Int(value)).unwrap();
        assert_eq!(assigned.setting, Setting::UInt(stored));
        let warning = assigned.warning.map(|warning| warning.message);
        let text = format!("Truncated incorrect innodb_log_buffer_size value: '{value}'");
        assert_eq!(warning, is_moved.then_some(text));
    }
}

#[test]
fn scopes_are_kept_apart() {
    let check =
        |id: VariableId, place| id.declaration().check_settable(place).map_err(|error| error.number());
    assert_eq!(check(MAX_CONNECTIONS, Place::Session), Err(1229));
    assert_eq!(check(TIMESTAMP, Place::Global), Err(1228));
    assert_eq!(check(VERSION, Place::Global), Err(1238));
    assert_eq!(check(SQL_MODE, Place::Global), Ok(()));
    assert_eq!(MAX_CONNECTIONS.declaration().check_readable(Place::Session).unwrap_err().number(), 1238);
}

#[test]
fn a_session_keeps_its_own_values_beside_the_global_ones() {
    let mut session = SessionSettings::new(Arc::new(Settings::default()));
    assert!(session.bool(AUTOCOMMIT));
    session.set(AUTOCOMMIT, Setting::Bool(false));
    assert!(!session.bool(AUTOCOMMIT));
    assert_eq!(session.uint(WAIT_TIMEOUT), 28800);
    session.reset(Arc::new(Settings::default()));
    assert!(session.bool(AUTOCOMMIT));
}

#[test]
fn every_variable_of_mysql_is_known() {
    let names = include_str!("mysql_names.txt");
    let unknown: Vec<&str> = names.lines().filter(|name| VariableId::find(name).is_none()).collect();
    assert_eq!(unknown, [""; 0]);
    assert!(names.lines().count() > 620);
}

#[test]
fn what_is_not_done_is_refused() {
    let declared = |id: VariableId| id.declaration();
    let (on, off) = (Setting::Bool(true), Setting::Bool(false));
    let error = declared(PARTIAL_REVOKES).check_taken(&on).unwrap_err();
    assert_eq!((error.number(), error.message.contains("partial_revokes=ON")), (1235, true));
    assert_eq!(declared(PARTIAL_REVOKES).check_taken(&off), Ok(()));
    let list = Setting::Text("a.pem".into());
    assert_eq!(declared(SSL_CERT).check_taken(&list), Ok(()));
    assert_eq!(declared(SSL_CRL).check_taken(&list).unwrap_err().number(), 1235);
    assert_eq!(declared(SSL_CRL).check_taken(&Setting::Text("".into())), Ok(()));
    for variable in VARIABLES {
        let default = variable.default_setting();
        assert_eq!(variable.check_taken(&default), Ok(()), "{}", variable.name);
    }
}

#[test]
fn lists_of_restricted_variables_are_by_name_and_of_variables() {
    for list in [SESSION_NEEDS_ADMIN, SESSION_NEEDS_SUPER, SESSION_NEEDS_APPLIER, SESSION_READ_ONLY] {
        assert!(list.is_sorted());
        for name in list {
            let variable = VariableId::named(name).unwrap().declaration();
            assert!(
                variable.scope != Scope::Global && variable.session_rule() != SessionRule::Free,
                "{name}"
            );
        }
    }
}

#[test]
fn switches_are_changed_by_name() {
    const ALL: &str = "a=on,b=off,b_c=on";
    let check = |changes| switches::check(ALL, changes);
    for list in ["", "a=off", "default", "default,b=on", "B=Default,b_c=of", "a =on"] {
        assert_eq!(check(list), Ok(()), "{list}");
    }
    for (list, rest) in [
        ("x=on", "x=on"),
        ("a=on,b", "b"),
        ("a=on,a=off", "a=off"),
        ("a=on, b=on", " b=on"),
        ("a=on,", ""),
        ("b_=on,a=on", "b_=on,a=on"),
        ("a=o", "a=o"),
        ("a=1", "a=1"),
    ] {
        assert_eq!(check(list), Err(rest), "{list}");
    }
    let merged = |changes| switches::merged(changes, "a=off,b=off,b_c=off", "a=on,b=on,b_c=on");
    assert_eq!(merged("B=of,b_c=default"), "a=off,b=off,b_c=on");
    assert_eq!(merged("default,b=off"), "a=on,b=off,b_c=on");
    assert_eq!(switches::of_bits(ALL, 5).as_deref(), Some("a=on,b=off,b_c=on"));
    assert_eq!(switches::of_bits(ALL, 16), None);
}
