//! The page store as a whole, on files in memory and on a disk that loses and tears.

mod alloc;
mod concurrent;
mod crash;
mod golden;
mod harness;
mod hints;
mod model;
mod tree;
mod verify;
