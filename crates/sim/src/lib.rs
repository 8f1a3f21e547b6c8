//! Whole histories of the engine on a disk that fails, replayable from a seed. Tests only.
//!
//! A [`History`](history::History) is a sequence of lives of one data directory. In a life a few sessions take turns at
//! random: begin, insert, update, delete, read, savepoint, commit, roll back, prepare; what is prepared is ended by somebody
//! else, perhaps in a later life. Between them pages are cleaned and undo is purged. Everything runs on one thread, time comes from [`SimClock`](clock::SimClock), the disk is a
//! [`FaultFileSystem`](palisade_io::FaultFileSystem): the same seed is the same history, to the byte.
//!
//! Beside the engine runs a [`Model`](model::Model), plain maps. It says what every read must return while a life lasts,
//! and after a crash which states are possible: every commit that was acknowledged as durable, in commit order, and
//! perhaps some that were not acknowledged; what is prepared, until its end; nothing of anything else; and the indexes agree.
//!
//! [`FaultFileSystem`]: palisade_io::FaultFileSystem

#![forbid(unsafe_code)]

pub mod clock;
pub mod history;
pub mod model;
