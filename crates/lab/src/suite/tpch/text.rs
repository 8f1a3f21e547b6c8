//! Texts: sentences by the specification's grammar, and the names of parts.

use crate::suite::rows::Random;

const NOUNS: &[&str] = &[
    "packages",
    "requests",
    "accounts",
    "deposits",
    "packages",
    "requests",
    "accounts",
    "deposits",
    "foxes",
    "ideas",
    "theodolites",
    "pinto beans",
    "instructions",
    "dependencies",
    "excuses",
    "platelets",
    "asymptotes",
    "courts",
    "dolphins",
    "multipliers",
    "sauternes",
    "warthogs",
    "frets",
    "dinos",
    "attainments",
    "somas",
    "braids",
    "frays",
    "warhorses",
    "pearls",
    "tithes",
    "waters",
    "orbits",
    "gifts",
    "sheaves",
    "depths",
    "sentiments",
    "decoys",
    "realms",
    "pains",
];

const VERBS: &[&str] = &[
    "sleep",
    "wake",
    "are",
    "cajole",
    "haggle",
    "nag",
    "use",
    "boost",
    "affix",
    "detect",
    "integrate",
    "maintain",
    "nod",
    "was",
    "lose",
    "sublate",
    "solve",
    "thrash",
    "promise",
    "engage",
    "hinder",
    "print",
    "doze",
    "run",
    "dazzle",
    "snooze",
    "doubt",
    "unwind",
    "kindle",
    "play",
    "hang",
    "believe",
    "breach",
    "eat",
    "grow",
    "mold",
];

const ADJECTIVES: &[&str] = &[
    "special",
    "pending",
    "unusual",
    "express",
    "regular",
    "final",
    "ironic",
    "even",
    "bold",
    "silent",
    "furious",
    "sly",
    "careful",
    "blithe",
    "quick",
    "fluffy",
    "slow",
    "quiet",
    "ruthless",
    "thin",
    "close",
    "dogged",
    "daring",
    "brave",
    "stealthy",
    "permanent",
    "enticing",
    "idle",
    "busy",
];

const ADVERBS: &[&str] = &[
    "sometimes",
    "always",
    "never",
    "furiously",
    "slyly",
    "carefully",
    "blithely",
    "quickly",
    "fluffily",
    "slowly",
    "quietly",
    "ruthlessly",
    "thinly",
    "closely",
    "doggedly",
    "daringly",
    "bravely",
    "stealthily",
    "permanently",
    "enticingly",
    "idly",
    "busily",
    "regularly",
    "finally",
    "ironically",
    "evenly",
    "boldly",
    "silently",
];

const PREPOSITIONS: &[&str] = &[
    "about",
    "above",
    "according to",
    "across",
    "after",
    "against",
    "along",
    "among",
    "around",
    "at",
    "before",
    "behind",
    "beneath",
    "beside",
    "besides",
    "between",
    "beyond",
    "by",
    "despite",
    "during",
    "except",
    "for",
    "from",
    "in place of",
    "inside",
    "instead of",
    "into",
    "near",
    "of",
    "on",
    "outside",
    "over",
    "past",
    "since",
    "through",
    "to",
    "toward",
    "under",
    "until",
    "up",
    "upon",
    "without",
    "with",
    "within",
];

const AUXILIARIES: &[&str] = &[
    "do", "may", "might", "shall", "will", "would", "can", "could", "should", "ought to", "must", "need to",
    "try to",
];

const TERMINATORS: &[&str] = &[".", ";", ":", "?", "!", "--"];

const COLORS: &[&str] = &[
    "almond",
    "antique",
    "aquamarine",
    "azure",
    "beige",
    "bisque",
    "black",
    "blanched",
    "blue",
    "blush",
    "brown",
    "burlywood",
    "burnished",
    "chartreuse",
    "chiffon",
    "chocolate",
    "coral",
    "cornflower",
    "cornsilk",
    "cream",
    "cyan",
    "dark",
    "deep",
    "dim",
    "dodger",
    "drab",
    "firebrick",
    "floral",
    "forest",
    "frosted",
    "gainsboro",
    "ghost",
    "goldenrod",
    "green",
    "grey",
    "honeydew",
    "hot",
    "indian",
    "ivory",
    "khaki",
    "lace",
    "lavender",
    "lawn",
    "lemon",
    "light",
    "lime",
    "linen",
    "magenta",
    "maroon",
    "medium",
    "metallic",
    "midnight",
    "mint",
    "misty",
    "moccasin",
    "navajo",
    "navy",
    "olive",
    "orange",
    "orchid",
    "pale",
    "papaya",
    "peach",
    "peru",
    "pink",
    "plum",
    "powder",
    "puff",
    "purple",
    "red",
    "rose",
    "rosy",
    "royal",
    "saddle",
    "salmon",
    "sandy",
    "seashell",
    "sienna",
    "sky",
    "slate",
    "smoke",
    "snow",
    "spring",
    "steel",
    "tan",
    "thistle",
    "tomato",
    "turquoise",
    "violet",
    "wheat",
    "white",
    "yellow",
];

/// A text whose length is between two bounds, both included.
pub fn text(random: &mut Random, least: i64, greatest: i64) -> String {
    let length = random.between(least, greatest) as usize;
    let mut text = String::with_capacity(length + 64);
    while text.len() < length {
        if !text.is_empty() {
            text.push(' ');
        }
        sentence(random, &mut text);
    }
    text.truncate(length);
    // a text that ends with a space is equal to one without in some collations
    if text.ends_with(' ') {
        text.pop();
        text.push('.');
    }
    text
}

fn sentence(random: &mut Random, text: &mut String) {
    let parts: &[Part] = match random.below(5) {
        0 => &[Part::Noun, Part::Verb],
        1 => &[Part::Noun, Part::Verb, Part::Preposition],
        2 => &[Part::Noun, Part::Verb, Part::Noun],
        3 => &[Part::Noun, Part::Preposition, Part::Verb, Part::Noun],
        _ => &[Part::Noun, Part::Preposition, Part::Verb, Part::Preposition],
    };
    for (place, part) in parts.iter().enumerate() {
        if place > 0 {
            text.push(' ');
        }
        part.write(random, text);
    }
    text.push_str(random.word(TERMINATORS));
}

/// A phrase of a sentence.
#[derive(Clone, Copy)]
enum Part {
    Noun,
    Verb,
    Preposition,
}

impl Part {
    fn write(self, random: &mut Random, text: &mut String) {
        let words: &[&[&'static str]] = match (self, random.below(4)) {
            (Part::Noun, 0) => &[NOUNS],
            (Part::Noun, 1) => &[ADJECTIVES, NOUNS],
            (Part::Noun, 2) => &[ADJECTIVES, ADJECTIVES, NOUNS],
            (Part::Noun, _) => &[ADVERBS, ADJECTIVES, NOUNS],
            (Part::Verb, 0) => &[VERBS],
            (Part::Verb, 1) => &[AUXILIARIES, VERBS],
            (Part::Verb, 2) => &[VERBS, ADVERBS],
            (Part::Verb, _) => &[AUXILIARIES, VERBS, ADVERBS],
            (Part::Preposition, _) => &[PREPOSITIONS],
        };
        for (place, words) in words.iter().enumerate() {
            if place > 0 {
                text.push(' ');
            }
            text.push_str(random.word(words));
        }
        if matches!(self, Part::Preposition) {
            text.push_str(" the ");
            Part::Noun.write(random, text);
        }
    }
}

/// The name of a part: five different colors.
pub fn colors(random: &mut Random) -> String {
    let mut chosen: Vec<&str> = Vec::with_capacity(5);
    while chosen.len() < 5 {
        let color = random.word(COLORS);
        if !chosen.contains(&color) {
            chosen.push(color);
        }
    }
    chosen.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_long_as_they_may_be_and_some_have_special_requests() {
        let texts: Vec<String> = (1..=5000).map(|row| text(&mut Random::of(1, row), 19, 78)).collect();
        assert!(texts.iter().all(|text| (19..=78).contains(&text.len())));
        let special =
            |text: &&String| text.find("special").is_some_and(|place| text[place..].contains("requests"));
        let share = texts.iter().filter(special).count();
        assert!((10..200).contains(&share), "{share}");
        assert_eq!(colors(&mut Random::of(1, 1)).split(' ').count(), 5);
    }
}
