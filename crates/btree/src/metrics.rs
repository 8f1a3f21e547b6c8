//! What this floor counts.

palisade_base::metrics! {
    /// Nodes split.
    pub static INDEX_PAGE_SPLITS: Counter = "index_page_splits", "index", "Number of index page splits";
    /// Leaves that gave entries to a neighbour instead of being split.
    pub static INDEX_PAGE_SHIFTS: Counter =
        "index_page_shifts", "index", "Number of full leaves that gave entries to a neighbour instead of being split";
    /// Roots that got a new level.
    pub static INDEX_ROOT_RAISES: Counter = "index_root_raises", "index", "Number of times an index became one level higher";
    /// Nodes merged with a neighbour.
    pub static INDEX_PAGE_MERGES: Counter =
        "index_page_merge_successful", "index", "Number of successful index page merges";
    /// Descents begun again because a page changed under them.
    pub static INDEX_DESCENT_RESTARTS: Counter =
        "index_descent_restarts", "index", "Number of index descents restarted after a concurrent change";
    /// Pages allocated.
    pub static SPACE_PAGES_ALLOCATED: Counter = "space_pages_allocated", "index", "Number of pages allocated in tablespaces";
    /// Pages freed.
    pub static SPACE_PAGES_FREED: Counter = "space_pages_freed", "index", "Number of pages freed in tablespaces";
    /// Mini-transactions committed.
    pub static MTR_COMMITS: Counter = "mtr_commits", "log", "Number of mini-transactions committed";
    /// Bytes of redo that mini-transactions have made.
    pub static MTR_REDO_BYTES: Counter = "mtr_redo_bytes", "log", "Bytes of redo made by mini-transactions";
    /// Operations redone in recovery.
    pub static RECOVERY_OPERATIONS: Counter =
        "log_recovery_operations_applied", "recovery", "Number of page operations redone at recovery";
    /// Damaged pages whose redo was given up.
    pub static RECOVERY_PAGES_GIVEN_UP: Counter = "log_recovery_pages_given_up", "recovery",
        "Number of damaged pages whose redo was given up with innodb_force_recovery";
}
