//! What is waited for.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &waits_global_by_latency::VIEW,
    &waits_by_host_by_latency::VIEW,
    &waits_by_user_by_latency::VIEW,
    &wait_classes_global_by_latency::VIEW,
    &wait_classes_global_by_avg_latency::VIEW,
];

view! {
    /// The events that are waited for most.
    mod waits_global_by_latency = "sys"."waits_global_by_latency" twin {
        events: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "w.AVG_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "w.MAX_TIMER_WAIT",
    } from "performance_schema.events_waits_summary_global_by_event_name w WHERE w.EVENT_NAME <> _utf8mb4'idle' \
        AND w.SUM_TIMER_WAIT > 0 ORDER BY w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The same by host.
    mod waits_by_host_by_latency = "sys"."waits_by_host_by_latency" twin {
        host: varchar(255) in ascii_general_ci => "IF(w.HOST IS NULL, _utf8mb4'background', w.HOST)",
        event: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "w.AVG_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "w.MAX_TIMER_WAIT",
    } from "performance_schema.events_waits_summary_by_host_by_event_name w WHERE w.EVENT_NAME <> _utf8mb4'idle' \
        AND w.SUM_TIMER_WAIT > 0 ORDER BY IF(w.HOST IS NULL, _utf8mb4'background', w.HOST), w.SUM_TIMER_WAIT \
        DESC"
}

view! {
    /// The same by user.
    mod waits_by_user_by_latency = "sys"."waits_by_user_by_latency" twin {
        user: varchar(32) in utf8mb4_bin => "IF(w.USER IS NULL, _utf8mb4'background', w.USER)",
        event: varchar(128) in utf8mb4_0900_ai_ci not null => "w.EVENT_NAME",
        total: bigint_unsigned not null => "w.COUNT_STAR",
        total_latency: varchar(11) | bigint_unsigned not null => time "w.SUM_TIMER_WAIT",
        avg_latency: varchar(11) | bigint_unsigned not null => time "w.AVG_TIMER_WAIT",
        max_latency: varchar(11) | bigint_unsigned not null => time "w.MAX_TIMER_WAIT",
    } from "performance_schema.events_waits_summary_by_user_by_event_name w WHERE w.USER IS NOT NULL AND \
        w.EVENT_NAME <> _utf8mb4'idle' AND w.SUM_TIMER_WAIT > 0 ORDER BY IF(w.USER IS NULL, \
        _utf8mb4'background', w.USER), w.SUM_TIMER_WAIT DESC"
}

view! {
    /// The kinds of events that are waited for most.
    mod wait_classes_global_by_latency = "sys"."wait_classes_global_by_latency" twin {
        event_class: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(w.EVENT_NAME, _utf8mb4'/', 3)",
        total: decimal(42, 0) => "SUM(w.COUNT_STAR)",
        total_latency: varchar(11) | decimal(42, 0) => time "SUM(w.SUM_TIMER_WAIT)",
        min_latency: varchar(11) | bigint_unsigned => time "MIN(w.MIN_TIMER_WAIT)",
        avg_latency: varchar(11) | decimal(46, 4) not null default "0.0000" => time "IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0)",
        max_latency: varchar(11) | bigint_unsigned => time "MAX(w.MAX_TIMER_WAIT)",
    } from "performance_schema.events_waits_summary_global_by_event_name w WHERE w.SUM_TIMER_WAIT > 0 AND \
        w.EVENT_NAME <> _utf8mb4'idle' GROUP BY SUBSTRING_INDEX(w.EVENT_NAME, _utf8mb4'/', 3) ORDER BY \
        SUM(w.SUM_TIMER_WAIT) DESC"
}

view! {
    /// The same in the order of their averages.
    mod wait_classes_global_by_avg_latency = "sys"."wait_classes_global_by_avg_latency" twin {
        event_class: varchar(128) in utf8mb4_0900_ai_ci => "SUBSTRING_INDEX(w.EVENT_NAME, _utf8mb4'/', 3)",
        total: decimal(42, 0) => "SUM(w.COUNT_STAR)",
        total_latency: varchar(11) | decimal(42, 0) => time "SUM(w.SUM_TIMER_WAIT)",
        min_latency: varchar(11) | bigint_unsigned => time "MIN(w.MIN_TIMER_WAIT)",
        avg_latency: varchar(11) | decimal(46, 4) not null default "0.0000" => time "IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0)",
        max_latency: varchar(11) | bigint_unsigned => time "MAX(w.MAX_TIMER_WAIT)",
    } from "performance_schema.events_waits_summary_global_by_event_name w WHERE w.SUM_TIMER_WAIT > 0 AND \
        w.EVENT_NAME <> _utf8mb4'idle' GROUP BY SUBSTRING_INDEX(w.EVENT_NAME, _utf8mb4'/', 3) ORDER BY \
        IFNULL(SUM(w.SUM_TIMER_WAIT) / NULLIF(SUM(w.COUNT_STAR), 0), 0) DESC"
}
