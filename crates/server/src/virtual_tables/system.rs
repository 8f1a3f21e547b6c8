//! Tables of the schema `mysql` that hold nothing here: tools read them without asking whether they are
//! there.
//!
//! They have MySQL's columns and no rows, since this server has no roles, proxies, routines, plugins, time
//! zones of its own, help texts or replication. They are not listed, and cannot be written to. A dump of
//! MySQL makes the tables it brings: from then on those are read, as any other table
//! ([086](../../../../docs/decisions/086-dumps-of-the-schema-mysql.md)).

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&columns_priv::DECL),
    Definition::empty(&component::DECL),
    Definition::empty(&default_roles::DECL),
    Definition::empty(&engine_cost::DECL),
    Definition::empty(&func::DECL),
    Definition::empty(&help_category::DECL),
    Definition::empty(&help_keyword::DECL),
    Definition::empty(&help_relation::DECL),
    Definition::empty(&help_topic::DECL),
    Definition::empty(&password_history::DECL),
    Definition::empty(&plugin::DECL),
    Definition::empty(&procs_priv::DECL),
    Definition::empty(&proxies_priv::DECL),
    Definition::empty(&role_edges::DECL),
    Definition::empty(&server_cost::DECL),
    Definition::empty(&servers::DECL),
    Definition::empty(&time_zone::DECL),
    Definition::empty(&time_zone_leap_second::DECL),
    Definition::empty(&time_zone_name::DECL),
    Definition::empty(&time_zone_transition::DECL),
    Definition::empty(&time_zone_transition_type::DECL),
];

virtual_table! {
    mod columns_priv = "mysql"."columns_priv" {
        Host: char(255) in ascii_general_ci not null default "" key PRI,
        Db: char(64) in utf8mb3_bin not null default "" key PRI,
        User: char(32) in utf8mb3_bin not null default "" key PRI,
        Table_name: char(64) in utf8mb3_bin not null default "" key PRI,
        Column_name: char(64) in utf8mb3_bin not null default "" key PRI,
        Timestamp: timestamp not null default "CURRENT_TIMESTAMP",
        Column_priv: set("Select", "Insert", "Update", "References") not null default "",
    }
}

virtual_table! {
    mod component = "mysql"."component" {
        component_id: int_unsigned not null key PRI,
        component_group_id: int_unsigned not null,
        component_urn: text not null,
    }
}

virtual_table! {
    mod default_roles = "mysql"."default_roles" {
        HOST: char(255) in ascii_general_ci not null default "" key PRI,
        USER: char(32) in utf8mb3_bin not null default "" key PRI,
        DEFAULT_ROLE_HOST: char(255) in ascii_general_ci not null default "%" key PRI,
        DEFAULT_ROLE_USER: char(32) in utf8mb3_bin not null default "" key PRI,
    }
}

virtual_table! {
    mod engine_cost = "mysql"."engine_cost" {
        engine_name: varchar(64) not null key PRI,
        device_type: int not null key PRI,
        cost_name: varchar(64) not null key PRI,
        cost_value: float,
        last_update: timestamp not null default "CURRENT_TIMESTAMP",
        comment: varchar(1024),
        default_value: float,
    }
}

virtual_table! {
    mod func = "mysql"."func" {
        name: char(64) in utf8mb3_bin not null default "" key PRI,
        ret: tinyint not null default "0",
        dl: char(128) in utf8mb3_bin not null default "",
        type: enum("function", "aggregate") not null,
    }
}

virtual_table! {
    mod help_category = "mysql"."help_category" {
        help_category_id: smallint_unsigned not null key PRI,
        name: char(64) not null key UNI,
        parent_category_id: smallint_unsigned,
        url: text not null,
    }
}

virtual_table! {
    mod help_keyword = "mysql"."help_keyword" {
        help_keyword_id: int_unsigned not null key PRI,
        name: char(64) not null key UNI,
    }
}

virtual_table! {
    mod help_relation = "mysql"."help_relation" {
        help_topic_id: int_unsigned not null key PRI,
        help_keyword_id: int_unsigned not null key PRI,
    }
}

virtual_table! {
    mod help_topic = "mysql"."help_topic" {
        help_topic_id: int_unsigned not null key PRI,
        name: char(64) not null key UNI,
        help_category_id: smallint_unsigned not null,
        description: text not null,
        example: text not null,
        url: text not null,
    }
}

virtual_table! {
    mod password_history = "mysql"."password_history" {
        Host: char(255) in ascii_general_ci not null default "" key PRI,
        User: char(32) in utf8mb3_bin not null default "" key PRI,
        Password_timestamp: timestamp(6) not null default "CURRENT_TIMESTAMP(6)" key PRI,
        Password: text in utf8mb3_bin,
    }
}

virtual_table! {
    mod plugin = "mysql"."plugin" {
        name: varchar(64) not null default "" key PRI,
        dl: varchar(128) not null default "",
    }
}

virtual_table! {
    mod procs_priv = "mysql"."procs_priv" {
        Host: char(255) in ascii_general_ci not null default "" key PRI,
        Db: char(64) in utf8mb3_bin not null default "" key PRI,
        User: char(32) in utf8mb3_bin not null default "" key PRI,
        Routine_name: char(64) not null default "" key PRI,
        Routine_type: enum("FUNCTION", "PROCEDURE", "LIBRARY") in utf8mb3_bin not null key PRI,
        Grantor: varchar(288) in utf8mb3_bin not null default "" key MUL,
        Proc_priv: set("Execute", "Alter Routine", "Grant") not null default "",
        Timestamp: timestamp not null default "CURRENT_TIMESTAMP",
    }
}

virtual_table! {
    mod proxies_priv = "mysql"."proxies_priv" {
        Host: char(255) in ascii_general_ci not null default "" key PRI,
        User: char(32) in utf8mb3_bin not null default "" key PRI,
        Proxied_host: char(255) in ascii_general_ci not null default "" key PRI,
        Proxied_user: char(32) in utf8mb3_bin not null default "" key PRI,
        With_grant: bool not null default "0",
        Grantor: varchar(288) in utf8mb3_bin not null default "" key MUL,
        Timestamp: timestamp not null default "CURRENT_TIMESTAMP",
    }
}

virtual_table! {
    mod role_edges = "mysql"."role_edges" {
        FROM_HOST: char(255) in ascii_general_ci not null default "" key PRI,
        FROM_USER: char(32) in utf8mb3_bin not null default "" key PRI,
        TO_HOST: char(255) in ascii_general_ci not null default "" key PRI,
        TO_USER: char(32) in utf8mb3_bin not null default "" key PRI,
        WITH_ADMIN_OPTION: enum("N", "Y") not null default "N",
    }
}

virtual_table! {
    mod server_cost = "mysql"."server_cost" {
        cost_name: varchar(64) not null key PRI,
        cost_value: float,
        last_update: timestamp not null default "CURRENT_TIMESTAMP",
        comment: varchar(1024),
        default_value: float,
    }
}

virtual_table! {
    mod servers = "mysql"."servers" {
        Server_name: char(64) not null default "" key PRI,
        Host: char(255) in ascii_general_ci not null default "",
        Db: char(64) not null default "",
        Username: char(64) not null default "",
        Password: char(64) not null default "",
        Port: int not null default "0",
        Socket: char(64) not null default "",
        Wrapper: char(64) not null default "",
        Owner: char(64) not null default "",
    }
}

virtual_table! {
    mod time_zone = "mysql"."time_zone" {
        Time_zone_id: int_unsigned not null key PRI,
        Use_leap_seconds: enum("Y", "N") not null default "N",
    }
}

virtual_table! {
    mod time_zone_leap_second = "mysql"."time_zone_leap_second" {
        Transition_time: bigint not null key PRI,
        Correction: int not null,
    }
}

virtual_table! {
    mod time_zone_name = "mysql"."time_zone_name" {
        Name: char(64) not null key PRI,
        Time_zone_id: int_unsigned not null,
    }
}

virtual_table! {
    mod time_zone_transition = "mysql"."time_zone_transition" {
        Time_zone_id: int_unsigned not null key PRI,
        Transition_time: bigint not null key PRI,
        Transition_type_id: int_unsigned not null,
    }
}

virtual_table! {
    mod time_zone_transition_type = "mysql"."time_zone_transition_type" {
        Time_zone_id: int_unsigned not null key PRI,
        Transition_type_id: int_unsigned not null key PRI,
        Offset: int not null default "0",
        Is_DST: tinyint_unsigned not null default "0",
        Abbreviation: char(8) not null default "",
    }
}
