use super::*;

fn run(arguments: &[&str]) -> Result<Options, String> {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    match parse(&arguments)? {
        Action::Run(options) => Ok(*options),
        other => panic!("{other:?}"),
    }
}

#[test]
fn dashes_underscores_sizes_and_flags() {
    let options = run(&[
        "--innodb-buffer_pool-size=1G",
        "--max_connections=2000",
        "--port",
        "3307",
        "--skip-name-resolve",
        "--disable-log-bin",
        "--skip-autocommit",
        "--innodb-doublewrite",
        "--innodb_flush_method=O_DIRECT",
        "-h/data",
        "--user=root",
    ])
    .unwrap();
    let settings = &options.settings;
    assert_eq!(settings.uint(sysvar::INNODB_BUFFER_POOL_SIZE), 1 << 30);
    assert_eq!(settings.uint(sysvar::MAX_CONNECTIONS), 2000);
    assert_eq!(settings.uint(sysvar::PORT), 3307);
    assert!(settings.bool(sysvar::SKIP_NAME_RESOLVE));
    assert!(!settings.bool(sysvar::AUTOCOMMIT));
    assert_eq!(settings.enumerated(sysvar::INNODB_DOUBLEWRITE), 1);
    assert_eq!(settings.text(sysvar::DATADIR), Some("/data"));
    assert_eq!(options.warnings, [""; 0]);
}

#[test]
fn who_lets_everyone_in_is_not_reached_over_the_network() {
    let is_local = |arguments: &[&str]| run(arguments).unwrap().settings.bool(sysvar::SKIP_NETWORKING);
    assert!(!is_local(&[]));
    assert!(is_local(&["--skip-grant-tables"]));
    assert!(!is_local(&["--skip-grant-tables", "--skip-networking=OFF"]));
    assert!(!is_local(&["--skip-grant-tables=OFF"]));
}

#[test]
fn the_size_of_log_files_gives_the_logs_capacity_unless_that_is_given() {
    let capacity = |arguments: &[&str]| {
        let options = run(arguments).unwrap();
        (options.settings.uint(sysvar::INNODB_REDO_LOG_CAPACITY) >> 20, options.warnings.len())
    };
    assert_eq!(capacity(&[]), (100, 0));
    assert_eq!(capacity(&["--innodb-log-file-size=64M"]), (128, 1));
    assert_eq!(capacity(&["--innodb-log-files-in-group=3"]), (144, 1));
    assert_eq!(capacity(&["--innodb-log-file-size=1G", "--innodb-log-files-in-group=4"]), (4096, 1));
    assert_eq!(capacity(&["--innodb-log-file-size=512G", "--innodb-log-files-in-group=100"]), (512 << 10, 1));
    assert_eq!(capacity(&["--innodb-log-file-size=1G", "--innodb-redo-log-capacity=32M"]), (32, 1));
}

#[test]
fn the_most_pages_a_second_are_twice_those_when_idle_unless_that_is_given() {
    let pages = |arguments: &[&str]| {
        let options = run(arguments).unwrap();
        let uint = |id| options.settings.uint(id);
        (uint(sysvar::INNODB_IO_CAPACITY), uint(sysvar::INNODB_IO_CAPACITY_MAX), options.warnings.len())
    };
    assert_eq!(pages(&[]), (10_000, 20_000, 0));
    assert_eq!(pages(&["--innodb-io-capacity=200"]), (200, 2000, 0));
    assert_eq!(pages(&["--innodb-io-capacity=30000"]), (30_000, 60_000, 0));
    assert_eq!(pages(&["--innodb-io-capacity=4294967295"]), (4_294_967_295, 4_294_967_295, 0));
    assert_eq!(pages(&["--innodb-io-capacity-max=50000"]), (10_000, 50_000, 0));
    assert_eq!(pages(&["--innodb-io-capacity=300", "--innodb-io-capacity-max=200"]), (200, 200, 1));
}

#[test]
fn an_unknown_option_is_an_error_unless_loose() {
    assert_eq!(run(&["--nonsense=1"]).unwrap_err(), "command line: unknown variable 'nonsense=1'");
    assert_eq!(run(&["--nonsense"]).unwrap_err(), "command line: unknown option '--nonsense'");
    assert_eq!(run(&["nonsense"]).unwrap_err(), "unknown argument 'nonsense'");
    let options = run(&["--loose-nonsense=1", "--loose_max_connections=7"]).unwrap();
    assert_eq!(options.warnings, ["command line: unknown variable 'nonsense=1'; ignored"]);
    assert_eq!(options.settings.uint(sysvar::MAX_CONNECTIONS), 7);
}

#[test]
fn a_bad_value_is_an_error_and_one_out_of_range_a_warning() {
    assert!(run(&["--max-connections=many"]).unwrap_err().contains("max_connections"));
    assert!(run(&["--port"]).unwrap_err().contains("requires a value"));
    assert!(run(&["--version=1"]).is_err());
    assert!(run(&["--character-set-server=klingon"]).unwrap_err().contains("Unknown character set"));
    let options = run(&["--max-connections=0"]).unwrap();
    assert_eq!(options.warnings, ["Truncated incorrect max_connections value: '0'; using 1"]);
}

#[test]
fn a_character_set_brings_its_collation() {
    let options = run(&["--character-set-server=latin1"]).unwrap();
    assert_eq!(options.settings.text(sysvar::COLLATION_SERVER), Some("latin1_swedish_ci"));
    let options = run(&["--character-set-server=latin1", "--collation-server=UTF8MB4_BIN"]).unwrap();
    assert_eq!(options.settings.text(sysvar::CHARACTER_SET_SERVER), Some("utf8mb4"));
    assert_eq!(options.settings.text(sysvar::COLLATION_SERVER), Some("utf8mb4_bin"));
}

#[test]
fn files_come_before_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("my.cnf");
    std::fs::write(&file, "[mysqld]\nmax-connections=5\nport=1\nloose_log_bin=mysql-bin\n[client]\nport=9\n")
        .unwrap();
    let defaults = format!("--defaults-file={}", file.display());
    let options = run(&[&defaults, "--port=2"]).unwrap();
    assert_eq!(options.settings.uint(sysvar::MAX_CONNECTIONS), 5);
    assert_eq!(options.settings.uint(sysvar::PORT), 2);
    std::fs::write(&file, "[mysqld]\nwhat=5\n").unwrap();
    assert!(run(&[&defaults]).unwrap_err().ends_with("my.cnf:2: unknown variable 'what=5'"));
}

#[test]
fn what_the_server_would_not_do_is_refused() {
    for option in [
        "--partial-revokes",
        "--default-table-encryption=ON",
        "--event-scheduler=ON",
        "--gtid-mode=ON",
        "--mandatory-roles=a",
        "--innodb-read-only",
        "--lower-case-table-names=1",
        "--connection-memory-status-limit=100M",
    ] {
        let problem = run(&[option]).unwrap_err();
        assert!(problem.contains("is not supported yet"), "{option}: {problem}");
    }
    for option in [
        "--log-bin=OFF",
        "--skip-log-bin",
        "--partial-revokes=0",
        "--event-scheduler=DISABLED",
        "--event-scheduler=0",
        "--mandatory-roles=",
        "--ssl-cert=own.pem",
    ] {
        assert_eq!(run(&[option]).unwrap().warnings, [""; 0], "{option}");
    }
    assert_eq!(run(&["--loose-log-bin=b"]).unwrap().warnings.len(), 1);
}

#[test]
fn the_time_zone_has_an_option_of_another_name() {
    let zone = |options: Options| options.settings.text(sysvar::TIME_ZONE).map(str::to_owned);
    assert_eq!(run(&["--default-time-zone=+02:00"]).map(zone), Ok(Some("+02:00".to_owned())));
    assert_eq!(run(&["--default_time_zone=Europe/Berlin"]).map(zone), Ok(Some("Europe/Berlin".to_owned())));
    assert!(run(&["--default-time-zone=Moon/Copernicus"]).unwrap_err().contains("time zone"));
}

#[test]
fn help_lists_every_variable_with_default_and_unit() {
    assert!(matches!(parse(&["--help".to_owned()]), Ok(Action::Help)));
    let help = help();
    for id in VariableId::all() {
        assert!(help.contains(&format!("  --{}\n", id.declaration().name.replace('_', "-"))));
    }
    assert!(help.contains("Default: 134217728 bytes."));
}

#[test]
fn the_document_of_variables_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/variables.md");
    let document = variables_document();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == document, "run this test with UPDATE_EXPECT=1 to write {} again", path.display());
}

/// The settings of option files for a benchmark of old: what is gone is named in warnings, what is left
/// holds.
#[test]
fn an_option_file_that_has_grown_for_years_starts_the_server() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/options/grown.cnf");
    let options = run(&[&format!("--defaults-file={file}")]).unwrap();
    let warned = |name: &str| options.warnings.iter().filter(|warning| warning.contains(name)).count();
    for name in ["log_bin", "innodb_file_format'", "innodb_checksums", "query_cache_size", "expire_logs_days"]
    {
        assert_eq!(warned(name), 1, "{name}: {:#?}", options.warnings);
    }
    assert_eq!(warned("innodb_undo_logs"), 0, "it is innodb_rollback_segments");
    let idle = options.warnings.iter().find(|warning| warning.starts_with("without effect here: ")).unwrap();
    assert!(idle.contains("innodb_buffer_pool_instances") && idle.contains("table_open_cache"), "{idle}");
    for name in ["innodb_old_blocks_time", "innodb_page_cleaners"] {
        assert!(!idle.contains(name), "it is the default, or has an effect: {idle}");
    }
    let settings = &options.settings;
    assert!(!settings.bool(sysvar::LOG_BIN), "there is none");
    assert_eq!(settings.uint(sysvar::INNODB_BUFFER_POOL_SIZE), 256 << 20);
    assert_eq!(settings.uint(sysvar::INNODB_REDO_LOG_CAPACITY), 256 << 20);
    assert_eq!(settings.uint(sysvar::INNODB_ADAPTIVE_HASH_INDEX_PARTS), 8);
    assert_eq!(settings.uint(sysvar::INNODB_ROLLBACK_SEGMENTS), 100);
    assert_eq!(settings.uint(sysvar::INNODB_PAGE_CLEANERS), 8);
}

#[test]
fn a_former_name_sets_the_variable_of_today() {
    assert_eq!(run(&["--table_cache=77"]).unwrap().settings.uint(sysvar::TABLE_OPEN_CACHE), 77);
    let options = run(&["--tx-isolation=READ-COMMITTED"]).unwrap();
    let isolation = sysvar::TRANSACTION_ISOLATION;
    assert_eq!(isolation.declaration().shown(options.settings.get(isolation)), "READ-COMMITTED");
    assert_eq!(options.warnings, [""; 0]);
    assert!(run(&["--log-bin=OFF"]).unwrap().warnings.is_empty());
    assert_eq!(run(&["--skip-query-cache-size"]).unwrap().warnings.len(), 1);
}

#[test]
fn what_is_collected_from_the_start_is_an_option() {
    let instrument = "--performance-schema-instrument";
    let options = run(&[
        &format!("{instrument}=statement/%=COUNTED"),
        instrument,
        "transaction=OFF",
        "--performance-schema-consumer-events-statements-history-long",
        "--skip-performance-schema-consumer-statements-digest",
    ])
    .unwrap();
    assert_eq!((options.collected.len(), options.warnings.len()), (4, 0), "{:#?}", options.warnings);
    let wrong =
        run(&[&format!("{instrument}=x"), "--performance-schema-consumer-events-statements-cpu"]).unwrap();
    assert_eq!((wrong.collected.len(), wrong.warnings.len()), (1, 1), "{:#?}", wrong.warnings);
    assert!(run(&["--performance-schema-consumer-nosuch=ON"]).is_err());
}
