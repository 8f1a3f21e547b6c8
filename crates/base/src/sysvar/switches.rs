//! Lists of switches: `optimizer_switch='mrr=off'` changes one of them and leaves the others.
//!
//! Such a variable's value is the text that SHOW VARIABLES gives, `name=on` or `name=off` for each switch, in
//! order. What SET is given is a list of changes to it, which is checked before [`merged`] makes a value of
//! it.

const VALUES: [&str; 3] = ["on", "off", "default"];

/// Whether `changes` is a list of changes to the switches of `all`: each named once, by its whole name, and
/// `default` at most once. Else the rest of the list, from the first that is none on.
pub(super) fn check<'a>(all: &str, changes: &'a str) -> Result<(), &'a str> {
    let mut seen: Vec<String> = Vec::new();
    let mut rest = Some(changes).filter(|changes| !changes.is_empty());
    while let Some(list) = rest {
        let (change, behind) =
            list.split_once(',').map_or((list, None), |(change, rest)| (change, Some(rest)));
        let known = match change.split_once('=') {
            Some((name, value)) => value_of(value).and(switch(all, name)),
            None => Some("default").filter(|word| change.eq_ignore_ascii_case(word)),
        };
        let name = known.ok_or(list)?.to_owned();
        if seen.contains(&name) {
            return Err(list);
        }
        seen.push(name);
        rest = behind;
    }
    Ok(())
}

/// The value that `changes` makes of `current`; `default` is what it is for a switch that is given its
/// default.
pub fn merged(changes: &str, current: &str, default: &str) -> String {
    let is_default = changes.split(',').any(|change| change.eq_ignore_ascii_case("default"));
    let change_of = |name: &str| {
        pairs(changes)
            .into_iter()
            .filter(|(known, _)| known.trim_end().eq_ignore_ascii_case(name))
            .find_map(|(_, value)| value_of(value))
    };
    let defaults = pairs(default);
    let switches = pairs(current).into_iter().map(|(name, old)| {
        let own = defaults.iter().find(|(known, _)| *known == name).map_or(old, |(_, value)| *value);
        let value = match change_of(name) {
            Some("default") => own,
            Some(value) => value,
            None if is_default => own,
            None => old,
        };
        format!("{name}={value}")
    });
    switches.collect::<Vec<_>>().join(",")
}

/// The value that turns the switches of `all` on whose bits are set. One bit more than there are switches may
/// be set, as in MySQL.
pub(super) fn of_bits(all: &str, bits: u64) -> Option<String> {
    let names: Vec<&str> = pairs(all).into_iter().map(|(name, _)| name).collect();
    if bits >> (names.len() + 1) != 0 {
        return None;
    }
    let word = |at: usize| if bits >> at & 1 == 1 { "on" } else { "off" };
    let switches = names.iter().enumerate().map(|(at, name)| format!("{name}={}", word(at)));
    Some(switches.collect::<Vec<_>>().join(","))
}

/// Names and values of a list.
fn pairs(list: &str) -> Vec<(&str, &str)> {
    list.split(',').filter_map(|switch| switch.split_once('=')).collect()
}

/// The switch of `all` that is called so, with spaces behind it.
fn switch<'a>(all: &'a str, name: &str) -> Option<&'a str> {
    let mut names = pairs(all).into_iter().map(|(name, _)| name);
    names.find(|known| known.eq_ignore_ascii_case(name.trim_end()))
}

/// ON, OFF or DEFAULT, or how only one of them begins.
fn value_of(text: &str) -> Option<&'static str> {
    let begins = |value: &&str| {
        value.get(..text.len()).is_some_and(|start| !text.is_empty() && start.eq_ignore_ascii_case(text))
    };
    if let Some(whole) = VALUES.into_iter().find(|value| value.eq_ignore_ascii_case(text)) {
        return Some(whole);
    }
    let mut found = VALUES.into_iter().filter(begins);
    found.next().filter(|_| found.next().is_none())
}
