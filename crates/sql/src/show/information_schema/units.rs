//! information_schema.ST_UNITS_OF_MEASURE: units of length and how many metres they are, as the EPSG
//! Geodetic Parameter Dataset defines them.

use palisade_catalog::Value;
use palisade_schema::virtual_table;

use super::{Definition, Tables, of_static, text};

pub(super) static TABLES: Tables =
    &[Definition::new(&units_of_measure::DECL, |_, wanted| of_static(UNITS, units_of_measure::row, wanted))];

/// Name and metres.
static UNITS: &[(&str, f64)] = &[
    ("British chain (Sears 1922 truncated)", 20.116756),
    ("British foot (Sears 1922 truncated)", 0.30479933333333337),
    ("chain", 20.1168),
    ("yard", 0.9144),
    ("British foot (1936)", 0.3048007491),
    ("British link (Sears 1922 truncated)", 0.20116756),
    ("Gold Coast foot", 0.3047997101815088),
    ("Indian yard (1937)", 0.91439523),
    ("link", 0.201168),
    ("Indian yard", 0.9143985307444408),
    ("Indian yard (1975)", 0.9143985),
    ("Indian yard (1962)", 0.9143988),
    ("Indian foot (1975)", 0.3047995),
    ("Indian foot (1937)", 0.30479841),
    ("Indian foot", 0.30479951024814694),
    ("Indian foot (1962)", 0.3047996),
    ("British foot (1865)", 0.30480083333333335),
    ("British link (Benoit 1895 B)", 0.2011678249437587),
    ("Statute mile", 1609.344),
    ("British chain (Benoit 1895 B)", 20.116782494375872),
    ("British foot (Benoit 1895 B)", 0.30479973476327077),
    ("British link (Benoit 1895 A)", 0.201167824),
    ("nautical mile", 1852.0),
    ("US survey link", 0.2011684023368047),
    ("metre", 1.0),
    ("US survey chain", 20.11684023368047),
    ("fathom", 1.8288),
    ("German legal metre", 1.0000135965),
    ("Clarke's foot", 0.3047972654),
    ("British link (Sears 1922)", 0.2011676512155263),
    ("British foot (Sears 1922)", 0.3047994715386762),
    ("millimetre", 0.001),
    ("US survey mile", 1609.3472186944375),
    ("centimetre", 0.01),
    ("British yard (Sears 1922)", 0.9143984146160287),
    ("US survey foot", 0.30480060960121924),
    ("kilometre", 1000.0),
    ("Clarke's yard", 0.9143917962),
    ("British chain (Benoit 1895 A)", 20.1167824),
    ("Clarke's chain", 20.1166195164),
    ("Clarke's link", 0.201166195164),
    ("British chain (Sears 1922)", 20.116765121552632),
    ("British yard (Benoit 1895 A)", 0.9143992),
    ("British yard (Sears 1922 truncated)", 0.914398),
    ("British yard (Benoit 1895 B)", 0.9143992042898124),
    ("foot", 0.3048),
    ("British foot (Benoit 1895 A)", 0.3047997333333333),
];

virtual_table! {
    mod units_of_measure = "information_schema"."ST_UNITS_OF_MEASURE" of |it: &'static (&'static str, f64)| {
        UNIT_NAME: varchar(255) in utf8mb4_0900_ai_ci => text(it.0),
        UNIT_TYPE: varchar(7) in utf8mb4_0900_ai_ci => text("LINEAR"),
        CONVERSION_FACTOR: double => Value::Double(it.1),
        DESCRIPTION: varchar(255) in utf8mb4_0900_ai_ci => text(""),
    }
}
