"""Media types whose bytes are compressed already (`spec/http/compressed-types.json`)."""

TYPES = frozenset(
    (
        "application/epub+zip",
        "application/gzip",
        "application/java-archive",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.text",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.rar",
        "application/x-7z-compressed",
        "application/x-bzip2",
        "application/x-gzip",
        "application/x-xz",
        "application/zip",
        "application/zstd",
        "font/woff",
        "font/woff2",
        "image/apng",
        "image/avif",
        "image/gif",
        "image/heic",
        "image/heif",
        "image/jpeg",
        "image/jxl",
        "image/png",
        "image/webp",
    )
)
FAMILIES = frozenset(("audio", "video"))


def is_compressed(content_type: str) -> bool:
    """Whether a content coding would only cost time."""
    media = content_type.partition(";")[0].strip().lower()
    family, slash, _ = media.partition("/")
    return media in TYPES or (slash != "" and family in FAMILIES)
