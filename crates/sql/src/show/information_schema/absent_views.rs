//! What this server has none of, too: roles, JSON duality views, full-text indexes, geometry.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&administrable_role_authorizations::DECL),
    Definition::empty(&applicable_roles::DECL),
    Definition::empty(&enabled_roles::DECL),
    Definition::empty(&role_column_grants::DECL),
    Definition::empty(&role_routine_grants::DECL),
    Definition::empty(&role_table_grants::DECL),
    Definition::empty(&json_duality_views::DECL),
    Definition::empty(&json_duality_view_columns::DECL),
    Definition::empty(&json_duality_view_links::DECL),
    Definition::empty(&json_duality_view_tables::DECL),
    Definition::empty(&innodb_ft_being_deleted::DECL),
    Definition::empty(&innodb_ft_config::DECL),
    Definition::empty(&innodb_ft_deleted::DECL),
    Definition::empty(&innodb_ft_index_cache::DECL),
    Definition::empty(&innodb_ft_index_table::DECL),
    Definition::empty(&st_geometry_columns::DECL),
    Definition::empty(&st_spatial_reference_systems::DECL),
];

virtual_table! {
    mod administrable_role_authorizations = "information_schema"."ADMINISTRABLE_ROLE_AUTHORIZATIONS" {
        USER: varchar(97),
        HOST: varchar(256),
        GRANTEE: varchar(97) in utf8mb4_0900_ai_ci,
        GRANTEE_HOST: varchar(256) in utf8mb4_0900_ai_ci,
        ROLE_NAME: varchar(255) in utf8mb4_0900_ai_ci,
        ROLE_HOST: varchar(256) in utf8mb4_0900_ai_ci,
        IS_GRANTABLE: varchar(3) not null default "",
        IS_DEFAULT: varchar(3),
        IS_MANDATORY: varchar(3) not null default "",
    }
}

virtual_table! {
    mod applicable_roles = "information_schema"."APPLICABLE_ROLES" {
        USER: varchar(97),
        HOST: varchar(256),
        GRANTEE: varchar(97) in utf8mb4_0900_ai_ci,
        GRANTEE_HOST: varchar(256) in utf8mb4_0900_ai_ci,
        ROLE_NAME: varchar(255) in utf8mb4_0900_ai_ci,
        ROLE_HOST: varchar(256) in utf8mb4_0900_ai_ci,
        IS_GRANTABLE: varchar(3) not null default "",
        IS_DEFAULT: varchar(3),
        IS_MANDATORY: varchar(3) not null default "",
    }
}

virtual_table! {
    mod enabled_roles = "information_schema"."ENABLED_ROLES" {
        ROLE_NAME: varchar(255) in utf8mb4_0900_ai_ci,
        ROLE_HOST: varchar(255) in utf8mb4_0900_ai_ci,
        IS_DEFAULT: varchar(3),
        IS_MANDATORY: varchar(3) not null default "",
    }
}

virtual_table! {
    mod role_column_grants = "information_schema"."ROLE_COLUMN_GRANTS" {
        GRANTOR: varchar(97),
        GRANTOR_HOST: varchar(256),
        GRANTEE: char(32) in utf8mb3_bin not null default "",
        GRANTEE_HOST: char(255) in ascii_general_ci not null default "",
        TABLE_CATALOG: varchar(3) not null default "",
        TABLE_SCHEMA: char(64) in utf8mb3_bin not null default "",
        TABLE_NAME: char(64) in utf8mb3_bin not null default "",
        COLUMN_NAME: char(64) in utf8mb3_bin not null default "",
        PRIVILEGE_TYPE: set("Select", "Insert", "Update", "References") not null default "",
        IS_GRANTABLE: varchar(3) not null default "",
    }
}

virtual_table! {
    mod role_routine_grants = "information_schema"."ROLE_ROUTINE_GRANTS" {
        GRANTOR: varchar(97),
        GRANTOR_HOST: varchar(256),
        GRANTEE: char(32) in utf8mb3_bin not null default "",
        GRANTEE_HOST: char(255) in ascii_general_ci not null default "",
        SPECIFIC_CATALOG: varchar(3) not null default "",
        SPECIFIC_SCHEMA: char(64) in utf8mb3_bin not null default "",
        SPECIFIC_NAME: char(64) not null default "",
        ROUTINE_CATALOG: varchar(3) not null default "",
        ROUTINE_SCHEMA: char(64) in utf8mb3_bin not null default "",
        ROUTINE_NAME: char(64) not null default "",
        PRIVILEGE_TYPE: set("Execute", "Alter Routine", "Grant") not null default "",
        IS_GRANTABLE: varchar(3) not null default "",
    }
}

virtual_table! {
    mod role_table_grants = "information_schema"."ROLE_TABLE_GRANTS" {
        GRANTOR: varchar(97),
        GRANTOR_HOST: varchar(256),
        GRANTEE: char(32) in utf8mb3_bin not null default "",
        GRANTEE_HOST: char(255) in ascii_general_ci not null default "",
        TABLE_CATALOG: varchar(3) not null default "",
        TABLE_SCHEMA: char(64) in utf8mb3_bin not null default "",
        TABLE_NAME: char(64) in utf8mb3_bin not null default "",
        PRIVILEGE_TYPE: set("Select", "Insert", "Update", "Delete", "Create", "Drop", "Grant", "References", "Index", "Alter", "Create View", "Show view", "Trigger") not null default "",
        IS_GRANTABLE: varchar(3) not null default "",
    }
}

virtual_table! {
    mod json_duality_views = "information_schema"."JSON_DUALITY_VIEWS" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        DEFINER: varchar(288) in utf8mb3_bin,
        SECURITY_TYPE: varchar(7) in utf8mb3_bin,
        JSON_COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci not null,
        ROOT_TABLE_CATALOG: varchar(64) in utf8mb4_bin,
        ROOT_TABLE_SCHEMA: varchar(64) in utf8mb4_bin,
        ROOT_TABLE_NAME: varchar(64) in utf8mb4_bin,
        ALLOW_INSERT: varchar(4),
        ALLOW_UPDATE: varchar(4),
        ALLOW_DELETE: varchar(4),
        READ_ONLY: varchar(4),
        STATUS: varchar(7) not null default "",
    }
}

virtual_table! {
    mod json_duality_view_columns = "information_schema"."JSON_DUALITY_VIEW_COLUMNS" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        REFERENCED_TABLE_CATALOG: varchar(64) in utf8mb4_bin,
        REFERENCED_TABLE_SCHEMA: varchar(64) in utf8mb4_bin,
        REFERENCED_TABLE_NAME: varchar(64) in utf8mb4_bin,
        IS_ROOT_TABLE: tinyint,
        REFERENCED_TABLE_ID: int,
        REFERENCED_COLUMN_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        JSON_KEY_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        ALLOW_INSERT: tinyint,
        ALLOW_UPDATE: tinyint,
        ALLOW_DELETE: tinyint,
        READ_ONLY: tinyint,
    }
}

virtual_table! {
    mod json_duality_view_links = "information_schema"."JSON_DUALITY_VIEW_LINKS" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        PARENT_TABLE_CATALOG: varchar(64) in utf8mb4_bin,
        PARENT_TABLE_SCHEMA: varchar(64) in utf8mb4_bin,
        PARENT_TABLE_NAME: varchar(64) in utf8mb4_bin,
        CHILD_TABLE_CATALOG: varchar(64) in utf8mb4_bin,
        CHILD_TABLE_SCHEMA: varchar(64) in utf8mb4_bin,
        CHILD_TABLE_NAME: varchar(64) in utf8mb4_bin,
        PARENT_COLUMN_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        CHILD_COLUMN_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        JOIN_TYPE: varchar(64) in utf8mb4_0900_ai_ci,
        JSON_KEY_NAME: varchar(64) in utf8mb4_0900_ai_ci,
    }
}

virtual_table! {
    mod json_duality_view_tables = "information_schema"."JSON_DUALITY_VIEW_TABLES" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        REFERENCED_TABLE_CATALOG: varchar(64) in utf8mb4_bin,
        REFERENCED_TABLE_SCHEMA: varchar(64) in utf8mb4_bin,
        REFERENCED_TABLE_NAME: varchar(64) in utf8mb4_bin,
        WHERE_CLAUSE: varchar(64) in utf8mb4_0900_ai_ci,
        ALLOW_INSERT: tinyint,
        ALLOW_UPDATE: tinyint,
        ALLOW_DELETE: tinyint,
        READ_ONLY: tinyint,
        IS_ROOT_TABLE: tinyint,
        REFERENCED_TABLE_ID: int,
        REFERENCED_TABLE_PARENT_ID: int,
        REFERENCED_TABLE_PARENT_RELATIONSHIP: varchar(64) in utf8mb4_0900_ai_ci,
    }
}

virtual_table! {
    mod innodb_ft_being_deleted = "information_schema"."INNODB_FT_BEING_DELETED" {
        DOC_ID: bigint_unsigned not null default "",
    }
}

virtual_table! {
    mod innodb_ft_config = "information_schema"."INNODB_FT_CONFIG" {
        KEY: varchar(193) not null default "",
        VALUE: varchar(193) not null default "",
    }
}

virtual_table! {
    mod innodb_ft_deleted = "information_schema"."INNODB_FT_DELETED" {
        DOC_ID: bigint_unsigned not null default "",
    }
}

virtual_table! {
    mod innodb_ft_index_cache = "information_schema"."INNODB_FT_INDEX_CACHE" {
        WORD: varchar(337) not null default "",
        FIRST_DOC_ID: bigint_unsigned not null default "",
        LAST_DOC_ID: bigint_unsigned not null default "",
        DOC_COUNT: bigint_unsigned not null default "",
        DOC_ID: bigint_unsigned not null default "",
        POSITION: bigint_unsigned not null default "",
    }
}

virtual_table! {
    mod innodb_ft_index_table = "information_schema"."INNODB_FT_INDEX_TABLE" {
        WORD: varchar(337) not null default "",
        FIRST_DOC_ID: bigint_unsigned not null default "",
        LAST_DOC_ID: bigint_unsigned not null default "",
        DOC_COUNT: bigint_unsigned not null default "",
        DOC_ID: bigint_unsigned not null default "",
        POSITION: bigint_unsigned not null default "",
    }
}

virtual_table! {
    mod st_geometry_columns = "information_schema"."ST_GEOMETRY_COLUMNS" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        COLUMN_NAME: varchar(64) in utf8mb3_tolower_ci,
        SRS_NAME: varchar(80),
        SRS_ID: int_unsigned,
        GEOMETRY_TYPE_NAME: longtext in utf8mb3_bin,
    }
}

virtual_table! {
    mod st_spatial_reference_systems = "information_schema"."ST_SPATIAL_REFERENCE_SYSTEMS" {
        SRS_NAME: varchar(80) not null,
        SRS_ID: int_unsigned not null,
        ORGANIZATION: varchar(256),
        ORGANIZATION_COORDSYS_ID: int_unsigned,
        DEFINITION: varchar(4096) in utf8mb3_bin not null,
        DESCRIPTION: varchar(2048) in utf8mb3_bin,
    }
}
