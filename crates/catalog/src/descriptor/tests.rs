//! Random descriptors there and back, damaged ones, and definitions that contradict themselves.

use palisade_base::prng::{Prng, test_seed};

use super::*;
use crate::histogram::{HistogramBuilder, Specification, data_type};
use crate::testing::{random_row, random_table};
use crate::value::ValueRef;

fn random_def(prng: &mut Prng) -> TableDef {
    let mut def = random_table(prng);
    let values = random_row(prng, &def);
    for (column, value) in def.columns.iter_mut().zip(values) {
        column.default = match prng.below(5) {
            0 => DefaultValue::None,
            1 => DefaultValue::CurrentTimestamp,
            2 => DefaultValue::Expression("uuid()".into()),
            3 => DefaultValue::Removed,
            _ => DefaultValue::Literal(value.clone()),
        };
        column.instant_default = value;
        column.comment = "a column".into();
        column.display_width = prng.one_in(2).then_some(11);
    }
    def.id = prng.next_u64();
    let number = |prng: &mut Prng| 1 + prng.below(u64::from(u32::MAX));
    let names = prng.below(3);
    for at in 0..prng.below(4) {
        let named = match names {
            0 => PartitionDef::default(),
            1 => PartitionDef { comment: "a part".into(), ..PartitionDef::named(format!("p{at}")) },
            _ => PartitionDef {
                options: vec![("MAX_ROWS".into(), "7".into())],
                ..PartitionDef::subpartition_of("p", format!("s{at}"))
            },
        };
        def.partitions.push(PartitionDef { space: SpaceId(number(prng) as u32), ..named });
        for index in &mut def.indexes {
            index.trees.push(IndexTree { id: number(prng), root: PageNo(number(prng) as u32) });
        }
    }
    def.created_us = -1;
    def.options.push(("ROW_FORMAT".into(), "COMPRESSED".into()));
    def.checks.push(Check { name: "c".into(), expression: "a > 0".into(), enforced: true });
    def.foreign_keys.push(ForeignKey {
        name: "f".into(),
        columns: vec![0],
        referenced_schema: "s".into(),
        referenced_table: "u".into(),
        referenced_columns: vec!["id".into()],
        on_delete: "CASCADE".into(),
        on_update: String::new(),
    });
    def.engine_data = vec![1, 2, 3];
    def
}

/// The same with one partition, as all tables had before version 4.
fn of_one_partition(prng: &mut Prng) -> TableDef {
    loop {
        let def = random_def(prng);
        if def.partitions.len() == 1 && def.partitions[0].name.is_empty() {
            return def;
        }
    }
}

#[test]
fn descriptors_round_trip() {
    let mut prng = Prng::new(test_seed(60));
    for _ in 0..300 {
        let def = random_def(&mut prng);
        let bytes = def.to_bytes();
        assert_eq!(TableDef::from_bytes(&bytes).as_ref(), Ok(&def));
        assert!(Table::new(def).is_ok());
    }
    let schema = Schema { name: "größe".into(), collation: CollationId::LATIN1_SWEDISH_CI };
    assert_eq!(Schema::from_bytes(&schema.to_bytes()), Ok(schema));
}

#[test]
fn flags_of_version_2_are_off_in_what_version_1_wrote() {
    let mut prng = Prng::new(test_seed(62));
    let mut def = of_one_partition(&mut prng);
    def.indexes.push(Index { implicit: true, ..Index::new("f", vec![IndexPart::of(0)]) });
    def.columns[0].names_collation = true;
    assert_eq!(TableDef::from_bytes(&def.to_bytes()).as_ref(), Ok(&def));

    def.columns[0].names_collation = false;
    def.indexes.last_mut().unwrap().implicit = false;
    let mut bytes = def.to_bytes();
    assert_eq!(bytes[0], binary::UNPARTITIONED);
    // Version 1 had a byte for each flag: 0 or 1, as the others of its byte are off.
    bytes[0] = 1;
    for column in &mut def.columns {
        if let Some(collation) = column.sql_type.collation_mut() {
            *collation = collation.as_before_version_3();
        }
    }
    assert_eq!(TableDef::from_bytes(&bytes), Ok(def));
}

#[test]
fn collations_of_version_2_keep_the_order_of_their_indexes() {
    let mut prng = Prng::new(test_seed(63));
    let mut def = of_one_partition(&mut prng);
    def.columns[0].sql_type = SqlType::VarChar { length: 9, collation: CollationId::UTF8MB4_UNICODE_CI };
    let mut bytes = def.to_bytes();
    let collation = |bytes: &[u8]| TableDef::from_bytes(bytes).unwrap().columns[0].sql_type.collation();
    assert_eq!(collation(&bytes), CollationId::UTF8MB4_UNICODE_CI);
    bytes[0] = 2;
    let before = collation(&bytes);
    assert_ne!(before, CollationId::UTF8MB4_UNICODE_CI);
    assert_eq!((before.get().name, before.wire_number()), ("utf8mb4_unicode_ci", 224));
    assert!(before.get().compare("한".as_bytes(), "\u{1112}\u{1161}\u{11ab}".as_bytes()).is_eq());
    // Written again it stays what it is.
    let again = TableDef::from_bytes(&bytes).unwrap().to_bytes();
    assert_eq!((again[0], collation(&again)), (binary::UNPARTITIONED, before));
}

#[test]
fn a_partition_has_a_tree_of_each_index() {
    let mut prng = Prng::new(test_seed(64));
    let mut def = of_one_partition(&mut prng);
    def.partitions.push(PartitionDef::sole(SpaceId(9)));
    assert!(matches!(Table::new(def.clone()), Err(DescriptorError::Inconsistent(_))));
    assert!(matches!(TableDef::from_bytes(&def.to_bytes()), Err(DescriptorError::Damaged(_))));
    for index in &mut def.indexes {
        index.trees.push(IndexTree { id: 7, root: PageNo(3) });
    }
    assert_eq!(TableDef::from_bytes(&def.to_bytes()).as_ref(), Ok(&def));
    assert_eq!(def.to_bytes()[0], binary::PARTITIONED);
    // A first partition without its space or a tree, or a later one, is damage: written again they would
    // differ.
    let breaks: [fn(&mut TableDef); 4] = [
        |def| def.partitions[0].space = SpaceId(0),
        |def| def.indexes[0].trees[0].id = 0,
        |def| def.partitions[1].space = SpaceId(0),
        |def| def.indexes[0].trees[1].id = 0,
    ];
    for damage in breaks {
        let mut damaged = def.clone();
        damage(&mut damaged);
        assert!(matches!(TableDef::from_bytes(&damaged.to_bytes()), Err(DescriptorError::Damaged(_))));
    }
    // Names bring a version that a server from before does not read.
    def.partitions[1].name = "p1".into();
    assert_eq!(TableDef::from_bytes(&def.to_bytes()).as_ref(), Ok(&def));
    assert_eq!(def.to_bytes()[0], binary::FORMAT_VERSION);
    // An index that is to be built has no tree yet.
    def.indexes.push(Index::new("new", vec![IndexPart::of(0)]));
    assert!(Table::new(def).is_ok());
}

#[test]
fn histograms_are_kept_with_their_columns() {
    let mut prng = Prng::new(test_seed(65));
    let mut def = of_one_partition(&mut prng);
    let before = def.to_bytes();
    let place = def.columns.iter().position(|column| data_type(&column.sql_type).is_some()).unwrap();
    let mut builder = HistogramBuilder::new(SqlType::INT, 1 << 20, 7);
    (0..500).for_each(|number| builder.add(ValueRef::Int(number * number)));
    let specification = Specification { buckets: 9, auto_update: true, now_us: 77 };
    def.columns[place].histogram = Some(Arc::new(builder.finish(specification, 0.25)));
    let bytes = def.to_bytes();
    assert_eq!(bytes[0], binary::MEASURED);
    assert_eq!(TableDef::from_bytes(&bytes).as_ref(), Ok(&def));
    for length in 0..bytes.len() {
        assert!(TableDef::from_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    // Without one it is what servers of version 3 read.
    def.columns[place].histogram = None;
    assert_eq!(def.to_bytes(), before);
}

#[test]
fn versions_of_rows_are_kept() {
    let mut prng = Prng::new(test_seed(67));
    let mut def = of_one_partition(&mut prng);
    let before = def.to_bytes();
    let ordinals = def.next_ordinal();
    let mut column = Column::new("late", SqlType::INT, ordinals);
    column.instant_default = Value::Int(5);
    def.columns.insert(0, column);
    def.indexes.iter_mut().flat_map(|index| &mut index.parts).for_each(|part| part.column += 1);
    def.add_row_version(ordinals);
    let gone = def.columns.remove(0);
    def.indexes.iter_mut().flat_map(|index| &mut index.parts).for_each(|part| part.column -= 1);
    def.dropped.push(DroppedColumn { ordinal: ordinals, sql_type: gone.sql_type.clone() });
    def.add_row_version(ordinals + 1);
    assert_eq!(def.versions, RowVersions { count: 2, ordinals });
    assert_eq!(def.next_ordinal(), ordinals + 1, "the ordinal of a dropped column is not given again");
    assert!(def.is_added_to_rows(&gone) && !def.columns.iter().any(|column| def.is_added_to_rows(column)));
    let bytes = def.to_bytes();
    assert_eq!(bytes[0], binary::VERSIONED);
    assert_eq!(TableDef::from_bytes(&bytes).as_ref(), Ok(&def));
    for length in 0..bytes.len() {
        assert!(TableDef::from_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let many = RowVersions { count: MAX_ROW_VERSIONS + 1, ordinals };
    assert!(Table::new(TableDef { versions: many, ..def.clone() }).is_err());
    // Written anew, it is what servers of version 3 read.
    def.forget_row_versions();
    def.columns.iter_mut().zip(TableDef::from_bytes(&before).unwrap().columns).for_each(|(column, was)| {
        column.ordinal = was.ordinal;
        column.instant_default = was.instant_default;
    });
    assert_eq!(def.to_bytes(), before);
}

#[test]
fn a_view_reads_back_and_damage_is_an_error() {
    let view = ViewDef {
        schema: "größe".into(),
        name: "v".into(),
        query: "select `größe`.`t`.`a` AS `a` from `größe`.`t`".into(),
        tables: vec![("größe".into(), "t".into())],
        is_local: true,
        columns: vec!["a".into(), "ß".into()],
        lists_columns: true,
        algorithm: ViewAlgorithm::TempTable,
        check: ViewCheck::Local,
        is_updatable: false,
        definer: "u@%".into(),
        is_invokers: true,
        client_collation: CollationId::LATIN1_SWEDISH_CI,
        connection_collation: CollationId::UTF8MB4_0900_AI_CI,
        created_us: -7,
    };
    let bytes = view.to_bytes();
    assert_eq!(ViewDef::from_bytes(&bytes).as_ref(), Ok(&view));
    assert_eq!(view.definer_parts(), ("u", "%"));
    for length in 0..bytes.len() {
        assert!(ViewDef::from_bytes(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let later = [&[bytes[0] + 1], &bytes[1..]].concat();
    assert!(matches!(ViewDef::from_bytes(&later), Err(DescriptorError::UnknownVersion(_))));
    let mut prng = Prng::new(test_seed(66));
    for _ in 0..2000 {
        let mut bytes = bytes.clone();
        let at = prng.below(bytes.len() as u64) as usize;
        bytes[at] = prng.next_u64() as u8;
        let _ = ViewDef::from_bytes(&bytes);
    }
}

#[test]
fn garbage_is_an_error_and_never_a_panic() {
    let mut prng = Prng::new(test_seed(61));
    for _ in 0..4000 {
        let mut bytes = random_def(&mut prng).to_bytes();
        match prng.below(3) {
            0 => bytes.truncate(prng.below(bytes.len() as u64) as usize),
            1 => prng.fill(&mut bytes[1..]),
            _ => {
                for _ in 0..1 + prng.below(3) {
                    let at = prng.below(bytes.len() as u64) as usize;
                    bytes[at] = prng.next_u64() as u8;
                }
            }
        }
        if let Ok(def) = TableDef::from_bytes(&bytes) {
            let _ = Table::new(def);
        }
    }
    assert_eq!(TableDef::from_bytes(&[]), Err(DescriptorError::Damaged("it ends early")));
    assert_eq!(TableDef::from_bytes(&[200]), Err(DescriptorError::UnknownVersion(200)));
}

#[test]
fn the_clustered_index_is_chosen_as_innodb_does() {
    let columns = vec![Column::new("a", SqlType::INT, 0), Column::new("b", SqlType::INT, 1).not_null()];
    let mut def = TableDef { columns, ..TableDef::default() };
    let unique = |name: &str, column| Index { unique: true, ..Index::new(name, vec![IndexPart::of(column)]) };
    def.indexes = vec![unique("u1", 0), Index::new("k", vec![IndexPart::of(1)]), unique("u2", 1)];
    let mut chosen = def.clone();
    chosen.choose_clustered_index();
    let names = |def: &TableDef| def.indexes.iter().map(|index| index.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&chosen), ["u2", "u1", "k"]);
    assert!(Table::new(chosen).is_ok());
    def.indexes.pop();
    def.choose_clustered_index();
    assert_eq!(names(&def), [GENERATED_CLUSTERED_INDEX, "u1", "k"]);
    assert_eq!(def.row_id_column(), Some(2));
    assert!(Table::new(def).is_ok());
}

#[test]
fn contradictions_are_refused() {
    let columns = vec![Column::new("a", SqlType::INT, 0).not_null(), Column::new("b", SqlType::Json, 1)];
    let indexes = vec![Index::primary(vec![IndexPart::of(0)])];
    let sound = TableDef { columns, indexes, ..TableDef::default() };
    assert!(Table::new(sound.clone()).is_ok());
    let refused = |change: fn(&mut TableDef)| {
        let mut def = sound.clone();
        change(&mut def);
        assert!(matches!(Table::new(def), Err(DescriptorError::Inconsistent(_))));
    };
    refused(|def| def.columns[1].ordinal = Some(0));
    refused(|def| def.columns[1].ordinal = Some(9));
    refused(|def| def.columns[1].ordinal = None);
    refused(|def| def.columns[0].nullable = true);
    refused(|def| def.columns[0].instant_default = Value::bytes("x"));
    refused(|def| def.indexes.clear());
    refused(|def| def.indexes[0].parts[0].column = 7);
    refused(|def| def.indexes[0].parts[0].prefix = Some(3));
    refused(|def| def.indexes[0].unique = false);
    refused(|def| def.indexes.push(Index::new("j", vec![IndexPart::of(1)])));
    refused(|def| def.indexes.push(Index::new("j", vec![IndexPart::of(0), IndexPart::of(0)])));
    refused(|def| {
        def.foreign_keys.push(ForeignKey {
            name: "f".into(),
            columns: vec![0, 2],
            referenced_schema: "s".into(),
            referenced_table: "u".into(),
            referenced_columns: vec!["a".into(), "b".into()],
            on_delete: String::new(),
            on_update: String::new(),
        })
    });
}

#[test]
fn names_are_found_without_regard_to_case() {
    let def = TableDef { columns: vec![Column::new("Größe", SqlType::INT, 0)], ..TableDef::default() };
    assert_eq!(def.column_index("GRÖßE"), Some(0));
    assert_eq!(def.column_index("grosse"), None);
}

#[test]
fn widths_are_shown_where_mysql_shows_them() {
    let width = crate::types::IntWidth::Tiny;
    let mut column = Column::new("c", SqlType::Int { width, unsigned: false }, 0);
    column.display_width = Some(4);
    assert_eq!(column.type_text(), "tinyint");
    column.display_width = Some(1);
    assert_eq!(column.type_text(), "tinyint(1)");
    let mut padded = Column::new("c", SqlType::Int { width: crate::types::IntWidth::Int, unsigned: true }, 0);
    padded.zerofill = true;
    assert_eq!(padded.type_text(), "int(10) unsigned zerofill");
}
