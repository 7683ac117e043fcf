//! What was heard from others, for as long as it is believed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Entries at most: who fills it with nonsense makes others forgotten, and uses no more memory.
const MOST: usize = 4096;

/// A bounded table whose entries end.
pub(super) struct Cache<K, V>(Mutex<HashMap<K, (V, Instant)>>);

impl<K: Eq + Hash + Clone, V: Clone> Cache<K, V> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(HashMap::new()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, (V, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &K) -> Option<V> {
        let now = Instant::now();
        let entries = self.lock();
        let (value, until) = entries.get(key)?;
        (*until > now).then(|| value.clone())
    }

    /// The first one that fits.
    pub(super) fn find(&self, fits: impl Fn(&V) -> bool) -> Option<V> {
        let now = Instant::now();
        let entries = self.lock();
        let mut good = entries.values().filter(|(_, until)| *until > now);
        good.find(|(value, _)| fits(value))
            .map(|(value, _)| value.clone())
    }

    /// Keeps it; of too many the one goes that would have ended first.
    pub(super) fn put(&self, key: K, value: V, time: Duration) {
        let now = Instant::now();
        let mut entries = self.lock();
        if entries.len() >= MOST && !entries.contains_key(&key) {
            entries.retain(|_, (_, until)| *until > now);
            if entries.len() >= MOST {
                let first = entries.iter().min_by_key(|(_, (_, until))| *until);
                if let Some(first) = first.map(|(key, _)| key.clone()) {
                    entries.remove(&first);
                }
            }
        }
        entries.insert(key, (value, now + time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_end_and_are_bounded() {
        let cache = Cache::new();
        let long = Duration::from_secs(1000);
        cache.put(0, 'a', Duration::ZERO);
        assert_eq!(cache.get(&0), None);
        for key in 1..=MOST {
            cache.put(key, 'b', long + Duration::from_millis(key as u64));
        }
        assert_eq!(cache.get(&1), Some('b'));
        cache.put(0, 'c', long);
        cache.put(MOST, 'd', long);
        assert_eq!(cache.get(&1), None, "the first to end went");
        assert_eq!((cache.get(&0), cache.get(&MOST)), (Some('c'), Some('d')));
        assert_eq!(cache.find(|value| *value == 'c'), Some('c'));
        assert_eq!(cache.lock().len(), MOST);
    }
}
