//! Files of the server's machine that statements read and write.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use palisade_base::error_catalogue::{
    EE_CANTCREATEFILE, EE_FILENOTFOUND, EE_STAT, EE_WRITE, ER_ERROR_ON_READ, ER_FILE_EXISTS_ERROR,
    ER_OPTION_PREVENTS_STATEMENT, ER_TEXTFILE_NOT_READABLE,
};
use palisade_base::mysql_error;
use palisade_sql::{BoxFuture, FileSource, FileTarget, SqlError, SqlResult};
use tracing::warn;

/// Bytes read at a time.
const PART: usize = 256 << 10;

/// Opens `path`, which is taken from `datadir` unless it is absolute. It has to be below `allowed`; `None` allows
/// nothing, an empty path everything.
pub async fn open(
    datadir: PathBuf,
    allowed: Option<PathBuf>,
    path: PathBuf,
) -> SqlResult<Box<dyn FileSource>> {
    let refused = || mysql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv");
    let Some(allowed) = allowed else { return Err(refused()) };
    let opened = tokio::task::spawn_blocking(move || {
        let path = datadir.join(path);
        let shown = path.display().to_string();
        let errno = |error: &std::io::Error| error.raw_os_error().unwrap_or(0);
        let found = path.canonicalize();
        // Links are followed before the directory is compared; of what is not there, those of its folder.
        if !allowed.as_os_str().is_empty() {
            let allowed = allowed.canonicalize().map_err(|_| refused())?;
            let near = match &found {
                Ok(found) => found.clone(),
                Err(_) => path.parent().and_then(|folder| folder.canonicalize().ok()).unwrap_or_default(),
            };
            if !near.starts_with(&allowed) {
                return Err(refused());
            }
        }
        let stat = |error: std::io::Error| mysql_error!(EE_STAT, shown, errno(&error), reason(&error));
        let found = found.map_err(stat)?;
        if !found.metadata().map_err(stat)?.is_file() {
            return Err(mysql_error!(ER_TEXTFILE_NOT_READABLE, shown));
        }
        let open =
            |error: std::io::Error| mysql_error!(EE_FILENOTFOUND, shown, errno(&error), reason(&error));
        Ok(LocalFile { file: Some(File::open(&found).map_err(open)?), name: shown.clone() })
    });
    match opened.await {
        Ok(opened) => Ok(Box::new(opened?)),
        Err(_) => Err(refused()),
    }
}

/// Makes the file `path`, which is taken from `datadir` unless it is absolute, and must be below `allowed`,
/// as in [`open`]. With `synced` it is durable when it is finished.
pub async fn create(
    datadir: PathBuf,
    allowed: Option<PathBuf>,
    path: PathBuf,
    synced: bool,
) -> SqlResult<Box<dyn FileTarget>> {
    let refused = || mysql_error!(ER_OPTION_PREVENTS_STATEMENT, "--secure-file-priv");
    let Some(allowed) = allowed else { return Err(refused()) };
    let created = tokio::task::spawn_blocking(move || {
        let path = datadir.join(path);
        let shown = path.display().to_string();
        // links are followed before the directory is compared
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        if !allowed.as_os_str().is_empty() {
            let allowed = allowed.canonicalize().map_err(|_| refused())?;
            if !folder.is_some_and(|folder| folder.starts_with(&allowed)) || path.ends_with("..") {
                return Err(refused());
            }
        }
        // a link that leads elsewhere is a file that is there
        let made = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(&path);
        let file = made.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => mysql_error!(ER_FILE_EXISTS_ERROR, shown),
            _ => {
                let number = error.raw_os_error().unwrap_or(0);
                mysql_error!(EE_CANTCREATEFILE, shown, number, reason(&error))
            }
        })?;
        Ok(NewFile { file: Some(file), path, synced })
    });
    match created.await {
        Ok(created) => Ok(Box::new(created?)),
        Err(_) => Err(refused()),
    }
}

/// Permissions of files that statements write, less what the umask takes.
const FILE_MODE: u32 = 0o640;

/// A file that is written.
struct NewFile {
    /// `None` while it is written, and after that failed.
    file: Option<File>,
    path: PathBuf,
    synced: bool,
}

impl NewFile {
    /// Does something with the file aside, because the disk may take its time.
    async fn aside(
        &mut self,
        action: impl FnOnce(&mut File) -> std::io::Result<()> + Send + 'static,
    ) -> SqlResult<()> {
        let file = self.file.take();
        let done = tokio::task::spawn_blocking(move || {
            let mut file = file.ok_or_else(|| std::io::Error::other("it could not be written before"))?;
            action(&mut file).map(|()| file)
        });
        let done = done.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        let failed = |error: std::io::Error| {
            let number = error.raw_os_error().unwrap_or(0);
            mysql_error!(EE_WRITE, self.path.display(), number, reason(&error))
        };
        self.file = Some(done.map_err(failed)?);
        Ok(())
    }
}

impl FileTarget for NewFile {
    fn write(&mut self, part: Vec<u8>) -> BoxFuture<'_, SqlResult<()>> {
        Box::pin(self.aside(move |file| file.write_all(&part)))
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, SqlResult<()>> {
        Box::pin(async move {
            match self.synced {
                true => self.aside(|file| file.sync_all()).await,
                false => Ok(()),
            }
        })
    }

    fn remove(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let path = self.path;
            let removed = tokio::task::spawn_blocking(move || {
                std::fs::remove_file(&path).map_err(|error| (path, error))
            });
            if let Ok(Err((path, error))) = removed.await {
                warn!("cannot remove {}, which a statement did not finish: {error}", path.display());
            }
        })
    }
}

/// The system's text for an error, without its number.
fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// An open file.
struct LocalFile {
    /// `None` while it is read.
    file: Option<File>,
    name: String,
}

impl LocalFile {
    fn failed(&self, error: &std::io::Error) -> SqlError {
        mysql_error!(ER_ERROR_ON_READ, self.name, error.raw_os_error().unwrap_or(0), reason(error))
    }
}

impl FileSource for LocalFile {
    fn part(&mut self) -> BoxFuture<'_, SqlResult<Vec<u8>>> {
        Box::pin(async {
            let Some(mut file) = self.file.take() else { return Ok(Vec::new()) };
            let read = tokio::task::spawn_blocking(move || {
                let mut part = vec![0; PART];
                let length = file.read(&mut part)?;
                part.truncate(length);
                Ok((file, part))
            });
            let done = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
            let (file, part) = done.map_err(|error| self.failed(&error))?;
            self.file = Some(file);
            Ok(part)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    async fn opened(allowed: Option<&Path>, path: &Path) -> Result<Vec<u8>, u16> {
        let allowed = allowed.map(Path::to_owned);
        let mut file = open("/nowhere".into(), allowed, path.into()).await.map_err(|error| error.number())?;
        file.part().await.map_err(|error| error.number())
    }

    #[tokio::test]
    async fn only_below_the_directory_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("a"), "text").unwrap();
        std::fs::write(&outside, "secret").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        assert_eq!(opened(None, &inside.join("a")).await, Err(1290));
        assert_eq!(opened(Some(&inside), &inside.join("a")).await, Ok(b"text".to_vec()));
        assert_eq!(opened(Some(&inside), &outside).await, Err(1290));
        assert_eq!(opened(Some(&inside), &inside.join("../out")).await, Err(1290));
        assert_eq!(opened(Some(&inside), &inside.join("link")).await, Err(1290));
        assert_eq!(opened(Some(&inside), &inside.join("missing")).await, Err(13));
        assert_eq!(opened(Some(&inside), &inside.join("../missing")).await, Err(1290));
        assert_eq!(opened(Some(&inside), Path::new("a")).await, Err(1290));
        assert_eq!(opened(Some(Path::new("")), &outside).await, Ok(b"secret".to_vec()));
        assert_eq!(opened(Some(Path::new("")), &inside).await, Err(1085));
    }
}
