//! Tables of performance_schema about what this server has none of, or keeps no account of: mutexes and
//! condition variables one by one, single waits, executions of prepared statements, sockets and memory by
//! thread, keyrings, loadable functions, attributes of variables, accounts that are locked for a time. They
//! have MySQL's columns, and no rows.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&cond_instances::DECL),
    Definition::empty(&events_waits_current::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_history::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_history_long::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_summary_by_account_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_summary_by_host_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_summary_by_instance::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_summary_by_thread_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&events_waits_summary_by_user_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&global_variable_attributes::DECL),
    Definition::empty(&keyring_component_status::DECL),
    Definition::empty(&keyring_keys::DECL),
    Definition::empty(&memory_summary_by_account_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&memory_summary_by_host_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&memory_summary_by_thread_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&memory_summary_by_user_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&mutex_instances::DECL),
    Definition::empty(&rwlock_instances::DECL),
    Definition::empty(&socket_instances::DECL),
    Definition::empty(&socket_summary_by_event_name::DECL).truncated_by(|_| {}),
    Definition::empty(&socket_summary_by_instance::DECL).truncated_by(|_| {}),
    Definition::empty(&temporary_account_locks::DECL),
    Definition::empty(&user_defined_functions::DECL),
];

virtual_table! {
    mod cond_instances = "performance_schema"."cond_instances" {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
    }
}

virtual_table! {
    mod events_waits_current = "performance_schema"."events_waits_current" {
        THREAD_ID: bigint_unsigned not null key PRI,
        EVENT_ID: bigint_unsigned not null key PRI,
        END_EVENT_ID: bigint_unsigned,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        SOURCE: varchar(64) in utf8mb4_0900_ai_ci,
        TIMER_START: bigint_unsigned,
        TIMER_END: bigint_unsigned,
        TIMER_WAIT: bigint_unsigned,
        SPINS: int_unsigned,
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_NAME: varchar(512) in utf8mb4_0900_ai_ci,
        INDEX_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null,
        NESTING_EVENT_ID: bigint_unsigned,
        NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci,
        OPERATION: varchar(32) in utf8mb4_0900_ai_ci not null,
        NUMBER_OF_BYTES: bigint,
        FLAGS: int_unsigned,
    }
}

virtual_table! {
    mod events_waits_history = "performance_schema"."events_waits_history" {
        THREAD_ID: bigint_unsigned not null key PRI,
        EVENT_ID: bigint_unsigned not null key PRI,
        END_EVENT_ID: bigint_unsigned,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        SOURCE: varchar(64) in utf8mb4_0900_ai_ci,
        TIMER_START: bigint_unsigned,
        TIMER_END: bigint_unsigned,
        TIMER_WAIT: bigint_unsigned,
        SPINS: int_unsigned,
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_NAME: varchar(512) in utf8mb4_0900_ai_ci,
        INDEX_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null,
        NESTING_EVENT_ID: bigint_unsigned,
        NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci,
        OPERATION: varchar(32) in utf8mb4_0900_ai_ci not null,
        NUMBER_OF_BYTES: bigint,
        FLAGS: int_unsigned,
    }
}

virtual_table! {
    mod events_waits_history_long = "performance_schema"."events_waits_history_long" {
        THREAD_ID: bigint_unsigned not null,
        EVENT_ID: bigint_unsigned not null,
        END_EVENT_ID: bigint_unsigned,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        SOURCE: varchar(64) in utf8mb4_0900_ai_ci,
        TIMER_START: bigint_unsigned,
        TIMER_END: bigint_unsigned,
        TIMER_WAIT: bigint_unsigned,
        SPINS: int_unsigned,
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_NAME: varchar(512) in utf8mb4_0900_ai_ci,
        INDEX_NAME: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_TYPE: varchar(64) in utf8mb4_0900_ai_ci,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null,
        NESTING_EVENT_ID: bigint_unsigned,
        NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci,
        OPERATION: varchar(32) in utf8mb4_0900_ai_ci not null,
        NUMBER_OF_BYTES: bigint,
        FLAGS: int_unsigned,
    }
}

virtual_table! {
    mod events_waits_summary_by_account_by_event_name = "performance_schema"."events_waits_summary_by_account_by_event_name" {
        USER: char(32) in utf8mb4_bin key MUL,
        HOST: char(255) in ascii_general_ci,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
    }
}

virtual_table! {
    mod events_waits_summary_by_host_by_event_name = "performance_schema"."events_waits_summary_by_host_by_event_name" {
        HOST: char(255) in ascii_general_ci key MUL,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
    }
}

virtual_table! {
    mod events_waits_summary_by_instance = "performance_schema"."events_waits_summary_by_instance" {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
    }
}

virtual_table! {
    mod events_waits_summary_by_thread_by_event_name = "performance_schema"."events_waits_summary_by_thread_by_event_name" {
        THREAD_ID: bigint_unsigned not null key PRI,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
    }
}

virtual_table! {
    mod events_waits_summary_by_user_by_event_name = "performance_schema"."events_waits_summary_by_user_by_event_name" {
        USER: char(32) in utf8mb4_bin key MUL,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
    }
}

virtual_table! {
    mod global_variable_attributes = "performance_schema"."global_variable_attributes" {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null,
        ATTR_NAME: varchar(32) in utf8mb4_0900_ai_ci not null,
        ATTR_VALUE: varchar(1024) in utf8mb4_0900_ai_ci not null,
    }
}

virtual_table! {
    mod keyring_component_status = "performance_schema"."keyring_component_status" {
        STATUS_KEY: varchar(256) in utf8mb4_0900_ai_ci not null,
        STATUS_VALUE: varchar(1024) in utf8mb4_0900_ai_ci not null,
    }
}

virtual_table! {
    mod keyring_keys = "performance_schema"."keyring_keys" {
        KEY_ID: varchar(255) in utf8mb4_bin not null,
        KEY_OWNER: varchar(255) in utf8mb4_bin,
        BACKEND_KEY_ID: varchar(255) in utf8mb4_bin,
    }
}

virtual_table! {
    mod memory_summary_by_account_by_event_name = "performance_schema"."memory_summary_by_account_by_event_name" {
        USER: char(32) in utf8mb4_bin key MUL,
        HOST: char(255) in ascii_general_ci,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_ALLOC: bigint_unsigned not null,
        COUNT_FREE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_ALLOC: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_FREE: bigint_unsigned not null,
        LOW_COUNT_USED: bigint not null,
        CURRENT_COUNT_USED: bigint not null,
        HIGH_COUNT_USED: bigint not null,
        LOW_NUMBER_OF_BYTES_USED: bigint not null,
        CURRENT_NUMBER_OF_BYTES_USED: bigint not null,
        HIGH_NUMBER_OF_BYTES_USED: bigint not null,
    }
}

virtual_table! {
    mod memory_summary_by_host_by_event_name = "performance_schema"."memory_summary_by_host_by_event_name" {
        HOST: char(255) in ascii_general_ci key MUL,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_ALLOC: bigint_unsigned not null,
        COUNT_FREE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_ALLOC: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_FREE: bigint_unsigned not null,
        LOW_COUNT_USED: bigint not null,
        CURRENT_COUNT_USED: bigint not null,
        HIGH_COUNT_USED: bigint not null,
        LOW_NUMBER_OF_BYTES_USED: bigint not null,
        CURRENT_NUMBER_OF_BYTES_USED: bigint not null,
        HIGH_NUMBER_OF_BYTES_USED: bigint not null,
    }
}

virtual_table! {
    mod memory_summary_by_thread_by_event_name = "performance_schema"."memory_summary_by_thread_by_event_name" {
        THREAD_ID: bigint_unsigned not null key PRI,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI,
        COUNT_ALLOC: bigint_unsigned not null,
        COUNT_FREE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_ALLOC: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_FREE: bigint_unsigned not null,
        LOW_COUNT_USED: bigint not null,
        CURRENT_COUNT_USED: bigint not null,
        HIGH_COUNT_USED: bigint not null,
        LOW_NUMBER_OF_BYTES_USED: bigint not null,
        CURRENT_NUMBER_OF_BYTES_USED: bigint not null,
        HIGH_NUMBER_OF_BYTES_USED: bigint not null,
    }
}

virtual_table! {
    mod memory_summary_by_user_by_event_name = "performance_schema"."memory_summary_by_user_by_event_name" {
        USER: char(32) in utf8mb4_bin key MUL,
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        COUNT_ALLOC: bigint_unsigned not null,
        COUNT_FREE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_ALLOC: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_FREE: bigint_unsigned not null,
        LOW_COUNT_USED: bigint not null,
        CURRENT_COUNT_USED: bigint not null,
        HIGH_COUNT_USED: bigint not null,
        LOW_NUMBER_OF_BYTES_USED: bigint not null,
        CURRENT_NUMBER_OF_BYTES_USED: bigint not null,
        HIGH_NUMBER_OF_BYTES_USED: bigint not null,
    }
}

virtual_table! {
    mod mutex_instances = "performance_schema"."mutex_instances" {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
        LOCKED_BY_THREAD_ID: bigint_unsigned key MUL,
    }
}

virtual_table! {
    mod rwlock_instances = "performance_schema"."rwlock_instances" {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
        WRITE_LOCKED_BY_THREAD_ID: bigint_unsigned key MUL,
        READ_LOCKED_BY_COUNT: int_unsigned not null,
    }
}

virtual_table! {
    mod socket_instances = "performance_schema"."socket_instances" {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
        THREAD_ID: bigint_unsigned key MUL,
        SOCKET_ID: int not null key MUL,
        IP: varchar(64) in utf8mb4_0900_ai_ci not null key MUL,
        PORT: int not null,
        STATE: enum("IDLE", "ACTIVE") in utf8mb4_0900_ai_ci not null,
    }
}

virtual_table! {
    mod socket_summary_by_event_name = "performance_schema"."socket_summary_by_event_name" {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
        COUNT_READ: bigint_unsigned not null,
        SUM_TIMER_READ: bigint_unsigned not null,
        MIN_TIMER_READ: bigint_unsigned not null,
        AVG_TIMER_READ: bigint_unsigned not null,
        MAX_TIMER_READ: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_READ: bigint_unsigned not null,
        COUNT_WRITE: bigint_unsigned not null,
        SUM_TIMER_WRITE: bigint_unsigned not null,
        MIN_TIMER_WRITE: bigint_unsigned not null,
        AVG_TIMER_WRITE: bigint_unsigned not null,
        MAX_TIMER_WRITE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_WRITE: bigint_unsigned not null,
        COUNT_MISC: bigint_unsigned not null,
        SUM_TIMER_MISC: bigint_unsigned not null,
        MIN_TIMER_MISC: bigint_unsigned not null,
        AVG_TIMER_MISC: bigint_unsigned not null,
        MAX_TIMER_MISC: bigint_unsigned not null,
    }
}

virtual_table! {
    mod socket_summary_by_instance = "performance_schema"."socket_summary_by_instance" {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL,
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
        COUNT_READ: bigint_unsigned not null,
        SUM_TIMER_READ: bigint_unsigned not null,
        MIN_TIMER_READ: bigint_unsigned not null,
        AVG_TIMER_READ: bigint_unsigned not null,
        MAX_TIMER_READ: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_READ: bigint_unsigned not null,
        COUNT_WRITE: bigint_unsigned not null,
        SUM_TIMER_WRITE: bigint_unsigned not null,
        MIN_TIMER_WRITE: bigint_unsigned not null,
        AVG_TIMER_WRITE: bigint_unsigned not null,
        MAX_TIMER_WRITE: bigint_unsigned not null,
        SUM_NUMBER_OF_BYTES_WRITE: bigint_unsigned not null,
        COUNT_MISC: bigint_unsigned not null,
        SUM_TIMER_MISC: bigint_unsigned not null,
        MIN_TIMER_MISC: bigint_unsigned not null,
        AVG_TIMER_MISC: bigint_unsigned not null,
        MAX_TIMER_MISC: bigint_unsigned not null,
    }
}

virtual_table! {
    mod temporary_account_locks = "performance_schema"."temporary_account_locks" {
        USER: char(32) in utf8mb4_bin not null key PRI,
        HOST: char(255) in ascii_general_ci not null key PRI,
        LOCKED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        FAILED_LOGIN_ATTEMPTS: int not null,
        REMAINING_LOGIN_ATTEMPTS: int not null,
        PASSWORD_LOCK_TIME: int not null,
        LOCKED_SINCE: date,
        LOCKED_UNTIL: date,
    }
}

virtual_table! {
    mod user_defined_functions = "performance_schema"."user_defined_functions" {
        UDF_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI,
        UDF_RETURN_TYPE: varchar(20) in utf8mb4_0900_ai_ci not null,
        UDF_TYPE: varchar(20) in utf8mb4_0900_ai_ci not null,
        UDF_LIBRARY: varchar(1024) in utf8mb4_0900_ai_ci,
        UDF_USAGE_COUNT: bigint,
    }
}
