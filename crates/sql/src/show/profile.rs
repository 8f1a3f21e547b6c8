//! SHOW PROFILE: which columns it has.

use palisade_parser::ast::{Limit, ShowWhat};

/// Columns of SHOW PROFILE that are NULL here: processor time, and all that follows it.
const UNKNOWN_COLUMNS: usize = 14;

/// The columns of SHOW PROFILE beside the first two: what they are called in information_schema.PROFILING
/// and here, and the type that asks for them.
const TYPED: [(&str, &str, &str); UNKNOWN_COLUMNS] = [
    ("CPU_USER", "CPU_user", "CPU"),
    ("CPU_SYSTEM", "CPU_system", "CPU"),
    ("CONTEXT_VOLUNTARY", "Context_voluntary", "CONTEXT SWITCHES"),
    ("CONTEXT_INVOLUNTARY", "Context_involuntary", "CONTEXT SWITCHES"),
    ("BLOCK_OPS_IN", "Block_ops_in", "BLOCK IO"),
    ("BLOCK_OPS_OUT", "Block_ops_out", "BLOCK IO"),
    ("MESSAGES_SENT", "Messages_sent", "IPC"),
    ("MESSAGES_RECEIVED", "Messages_received", "IPC"),
    ("PAGE_FAULTS_MAJOR", "Page_faults_major", "PAGE FAULTS"),
    ("PAGE_FAULTS_MINOR", "Page_faults_minor", "PAGE FAULTS"),
    ("SWAPS", "Swaps", "SWAPS"),
    ("SOURCE_FUNCTION", "Source_function", "SOURCE"),
    ("SOURCE_FILE", "Source_file", "SOURCE"),
    ("SOURCE_LINE", "Source_line", "SOURCE"),
];

/// The columns of SHOW PROFILE with such types: their names in information_schema.PROFILING and here.
pub(crate) fn columns_of(types: &[String]) -> Vec<(&'static str, &'static str)> {
    let is_wanted = |ty: &str| types.iter().any(|wanted| wanted == "ALL" || wanted == ty);
    let typed = TYPED.iter().filter(|(_, _, ty)| is_wanted(ty)).map(|(from, name, _)| (*from, *name));
    [("STATE", "Status"), ("DURATION", "Duration")].into_iter().chain(typed).collect()
}

/// What a SHOW PROFILE asks for: types, the query's number, and which rows.
pub(crate) type Asked<'a> = (&'a [String], Option<u64>, Option<&'a Limit>);

/// Whether a statement shows profiles: it has none itself.
pub(crate) fn is_about_profiles(what: &ShowWhat) -> bool {
    matches!(what, ShowWhat::Profiles | ShowWhat::Profile { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_follow_the_types_in_the_order_of_the_table() {
        let names = |types: &[&str]| {
            let types: Vec<String> = types.iter().map(|ty| (*ty).to_owned()).collect();
            columns_of(&types).into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["MEMORY"]), ["Status", "Duration"]);
        assert_eq!(names(&["SWAPS", "CPU"]), ["Status", "Duration", "CPU_user", "CPU_system", "Swaps"]);
        assert_eq!(names(&["ALL"]).len(), 16);
    }
}
