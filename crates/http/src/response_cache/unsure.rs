//! What must be undone if its caller is dropped.

use polycache::AsyncCache;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;

/// An answer that may have been made before the answers of its URL were forgotten. Unless somebody finds that it was not, it
/// is deleted.
pub(super) struct Unsure {
    cache: AsyncCache,
    key: String,
    /// Whether it is there, and nobody looked.
    pub is_unsure: bool,
}

impl Unsure {
    pub fn new(cache: &AsyncCache, key: &str) -> Unsure {
        Unsure {
            cache: cache.clone(),
            key: key.to_owned(),
            is_unsure: false,
        }
    }
}

impl Drop for Unsure {
    fn drop(&mut self) {
        if let (true, Ok(runtime)) = (self.is_unsure, Handle::try_current()) {
            let (cache, key) = (self.cache.clone(), std::mem::take(&mut self.key));
            runtime.spawn(async move { cache.delete(key).await });
        }
    }
}

/// A key that this process fetches anew, until it is dropped.
pub(super) struct Refreshing {
    keys: Arc<Mutex<HashSet<String>>>,
    pub key: String,
}

impl Refreshing {
    /// `None` where it does so already.
    pub fn begin(keys: &Arc<Mutex<HashSet<String>>>, key: &str) -> Option<Refreshing> {
        let mut known = keys.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned()).then(|| Refreshing {
            keys: keys.clone(),
            key: key.to_owned(),
        })
    }
}

impl Drop for Refreshing {
    fn drop(&mut self) {
        let mut known = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        known.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::Unsure;
    use polycache::{AsyncCache, Cache};
    use tokio::runtime::Handle;
    use tokio::task::yield_now;

    #[tokio::test]
    async fn what_nobody_looked_at_is_deleted() {
        let cache: AsyncCache = Cache::builder().build().unwrap().into();
        for is_unsure in [false, true] {
            cache.set("k", "an answer").await.unwrap();
            let mut unsure = Unsure::new(&cache, "k");
            unsure.is_unsure = is_unsure;
            drop(unsure);
            while Handle::current().metrics().num_alive_tasks() > 0 {
                yield_now().await;
            }
            assert_eq!(cache.has("k").await.unwrap(), !is_unsure);
        }
    }

    #[test]
    fn without_a_runtime_nothing_is_done() {
        let cache: AsyncCache = Cache::builder().build().unwrap().into();
        let mut unsure = Unsure::new(&cache, "k");
        unsure.is_unsure = true;
    }
}
