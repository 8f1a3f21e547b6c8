//! Functions that MySQL has and we do not.
//!
//! A statement that calls one is told that it is not supported yet, not that it does not exist: the names of
//! MySQL 8.4 and 9 that are built in. What only a component or plugin brings does not exist in a plain MySQL
//! either.

/// Built into MySQL and not implemented, in the order of their names.
#[rustfmt::skip]
const NOT_YET: &[&str] = &[
    "etag", "extractvalue", "from_vector", "geomcollection", "geometrycollection", "icu_version",
    "json_duality_object",
    "json_schema_valid", "json_schema_validation_report",
    "linestring", "load_file", "master_pos_wait", "mbrcontains", "mbrcoveredby", "mbrcovers",
    "mbrdisjoint", "mbrequals", "mbrintersects", "mbroverlaps", "mbrtouches", "mbrwithin",
    "multilinestring", "multipoint", "multipolygon", "name_const", "point", "polygon",
    "roles_graphml", "source_pos_wait", "st_area", "st_asbinary",
    "st_asgeojson", "st_astext", "st_aswkb", "st_aswkt", "st_buffer", "st_buffer_strategy", "st_centroid",
    "st_collect", "st_contains", "st_convexhull", "st_crosses", "st_difference", "st_dimension",
    "st_disjoint", "st_distance", "st_distance_sphere", "st_endpoint", "st_envelope", "st_equals",
    "st_exteriorring", "st_frechetdistance", "st_geohash", "st_geomcollfromtext", "st_geomcollfromtxt",
    "st_geomcollfromwkb", "st_geometrycollectionfromtext", "st_geometrycollectionfromwkb",
    "st_geometryfromtext", "st_geometryfromwkb", "st_geometryn", "st_geometrytype", "st_geomfromgeojson",
    "st_geomfromtext", "st_geomfromwkb", "st_hausdorffdistance", "st_interiorringn", "st_intersection",
    "st_intersects", "st_isclosed", "st_isempty", "st_issimple", "st_isvalid", "st_latfromgeohash",
    "st_latitude", "st_length", "st_linefromtext", "st_linefromwkb", "st_lineinterpolatepoint",
    "st_lineinterpolatepoints", "st_linestringfromtext", "st_linestringfromwkb", "st_longfromgeohash",
    "st_longitude", "st_makeenvelope", "st_mlinefromtext", "st_mlinefromwkb", "st_mpointfromtext",
    "st_mpointfromwkb", "st_mpolyfromtext", "st_mpolyfromwkb", "st_multilinestringfromtext",
    "st_multilinestringfromwkb", "st_multipointfromtext", "st_multipointfromwkb", "st_multipolygonfromtext",
    "st_multipolygonfromwkb", "st_numgeometries", "st_numinteriorring", "st_numinteriorrings",
    "st_numpoints", "st_overlaps", "st_pointatdistance", "st_pointfromgeohash", "st_pointfromtext",
    "st_pointfromwkb", "st_pointn", "st_polyfromtext", "st_polyfromwkb", "st_polygonfromtext",
    "st_polygonfromwkb", "st_simplify", "st_srid", "st_startpoint", "st_swapxy", "st_symdifference",
    "st_touches", "st_transform", "st_union", "st_validate", "st_within", "st_x", "st_y",
    "statement_digest", "statement_digest_text", "string_to_vector", "to_vector", "updatexml",
    "validate_password_strength", "vector_dim", "vector_to_string", "wait_for_executed_gtid_set",
];

/// MySQL's own views call them; everybody else is refused (3566).
#[rustfmt::skip]
const INTERNAL: &[&str] = &[
    "can_access_column", "can_access_database", "can_access_event", "can_access_resource_group",
    "can_access_routine", "can_access_table", "can_access_trigger", "can_access_user", "can_access_view",
    "convert_cpu_id_mask", "convert_interval_to_user_interval", "get_dd_column_privileges",
    "get_dd_create_options", "get_dd_index_private_data", "get_dd_index_sub_part_length",
    "get_dd_property_key_value", "get_dd_schema_options", "get_dd_tablespace_private_data",
    "internal_auto_increment", "internal_avg_row_length", "internal_check_time", "internal_checksum",
    "internal_data_free", "internal_data_length", "internal_dd_char_length",
    "internal_get_comment_or_error", "internal_get_dd_column_extra", "internal_get_enabled_role_json",
    "internal_get_hostname", "internal_get_mandatory_roles_json", "internal_get_partition_nodegroup",
    "internal_get_username", "internal_get_view_warning_or_error", "internal_index_column_cardinality",
    "internal_index_length", "internal_is_enabled_role", "internal_is_mandatory_role",
    "internal_keys_disabled", "internal_max_data_length", "internal_table_rows",
    "internal_tablespace_autoextend_size", "internal_tablespace_data_free",
    "internal_tablespace_extent_size", "internal_tablespace_extra", "internal_tablespace_free_extents",
    "internal_tablespace_id", "internal_tablespace_initial_size",
    "internal_tablespace_logfile_group_name", "internal_tablespace_logfile_group_number",
    "internal_tablespace_maximum_size", "internal_tablespace_row_format", "internal_tablespace_status",
    "internal_tablespace_total_extents", "internal_tablespace_type", "internal_tablespace_version",
    "internal_update_time", "internal_use_terminology_previous", "is_visible_dd_object",
    "remove_dd_property_key",
];

/// Whether MySQL has a function of that name, in lower case, which we lack.
pub fn is_not_yet(name: &str) -> bool {
    NOT_YET.binary_search(&name).is_ok()
}

/// Whether the function of that name, in lower case, is for MySQL's own use.
pub fn is_internal(name: &str) -> bool {
    INTERNAL.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::func::find;

    /// What MySQL 9.7 has: each name followed by `()` is not answered with 1305.
    #[rustfmt::skip]
    const BUILT_IN: &[&str] = &[
        "abs", "acos", "addtime", "aes_decrypt", "aes_encrypt", "any_value", "asin", "atan", "atan2",
        "benchmark", "bin", "bin_to_uuid", "bit_count", "bit_length", "can_access_column",
        "can_access_database", "can_access_event", "can_access_resource_group", "can_access_routine",
        "can_access_table", "can_access_trigger", "can_access_user", "can_access_view", "ceil", "ceiling",
        "char_length", "character_length", "coercibility", "compress", "concat", "concat_ws", "connection_id",
        "conv", "convert_cpu_id_mask", "convert_interval_to_user_interval", "convert_tz", "cos", "cot",
        "crc32", "curdate", "current_date", "current_role", "current_time", "current_timestamp",
        "current_user", "curtime", "database", "date_format", "datediff", "dayname", "dayofmonth",
        "dayofweek", "dayofyear", "degrees", "elt", "etag", "exp", "export_set", "extractvalue", "field",
        "find_in_set", "floor", "format_bytes", "format_pico_time", "found_rows", "from_base64", "from_days",
        "from_unixtime", "from_vector", "geomcollection", "geometrycollection", "get_dd_column_privileges",
        "get_dd_create_options", "get_dd_index_private_data", "get_dd_index_sub_part_length",
        "get_dd_property_key_value", "get_dd_schema_options", "get_dd_tablespace_private_data", "get_lock",
        "greatest", "gtid_subset", "gtid_subtract", "hex", "icu_version", "ifnull", "inet6_aton",
        "inet6_ntoa", "inet_aton", "inet_ntoa", "instr", "internal_auto_increment", "internal_avg_row_length",
        "internal_check_time", "internal_checksum", "internal_data_free", "internal_data_length",
        "internal_dd_char_length", "internal_get_comment_or_error", "internal_get_dd_column_extra",
        "internal_get_enabled_role_json", "internal_get_hostname", "internal_get_mandatory_roles_json",
        "internal_get_partition_nodegroup", "internal_get_username", "internal_get_view_warning_or_error",
        "internal_index_column_cardinality", "internal_index_length", "internal_is_enabled_role",
        "internal_is_mandatory_role", "internal_keys_disabled", "internal_max_data_length",
        "internal_table_rows", "internal_tablespace_autoextend_size", "internal_tablespace_data_free",
        "internal_tablespace_extent_size", "internal_tablespace_extra", "internal_tablespace_free_extents",
        "internal_tablespace_id", "internal_tablespace_initial_size",
        "internal_tablespace_logfile_group_name", "internal_tablespace_logfile_group_number",
        "internal_tablespace_maximum_size", "internal_tablespace_row_format", "internal_tablespace_status",
        "internal_tablespace_total_extents", "internal_tablespace_type", "internal_tablespace_version",
        "internal_update_time", "internal_use_terminology_previous", "is_free_lock", "is_ipv4",
        "is_ipv4_compat", "is_ipv4_mapped", "is_ipv6", "is_used_lock", "is_uuid", "is_visible_dd_object",
        "isnull", "json_array", "json_array_append", "json_array_insert", "json_contains",
        "json_contains_path", "json_depth", "json_extract", "json_insert", "json_keys", "json_length",
        "json_merge", "json_merge_patch", "json_merge_preserve", "json_object", "json_overlaps",
        "json_pretty", "json_quote", "json_remove", "json_replace", "json_schema_valid",
        "json_schema_validation_report", "json_search", "json_set", "json_storage_free", "json_storage_size",
        "json_type", "json_unquote", "json_valid", "last_day", "last_insert_id", "lcase", "least", "length",
        "ln", "load_file", "localtime", "localtimestamp", "locate", "log10", "log2", "lower", "lpad", "ltrim",
        "make_set", "makedate", "maketime", "master_pos_wait", "mbrcontains", "mbrcoveredby", "mbrcovers",
        "mbrdisjoint", "mbrequals", "mbrintersects", "mbroverlaps", "mbrtouches", "mbrwithin", "monthname",
        "name_const", "now", "nullif", "oct", "octet_length", "ord", "period_add", "period_diff", "pi", "pow",
        "power", "ps_current_thread_id", "ps_thread_id", "quote", "radians", "rand", "random_bytes",
        "regexp_instr", "regexp_like", "regexp_replace", "regexp_substr", "release_all_locks", "release_lock",
        "remove_dd_property_key", "roles_graphml", "round", "row_count", "rpad", "rtrim", "schema",
        "sec_to_time", "session_user", "sha2", "sign", "sin", "sleep", "soundex", "source_pos_wait", "space",
        "sqrt", "st_area", "st_asbinary", "st_asgeojson", "st_astext", "st_aswkb", "st_aswkt", "st_buffer",
        "st_buffer_strategy", "st_centroid", "st_contains", "st_convexhull", "st_crosses", "st_difference",
        "st_dimension", "st_disjoint", "st_distance", "st_distance_sphere", "st_endpoint", "st_envelope",
        "st_equals", "st_exteriorring", "st_frechetdistance", "st_geohash", "st_geomcollfromtext",
        "st_geomcollfromtxt", "st_geomcollfromwkb", "st_geometrycollectionfromtext",
        "st_geometrycollectionfromwkb", "st_geometryfromtext", "st_geometryfromwkb", "st_geometryn",
        "st_geometrytype", "st_geomfromgeojson", "st_geomfromtext", "st_geomfromwkb", "st_hausdorffdistance",
        "st_interiorringn", "st_intersection", "st_intersects", "st_isclosed", "st_isempty", "st_issimple",
        "st_isvalid", "st_latfromgeohash", "st_latitude", "st_length", "st_linefromtext", "st_linefromwkb",
        "st_lineinterpolatepoint", "st_lineinterpolatepoints", "st_linestringfromtext",
        "st_linestringfromwkb", "st_longfromgeohash", "st_longitude", "st_makeenvelope", "st_mlinefromtext",
        "st_mlinefromwkb", "st_mpointfromtext", "st_mpointfromwkb", "st_mpolyfromtext", "st_mpolyfromwkb",
        "st_multilinestringfromtext", "st_multilinestringfromwkb", "st_multipointfromtext",
        "st_multipointfromwkb", "st_multipolygonfromtext", "st_multipolygonfromwkb", "st_numgeometries",
        "st_numinteriorring", "st_numinteriorrings", "st_numpoints", "st_overlaps", "st_pointatdistance",
        "st_pointfromgeohash", "st_pointfromtext", "st_pointfromwkb", "st_pointn", "st_polyfromtext",
        "st_polyfromwkb", "st_polygonfromtext", "st_polygonfromwkb", "st_simplify", "st_srid",
        "st_startpoint", "st_swapxy", "st_symdifference", "st_touches", "st_transform", "st_union",
        "st_validate", "st_within", "st_x", "st_y", "statement_digest", "statement_digest_text",
        "str_to_date", "strcmp", "string_to_vector", "substring_index", "subtime", "sysdate", "system_user",
        "tan", "time_format", "time_to_sec", "timediff", "to_base64", "to_days", "to_seconds", "to_vector",
        "ucase", "uncompress", "uncompressed_length", "unhex", "unix_timestamp", "updatexml", "upper", "user",
        "utc_date", "utc_time", "utc_timestamp", "uuid", "uuid_short", "uuid_to_bin",
        "validate_password_strength", "vector_dim", "vector_to_string", "version", "version_with_update",
        "wait_for_executed_gtid_set", "weekday", "weekofyear", "yearweek",
    ];

    #[test]
    fn every_function_of_mysql_is_there_or_known_to_be_absent() {
        assert!(NOT_YET.is_sorted() && INTERNAL.is_sorted());
        for name in BUILT_IN {
            let states = [find(name).is_some(), is_not_yet(name), is_internal(name)];
            assert_eq!(states.into_iter().filter(|state| *state).count(), 1, "{name}: {states:?}");
        }
        for name in NOT_YET {
            assert!(find(name).is_none(), "{name} is there and said to be absent");
        }
        assert!(!is_not_yet("no_such_function") && !is_internal("no_such_function"));
    }
}
