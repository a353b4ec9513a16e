//! That the data is the published page's: its encoded sizes are.

use polycache_bench_codec::compression::{self, Compressor};
use polycache_bench_codec::page::{self, Page};
use polycache_bench_codec::serializers::{
    Format, PolycacheBincode, PolycachePayload, Serializer, SkpCache,
};

fn sizes(value: &Page) -> [usize; 3] {
    Format::ALL.map(|format| encoded(value, format).len())
}

fn encoded(value: &Page, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    SkpCache::new(format)
        .encode(value, &mut out)
        .expect("encodes");
    out
}

#[test]
fn encoded_sizes_are_the_published_ones() {
    // JSON, MsgPack, Bincode.
    assert_eq!(sizes(&page::small()), [57, 14, 13]);
    assert_eq!(sizes(&page::medium()), [542, 275, 272]);
    assert_eq!(sizes(&page::large()), [15_172, 13_564, 13_592]);
}

/// The page says 2,069 B. The map's order, another one in each process, moves it a little.
#[test]
fn json_with_zstd_is_about_as_large_as_published() {
    let json = encoded(&page::large(), Format::Json);
    let mut out = Vec::new();
    compression::SkpCache::new(Some(3))
        .and_then(|mut zstd| zstd.compress(&json, &mut out))
        .expect("compresses");
    assert!((2_000..2_200).contains(&out.len()), "{} B", out.len());
}

#[test]
fn our_payloads_have_the_published_sizes() {
    fn size<S: Serializer>(value: &Page, format: Format) -> usize {
        let mut out = Vec::new();
        S::new(format).encode(value, &mut out).expect("encodes");
        out.len()
    }
    for value in [page::small(), page::medium(), page::large()] {
        let [json, messagepack, bincode] = sizes(&value);
        assert_eq!(size::<PolycachePayload<false>>(&value, Format::Json), json);
        let lists = size::<PolycachePayload<true>>(&value, Format::MessagePack);
        assert_eq!(lists, messagepack);
        assert_eq!(size::<PolycacheBincode>(&value, Format::Bincode), bincode);
    }
}
