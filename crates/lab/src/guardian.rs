//! Who cleans up when the lab cannot: a shell that outlives it.
//!
//! An experiment that ends, fails or is interrupted stops its servers and removes their data by itself. A lab that is killed,
//! or interrupted a second time, does not get to it; and a server with a gigabyte of memory that nobody knows of spoils
//! whatever is measured next; so does a load without end on a server that goes on. So a shell waits for the end of its input, which the operating system brings about however
//! the lab ends, kills the process groups that it was told of, and removes the folder:
//!
//! ```text
//!   lab --- watch GROUP, forget GROUP ---> shell
//!    | ends, in whatever way                 |
//!    '------------- end of input -----------> kill those watched, remove the folder
//! ```
//!
//! Whoever stops a server in good order has the guardian forget it. The shell is in a process group of its own: an
//! interruption from the terminal does not reach it.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// A process that was killed may still write for a moment, so that its folder is not empty at the first try.
const SCRIPT: &str = r#"
watched=
while read -r order group; do
  case $order in
    watch) watched="$watched $group" ;;
    forget)
      kept=
      for one in $watched; do [ "$one" = "$group" ] || kept="$kept $one"; done
      watched=$kept ;;
  esac
done
for group in $watched; do kill -s KILL -- "-$group"; done
for try in 1 2 3 4 5; do rm -rf -- "$1" && break; sleep 1; done
"#;

/// The shell, as long as the lab lives. Dropping it has it clean up as well, and waits for that.
#[derive(Debug)]
pub struct Guardian {
    shell: Child,
    orders: Mutex<Option<ChildStdin>>,
}

impl Guardian {
    /// Guards `folder`.
    pub fn new(folder: &Path) -> Result<Guardian> {
        let shell = Path::new("/bin/sh");
        let mut command = Command::new(shell);
        command.args(["-c", SCRIPT, "palisade-lab-guardian"]).arg(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let mut shell = command.spawn().map_err(|error| Error::file(shell, error))?;
        let orders = Mutex::new(shell.stdin.take());
        Ok(Guardian { shell, orders })
    }

    /// From now on the process group goes when the lab goes.
    pub fn watch(&self, group: u32) -> Result<()> {
        self.order("watch", group)
    }

    /// The process group has gone in good order; its number may be another's soon.
    pub fn forget(&self, group: u32) -> Result<()> {
        self.order("forget", group)
    }

    fn order(&self, order: &str, group: u32) -> Result<()> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(orders) = orders.as_mut() else { return Ok(()) };
        writeln!(orders, "{order} {group}").map_err(|error| Error::file(Path::new("/bin/sh"), error))
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        // the end of its input is what the shell waits for
        *self.orders.lock().unwrap_or_else(PoisonError::into_inner) = None;
        // what it could not remove whoever made the folder tries once more
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    /// A process in a group of its own that ends when its input does, or is killed.
    fn sleeper() -> Child {
        let mut command = Command::new("cat");
        command.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        command.spawn().expect("a process")
    }

    #[test]
    fn what_is_watched_goes_with_the_lab_and_so_does_the_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("it's here");
        std::fs::create_dir_all(folder.join("data")).expect("a folder");
        let (mut watched, mut forgotten) = (sleeper(), sleeper());
        let guardian = Guardian::new(&folder).expect("a shell");
        for child in [&watched, &forgotten] {
            guardian.watch(child.id()).expect("the shell reads");
        }
        guardian.forget(forgotten.id()).expect("the shell reads");
        assert!(folder.is_dir());
        drop(guardian);
        assert_eq!(watched.wait().expect("it was started here").signal(), Some(9));
        assert!(!folder.exists());
        drop(forgotten.stdin.take());
        assert!(forgotten.wait().expect("it was started here").success(), "it ended by itself");
    }
}
