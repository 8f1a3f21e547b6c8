//! tls_channel_status: how connections are encrypted. Administrators are served with the certificates of all,
//! so that there is one channel.

use palisade_schema::virtual_table;

use super::{Definition, Tables, of_each, text};
use crate::status::SSL_ACCEPTS;

pub(super) static TABLES: Tables = &[Definition::new(&channels::DECL, |source, wanted| {
    let spoken = source.host.secrets.spoken();
    let enabled = if spoken.config().is_some() { "Yes" } else { "No" };
    let own = [("Enabled", enabled.to_owned()), ("Ssl_accepts", SSL_ACCEPTS.value().to_string())];
    of_each(own.into_iter().chain(spoken.properties()).collect::<Vec<_>>(), channels::row, wanted)
})];

virtual_table! {
    mod channels = "performance_schema"."tls_channel_status" of |it: (&'static str, String)| {
        CHANNEL: varchar(128) in utf8mb4_0900_ai_ci not null => text("mysql_main"),
        PROPERTY: varchar(128) in utf8mb4_0900_ai_ci not null => text(it.0),
        VALUE: varchar(2048) in utf8mb4_0900_ai_ci not null => text(&it.1),
    }
}
