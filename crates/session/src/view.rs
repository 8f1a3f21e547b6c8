//! What may be told of a session.

use palisade_expr::session_state::SessionState;

use crate::command::CommandCounts;
use crate::profile::Profiles;
use crate::work::WorkDone;

/// What SHOW and virtual tables tell of a session while one of its statements runs.
#[derive(Clone, Copy)]
pub struct SessionView<'a> {
    /// What its expressions see.
    pub state: &'a SessionState,
    /// What its statements have done.
    pub work: &'a WorkDone,
    /// How many statements and commands of each kind it has executed.
    pub commands: &'a CommandCounts,
    /// How long the stages of its last statements took.
    pub profiles: Option<&'a Profiles>,
}
