//! Which variables SET PERSIST can keep beyond the end of the server: all but those that say where the data
//! are, how the server is reached, or what it is. Those have to be known before the file of the others can be
//! read, or would be taken from one machine to another with it.

use super::Variable;

impl Variable {
    /// Whether SET PERSIST and SET PERSIST_ONLY take it, as in MySQL.
    pub fn is_persistable(&self) -> bool {
        NOT_PERSISTABLE.binary_search(&self.name).is_err()
    }
}

/// Variables that are not, by name.
const NOT_PERSISTABLE: &[&str] = &[
    "admin_address",
    "admin_port",
    "auto_generate_certs",
    "basedir",
    "bind_address",
    "build_id",
    "caching_sha2_password_auto_generate_rsa_keys",
    "caching_sha2_password_private_key_path",
    "caching_sha2_password_public_key_path",
    "character_set_system",
    "character_sets_dir",
    "container_aware",
    "core_file",
    "create_admin_listener_thread",
    "datadir",
    "ft_stopword_file",
    "gtid_executed",
    "gtid_owned",
    "gtid_purged",
    "have_compress",
    "have_dynamic_loading",
    "have_geometry",
    "have_profiling",
    "have_query_cache",
    "have_rtree_keys",
    "have_statement_timeout",
    "have_symlink",
    "hostname",
    "init_file",
    "innodb_buffer_pool_load_at_startup",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_dedicated_server",
    "innodb_directories",
    "innodb_doublewrite",
    "innodb_force_load_corrupted",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_read_only",
    "innodb_temp_data_file_path",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_directory",
    "innodb_version",
    "keyring_operations",
    "large_files_support",
    "large_page_size",
    "lc_messages_dir",
    "license",
    "locked_in_memory",
    "log_bin",
    "log_bin_basename",
    "log_bin_index",
    "log_error",
    "lower_case_file_system",
    "persist_only_admin_x509_subject",
    "persist_sensitive_variables_in_plaintext",
    "persisted_globals_load",
    "pid_file",
    "plugin_dir",
    "port",
    "protocol_version",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "replica_load_tmpdir",
    "restrict_fk_on_non_standard_key",
    "secure_file_priv",
    "server_memory",
    "server_uuid",
    "sha256_password_auto_generate_rsa_keys",
    "sha256_password_private_key_path",
    "sha256_password_public_key_path",
    "skip_external_locking",
    "skip_grant_tables",
    "skip_networking",
    "slave_load_tmpdir",
    "socket",
    "system_time_zone",
    "tls_certificates_enforced_validation",
    "tmpdir",
    "version",
    "version_comment",
    "version_compile_machine",
    "version_compile_os",
    "version_compile_zlib",
    "version_with_update",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysvar::VariableId;

    #[test]
    fn the_list_is_by_name_and_of_variables() {
        assert!(NOT_PERSISTABLE.is_sorted());
        for name in NOT_PERSISTABLE {
            assert!(VariableId::find(name).is_some_and(|id| !id.declaration().is_persistable()), "{name}");
        }
        assert!(VariableId::find("max_connections").is_some_and(|id| id.declaration().is_persistable()));
    }
}
