//! The program that searches one target, named by `PALISADE_FUZZ_TARGET`: libFuzzer with this package's
//! targets. `cargo xtask fuzz` builds it with coverage and starts it; its own options are libFuzzer's. With
//! `PALISADE_FUZZ_SEEDS`, a folder, it writes the target's seeds there and its words beside it
//! (`FOLDER.words`) before it begins.

#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use palisade_fuzz::Target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var("PALISADE_FUZZ_TARGET").unwrap_or_default();
        let Some(target) = palisade_fuzz::target(&name) else {
            eprintln!("PALISADE_FUZZ_TARGET={name}: no such target");
            std::process::exit(2);
        };
        if let Some(folder) = std::env::var_os("PALISADE_FUZZ_SEEDS") {
            write_seeds(target, Path::new(&folder)).expect("the folder of seeds can be written");
        }
        TARGET.get_or_init(|| target);
    },
    |input: &[u8]| {
        if let Some(target) = TARGET.get() {
            (target.run)(input.get(..target.longest).unwrap_or(input));
        }
    }
);

fn write_seeds(target: &Target, folder: &Path) -> std::io::Result<()> {
    for (number, seed) in (target.seeds)().iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{number:04}")), seed)?;
    }
    let mut words = String::new();
    for word in target.words {
        let bytes: String = word.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        words += &format!("\"{bytes}\"\n");
    }
    std::fs::write(folder.with_extension("words"), words)
}
