//! The user variables of a session: `@name`. The session gives them values, and other sessions may look at
//! them meanwhile (`performance_schema.user_variables_by_thread`), so there is a lock about them that is held
//! for as long as one value is copied.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palisade_catalog::{SqlType, Value};

/// A user variable: its value, and the type that says what its bytes are.
#[derive(Debug, Clone, PartialEq)]
pub struct UserVariable {
    /// Its value.
    pub value: Value,
    /// Its type.
    pub ty: SqlType,
}

impl UserVariable {
    /// Bytes that a variable of that name takes, about.
    pub(crate) fn size(&self, name: &str) -> usize {
        let value = match &self.value {
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        std::mem::size_of::<UserVariable>() + name.len() + value
    }
}

/// The user variables of a session, by lower-case name. A clone is the same variables.
#[derive(Debug, Clone, Default)]
pub struct UserVariables(Arc<Mutex<HashMap<String, UserVariable>>>);

impl UserVariables {
    fn locked(&self) -> MutexGuard<'_, HashMap<String, UserVariable>> {
        // A value is put in place by one move.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `look` sees of the variable of that name, if there is one.
    pub fn with<T>(&self, name: &str, look: impl FnOnce(&UserVariable) -> T) -> Option<T> {
        self.locked().get(name).map(look)
    }

    /// The value of the variable of that name; NULL if there is none.
    pub fn value(&self, name: &str) -> Value {
        self.with(name, |variable| variable.value.clone()).unwrap_or(Value::Null)
    }

    /// All of them, in no order.
    pub fn all(&self) -> Vec<(String, UserVariable)> {
        self.locked().iter().map(|(name, variable)| (name.clone(), variable.clone())).collect()
    }

    /// Gives one a value.
    pub(crate) fn set(&self, name: &str, variable: UserVariable) {
        let mut all = self.locked();
        match all.get_mut(name) {
            Some(place) => *place = variable,
            None => drop(all.insert(name.to_owned(), variable)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_sees_what_is_set() {
        let own = UserVariables::default();
        let others = own.clone();
        assert_eq!((others.value("a"), others.all()), (Value::Null, vec![]));
        for value in [1, 2] {
            own.set("a", UserVariable { value: Value::Int(value), ty: SqlType::BIGINT });
            assert_eq!(others.value("a"), Value::Int(value));
        }
        assert_eq!(others.with("a", |variable| variable.ty.clone()), Some(SqlType::BIGINT));
        assert_eq!(others.all().len(), 1);
    }
}
