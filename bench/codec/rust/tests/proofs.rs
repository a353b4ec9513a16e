//! That every subject reads what it wrote, and that names are unique.

use polycache_bench_codec::{
    bench::Subject, compression, configurations, encryption, serializers, throughput,
};
use std::collections::HashSet;

fn opens(subjects: Vec<Subject>) {
    let mut seen = HashSet::new();
    for subject in subjects {
        let id = format!("{}/{}", subject.workload, subject.name);
        let opened = match (subject.open)() {
            Ok(opened) => opened,
            Err(error) => {
                let reason = error.to_string();
                assert!(
                    reason.starts_with("not built yet") || reason.starts_with("not compiled"),
                    "{id}: {reason}"
                );
                continue;
            }
        };
        assert!(!opened.is_empty(), "{id}");
        for operation in opened {
            let name = format!("{id}/{}", operation.name);
            assert!(seen.insert(name.clone()), "{name} twice");
        }
        assert!(
            subject
                .versions
                .iter()
                .all(|(_, version)| version != "unknown"),
            "{id}"
        );
    }
}

#[test]
fn caches() {
    opens(throughput::subjects());
}

#[test]
fn serializers_and_compressors() {
    opens(serializers::subjects());
    opens(compression::subjects());
}

#[test]
fn encrypted_entries() {
    opens(encryption::subjects());
}

#[test]
fn configurations_of_both() {
    opens(configurations::subjects());
}
