use polycache_bench_codec::{
    bench, compression, configurations, encryption, serializers, throughput,
};

fn main() {
    let tables = [
        throughput::subjects(),
        serializers::subjects(),
        compression::subjects(),
        encryption::subjects(),
        configurations::subjects(),
    ];
    bench::main(tables.into_iter().flatten().collect());
}
