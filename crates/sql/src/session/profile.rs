//! The stages of a session's statements, noted if `profiling` is on.

use std::time::Duration;

use crate::{Processes, Session};

impl Session {
    /// A statement begins that is sent by the client.
    #[inline]
    pub fn begin_profile(&mut self, host: &(impl Processes + ?Sized)) {
        if self.state.variables.profiling || self.notes_stages {
            self.begin_first_stage(host.monotonic());
        }
    }

    #[cold]
    fn begin_first_stage(&mut self, now: Duration) {
        let profiles = self.profiles.get_or_insert_default();
        profiles.begin(now);
    }

    /// The stages of the statement until now, if they are noted: what each is called, when it began by the
    /// server's clock, and how long it took.
    pub fn noted_stages(
        &self,
        host: &(impl Processes + ?Sized),
    ) -> (Duration, Vec<(&'static str, Duration, Duration)>) {
        let now = host.monotonic();
        (now, self.profiles.as_ref().map_or_else(Vec::new, |profiles| profiles.current_stages(now)))
    }

    /// A stage of the statement begins.
    #[inline]
    pub fn begin_stage(&mut self, host: &(impl Processes + ?Sized), name: &'static str) {
        if let Some(profiles) = &mut self.profiles {
            profiles.begin_stage(name, host.monotonic());
        }
    }

    /// The statement has done what it is for; not all kinds of statements say so themselves.
    #[inline]
    pub(crate) fn reach_end(&mut self, host: &(impl Processes + ?Sized)) {
        const END: &str = "end";
        if self.profiles.as_ref().is_some_and(|profiles| profiles.lacks_stage(END)) {
            self.begin_stage(host, END);
        }
    }

    /// The statement shows profiles, and gets none.
    pub(crate) fn drop_profile(&mut self) {
        if let Some(profiles) = &mut self.profiles {
            profiles.drop_current();
        }
    }

    /// The statement of that text has ended: its profile is kept, if `profiling` is still on.
    #[inline]
    pub fn end_profile(&mut self, host: &(impl Processes + ?Sized), text: &[u8]) {
        if self.profiles.is_some() {
            self.keep_profile(host.monotonic(), text);
        }
    }

    #[cold]
    fn keep_profile(&mut self, now: Duration, text: &[u8]) {
        let Some(profiles) = &mut self.profiles else { return };
        let variables = &self.state.variables;
        profiles.keep(now, text, variables.profiling, variables.profiling_history_size);
    }
}
