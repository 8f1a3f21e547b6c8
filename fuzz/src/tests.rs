use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use palisade_base::prng::test_seed;

use super::*;

/// Mutations of a target's seeds in a test.
const MUTATIONS: u64 = 2000;

/// Every kept input, and some of what can be made of the seeds. A panic is told with its input.
fn check(name: &str) {
    let target = target(name).expect("there is such a target");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(name);
    if folder.exists() {
        for file in std::fs::read_dir(&folder).expect("a folder can be read") {
            let path = file.expect("a folder can be read").path();
            println!("{}", path.display());
            (target.run)(&std::fs::read(&path).expect("a kept input can be read"));
        }
    }
    let seed = test_seed(61);
    let mut last = Vec::new();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        run_seeded(target, seed, MUTATIONS, |input| {
            last.clear();
            last.extend_from_slice(input);
        });
    }));
    if let Err(panic) = ran {
        println!("the input was \"{}\"", last.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

macro_rules! checked {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                check(stringify!($name));
            }
        )*

        #[test]
        fn every_target_is_checked() {
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

checked! { parser packets log page places row decimal json expression }

#[test]
fn every_kept_input_is_of_a_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions");
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let name = entry.expect("a folder can be read").file_name().into_string().expect("a name is text");
        assert!(name == "README.md" || TARGETS.iter().any(|target| target.name == name), "{name}");
    }
}

/// The canary of these tests; that of the search is `cargo xtask fuzz`'s.
#[test]
fn the_planted_mistake_panics_and_nothing_else_does() {
    (canary::TARGET.run)(b"palisad");
    (canary::TARGET.run)(b"palisads");
    assert!(catch_unwind(|| (canary::TARGET.run)(canary::SECRET)).is_err());
}

#[test]
fn the_same_seed_makes_the_same_inputs() {
    let inputs = |seed| {
        let mut prng = Prng::new(seed);
        let seeds = [b"one".to_vec(), b"another".to_vec()];
        (0..100).map(|_| mutate(&mut prng, &seeds, &["word"], 50)).collect::<Vec<_>>()
    };
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
    assert!(inputs(3).iter().all(|input| input.len() <= 50));
}
