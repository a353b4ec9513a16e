"""Small packages for the tests of tools/api.py: they offer the same thing in each language. And the
differences that are planted in them."""

from __future__ import annotations

from collections.abc import Iterable

TABLE = """
[arguments]
loader = ["load"]

[cache]
title = "`Cache`"
methods = [
  "get(key)", "set(key, value)", "get_or_set(key, loader, ttl)", "entry(key)", "stats", "check",
  "close", "closed",
]
statistics = ["hits"]
entry = ["value", "ttl"]
check = ["whole"]

[cache.options]
path = "none"
memory = "on"
lease_timeout = "30s"

[cache.memory]
max_entries = "10,000"

[memory_cache]
title = "`MemoryCache`"
methods = ["get(key)", "set(key, value)", "stats"]
causes = ["replaced", "deleted"]

[memory_cache.options]
max_entries = "10,000"
removal_listener = "none"

[lease]
title = "`Lease`"
methods = ["release"]

[redis]
title = "Redis"

[redis.options]
namespace = "required"
separator = ":"

[errors]
title = "Errors"
errors = ["too_large(size)", "busy(retryable)"]
"""

PYTHON = '''
from dataclasses import dataclass
from typing import Any, Callable, TypedDict

class PolycacheError(Exception):
    code = "error"
    retryable = False

class TooLarge(PolycacheError):
    code = "too_large"
    def __init__(self, message: str, size: int = 0) -> None: ...

class Busy(PolycacheError):
    code = "busy"
    retryable = True

@dataclass
class Stats:
    hits: int

@dataclass
class MemoryStats:
    pass

@dataclass
class Report:
    whole: int

@dataclass
class Entry:
    value: Any
    ttl: float

class MemoryOptions(TypedDict, total=False):
    max_entries: int
    """Most entries. Default: 10_000."""

class Options(TypedDict, total=False):
    lease_timeout: str
    """How old a load may be, "1s" or more.
    Default: "30s"."""
    memory: MemoryOptions | bool
    """Objects in memory. Default: True."""

class MemoryCacheOptions(TypedDict, total=False):
    removal_listener: Callable[[Any, Any, str], None]
    """Called with key, value and cause: "replaced" or "deleted". Default: none."""

class Cache:
    def __init__(self, path: str | None = None, **options: Any) -> None: ...
    def get(self, key: str) -> Any: ...
    def set(self, key: str, value: Any) -> None: ...
    def entry(self, key: str) -> Entry:
        return Entry(1, 2.0)
    def get_or_set(self, key: str, loader: Any, *, ttl: Any = None) -> Any: ...
    def stats(self) -> Stats: ...
    def check(self) -> Report: ...
    def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...
    def _hidden(self) -> None: ...

class AsyncCache:
    async def get(self, key: str) -> Any: ...
    async def set(self, key: str, value: Any) -> None: ...
    async def entry(self, key: str) -> Entry: ...
    async def get_or_set(self, key: str, loader: Any, *, ttl: Any = None) -> Any: ...
    async def stats(self) -> Stats: ...
    async def check(self) -> Report: ...
    async def close(self) -> None: ...
    @property
    def closed(self) -> bool: ...

class MemoryCache:
    def __new__(cls, max_entries: int = 10_000, **options: Any) -> "MemoryCache":
        return super().__new__(cls)
    def get(self, key: Any) -> Any: ...
    def set(self, key: Any, value: Any) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def stats(self) -> MemoryStats: ...

class Lease:
    def release(self) -> None: ...

class AsyncLease:
    async def release(self) -> None: ...
'''

PYTHON_REDIS = '''
def namespaced(client: object, namespace: str, *, separator: str = ":") -> object:
    """A client.

    namespace: text.
    separator: what stands behind each name.
    """
    return client
'''

RUBY = """
module Polycache
  class Error < StandardError
    RETRYABLE = false
  end

  class TooLarge < Error
    CODE = "too_large"
    attr_reader :size
  end

  class Busy < Error
    CODE = "busy"
    RETRYABLE = true
  end

  module Memory
    class Settings
      TIER = %i[max_entries].freeze
      ALL = [*TIER, :removal_listener].freeze
    end
  end

  # Methods that Cache includes.
  module Many
    # @yieldreturn [Object] the value
    def get_or_set(key, ttl: nil, &load) = load.call
  end

  class Cache
    include Many
    OPTIONS = { path: nil, memory: nil, lease_timeout: "30s" }.freeze
    Entry = Struct.new(:value, :ttl)

    # @param path [String, nil] where. Default: nil.
    # @param lease_timeout [String] how old a load may be, "1s" or
    #   more. Default: "30s".
    # @param memory [Boolean] objects in memory. Default: true.
    # @raise [Error] never
    def initialize(**options) = nil

    def get(key) = nil
    def set(key, value) = nil
    def entry(key) = Entry.new(1, 2.0)
    def stats = { hits: 0 }
    def check = { whole: 0 }
    def close = nil
    def closed? = false

    # @api private
    def hidden = nil
    def inspect = "a cache"
  end

  class MemoryCache
    # @param options
    #   * +max_entries+ [Integer] the most entries. Default: 10,000.
    #   * +removal_listener+ [#call] is given key, value and why: +:replaced+
    #     or +:deleted+. Default: nil.
    def initialize(**options) = nil

    def get(key) = nil
    def set(key, value) = nil
    def stats = {}
  end

  class Lease
    def release = nil
  end

  # In `custom`:
  # - namespace: text;
  # - separator: what stands behind each name. Default: ":".
  module RedisNamespace
    def connect(config) = super
  end
end
"""

TYPESCRIPT = """
export abstract class PolycacheError extends Error {
  abstract readonly code: 'too_large' | 'busy'
  get retryable(): boolean { return false }
}
export class TooLarge extends PolycacheError {
  readonly code = 'too_large'
  readonly size: number = 0
}
export class Busy extends PolycacheError {
  readonly code = 'busy'
  override get retryable(): boolean { return true }
}
export interface Stats { hits: number }
export interface Entry<T> { readonly value: T; readonly ttl: number }
export interface MemoryOptions {
  /** Most entries. Default: 10,000. */
  readonly maxEntries?: number
}
export interface CacheOptions {
  /** Where. Default: none. */
  readonly path?: string
  /** Objects in memory. Default: true. */
  readonly memory?: MemoryOptions | false
  /**
   * How old a load may be, `1s` or
   * more. Default: `30s`.
   */
  readonly leaseTimeout?: string
}
export interface SetOptions { readonly ttl?: string | null }
abstract class Inner {
  protected inherited(): void {}
  get closed(): boolean { return false }
}
export class Cache extends Inner {
  readonly #hidden = 1
  constructor(options?: CacheOptions) { super(); void options }
  get(key: string): Promise<unknown> { return this.#get(key) }
  getSync(key: string): unknown { return key }
  async set(key: string, value: unknown): Promise<void> { void key; void value }
  setSync(key: string, value: unknown): void { void key; void value }
  async getOrSet(key: string, loader: () => unknown, options?: SetOptions): Promise<unknown> {
    return this.getOrSetSync(key, loader, options)
  }
  getOrSetSync(key: string, loader: () => unknown, { ttl }: SetOptions = {}): unknown {
    void key
    void ttl
    return loader()
  }
  entrySync(key: string): Entry<string> | undefined { return { value: key, ttl: 0 } }
  async entry(key: string): Promise<Entry<string> | undefined> { return this.entrySync(key) }
  statsSync(): Stats { return { hits: this.#hidden } }
  async stats(): Promise<Stats> { return this.statsSync() }
  checkSync(): { whole: number } { return { whole: 0 } }
  async check(): Promise<{ whole: number }> { return this.checkSync() }
  closeSync(): void {}
  async close(): Promise<void> {}
  /** @internal */
  internal(): void {}
  async #get(key: string): Promise<unknown> { return key }
}
export type RemovalCause = 'replaced' | 'deleted'
export interface MemoryCacheOptions<K, V> extends MemoryOptions {
  /** Told what left. Default: none. */
  readonly removalListener?: (key: K, value: V, cause: RemovalCause) => void
}
export class MemoryCache<K = string, V = unknown> {
  get(key: K): V | undefined { void key; return undefined }
  set(key: K, value: V): void { void key; void value }
  stats(): Record<never, number> { return {} }
}
export class Lease {
  release(): void {}
}
"""

TYPESCRIPT_REDIS = """
export interface NamespaceOptions {
  readonly namespace: string
  /** What stands behind each name. Default: `:`. */
  readonly separator?: string
}
export function namespaced<C extends object>(client: C, options: NamespaceOptions): C {
  void options
  return client
}
"""


def _page(*items: str) -> str:
    """As rustdoc writes one: with links at the side, and what traits bring at the end."""
    return (
        '<nav class="sidebar"><a href="#method.elsewhere">elsewhere</a></nav>'
        '<section id="main-content" class="content">'
        '<a class="src" href="../src/polycache/lib.rs.html#1-9">Source</a>'
        + "".join(items)
        + '<h2 id="trait-implementations">Traits</h2>'
        '<section id="method.clone" class="method"><h4 class="code-header">fn clone(&amp;self)</h4>'
        "</section></section>"
    )


def _method(name: str, arguments: str, doc: str = "It does.", generics: str = "") -> str:
    return (
        f'<section id="method.{name}" class="method"><a class="src rightside" '
        f'href="../src/polycache/cache.rs.html#7-9">Source</a><h4 class="code-header">pub fn '
        f'<a href="#method.{name}" class="fn">{name}</a>{generics}(\n    {arguments},\n) -&gt; '
        f'<a class="enum" title="enum Result">Result</a>&lt;T, Error&gt;</h4></section>'
        f'<div class="docblock"><p>{doc}</p>\n<div class="example-wrap"><pre>example</pre></div>'
        '<h5 id="errors"><a href="#errors">§</a>Errors</h5><p>Default: not this.</p></div>'
    )


def _fields(kind: str, names: Iterable[str]) -> str:
    return "".join(f'<span id="{kind}.{name}" class="{kind}">{name}</span>' for name in names)


SELF = "&amp;self"
KEY = f'{SELF}, key: impl <a title="trait AsRef">AsRef</a>&lt;[u8]&gt;'
LOAD = f"{KEY}, ttl: T, load: impl FnOnce(&amp;str, u8) -&gt; Result&lt;T, E&gt;"
CACHE = (
    _method("get", KEY, generics="&lt;T: Read&lt;'static&gt;&gt;"),
    _method("set", f"{KEY}, value: &amp;(T, T)"),
    _method("get_or_set", LOAD, generics="&lt;T, E&gt;"),
    _method("entry", KEY),
    _method("stats", SELF),
    _method("check", SELF),
    _method("close", SELF),
    _method("closed", SELF),
)
BUILDER = (
    _method("path", "mut self, path: P", "Where. Default: none."),
    _method("memory", "mut self, on: bool", "Objects in memory. Default: <code>true</code>."),
    _method("lease_timeout", "mut self, time: T", "How old a load may be. Default: 30 s."),
    _method("max_entries", "mut self, entries: u64", "Most entries. Default: 10,000."),
    _method("build", "self"),
)
MEMORY_BUILDER = (
    _method("max_entries", "mut self, entries: u64", "Most entries. Default: 10,000."),
    _method("removal_listener", "mut self, f: F", "Told what left. Default: none."),
    _method("build", "self"),
)
NAMESPACE = (
    _method("new", "name: impl AsRef&lt;str&gt;"),
    _method("prefix", SELF),
    _method(
        "separator",
        "self, text: &amp;str",
        "What stands behind each name. Default: <code>:</code>.",
    ),
)
ERRORS = (
    _fields("variant", ["TooLarge", "TooLarge.fields", "TooLarge.field.size", "Busy"]),
    _method("code", SELF),
)
ERROR_RS = """
impl Error {
    pub fn retryable(&self) -> bool {
        match self {
            Error::Busy => true,
            Error::TooLarge { .. } => false,
        }
    }
}
"""

FILES = {
    "python": {
        "python/src/polycache/__init__.py": PYTHON,
        "python/src/polycache/redis_namespace.py": PYTHON_REDIS,
    },
    "ruby": {"ruby/lib/polycache.rb": RUBY},
    "typescript": {
        "typescript/src/index.ts": TYPESCRIPT,
        "typescript/src/redis-namespace/index.ts": TYPESCRIPT_REDIS,
        "typescript/tsconfig.json": '{"compilerOptions": {"strict": true, "target": "es2023"}}',
    },
    "rust": {
        "doc/polycache/struct.Cache.html": _page(*CACHE),
        "doc/polycache/struct.AsyncCache.html": _page(*CACHE),
        "doc/polycache/struct.Builder.html": _page(*BUILDER),
        "doc/polycache/struct.Stats.html": _page(_fields("structfield", ["hits"])),
        "doc/polycache/struct.Entry.html": _page(_fields("structfield", ["value", "facts"])),
        "doc/polycache/struct.Facts.html": _page(_fields("structfield", ["ttl"])),
        "doc/polycache/struct.Report.html": _page(_fields("structfield", ["whole"])),
        "doc/polycache/struct.Lease.html": _page(_method("release", SELF)),
        "doc/polycache/enum.Error.html": _page(*ERRORS),
        "doc/polycache_memory/struct.MemoryCache.html": _page(
            _method("get", f"{SELF}, key: &amp;Q"),
            _method("set", f"{SELF}, key: K, value: V"),
            _method("stats", SELF),
        ),
        "doc/polycache_memory/struct.Builder.html": _page(*MEMORY_BUILDER),
        "doc/polycache_memory/enum.RemovalCause.html": _page(
            _fields("variant", ["Replaced", "Deleted"])
        ),
        "doc/polycache_redis_namespace/struct.Namespace.html": _page(*NAMESPACE),
        "crates/polycache/src/error.rs": ERROR_RS,
    },
}

# What a language has besides.
REASONS = {
    "rust": "",
    "typescript": "",
    "ruby": "",
    "python": """
[[reason]]
why = "The reader writes with it."
python = ["memory_cache.methods.[]= more"]
""",
}

# What is changed in a package, and the differences that are found then.
PLANTED: dict[str, list[tuple[str, str, list[str]]]] = {
    "python": [
        ("def get(self, key: str)", "def _get(self, key: str)", ["cache.methods.get missing"]),
        ("    def get_or_set(", "    def _load(", ["cache.methods.get_or_set no twin"]),
        ("    async def check(", "    async def _check(", ["cache.methods.check no twin"]),
        ('more.\n    Default: "30s"', 'more.\n    Default: "1m"', ["lease_timeout default 1m"]),
        ("    hits: int", "    hits: int\n    reads: int", ["cache.statistics.reads more"]),
        ('"replaced" or "deleted"', '"replaced"', ["memory_cache.causes.deleted missing"]),
        (
            '    code = "busy"\n    retryable = True',
            '    code = "busy"',
            ["without retryable"],
        ),
        ('separator: str = ":"', 'separator: str = "-"', ["redis.options.separator default -"]),
    ],
    "ruby": [
        ("    def closed? = false", "", ["cache.methods.closed missing"]),
        ('more. Default: "30s".', "more.", ["the documentation of `lease_timeout` doesn't end"]),
        ("= { hits: 0 }", "= { hits: 0, reads: 0 }", ["cache.statistics.reads more"]),
        (
            ":removal_listener].freeze",
            "].freeze",
            ["`removal_listener` is documented, and"],
        ),
        ("    attr_reader :size", "", ["errors.errors.too_large without size"]),
        ("get_or_set(key, ttl: nil, &load)", "get_or_set(key, &load)", ["without ttl"]),
        ('Default: ":"', 'Default: "-"', ["redis.options.separator default -"]),
    ],
    "typescript": [
        ("  async close(): Promise<void> {}\n", "", ["close missing", "close_sync more"]),
        ("  checkSync(): { whole: number } { return { whole: 0 } }\n", "", ["check no twin"]),
        ("more. Default: `30s`", "more. Default: `1m`", ["cache.options.lease_timeout default 1m"]),
        ("hits: number }", "hits: number; reads: number }", ["cache.statistics.reads more"]),
        ("  readonly size: number = 0\n", "", ["errors.errors.too_large without size"]),
        ("'replaced' | 'deleted'", "'replaced'", ["memory_cache.causes.deleted missing"]),
        ("ttl?: string | null }", "ttl?: string; signal?: object }", ["get_or_set with signal"]),
        ("Default: `:`", "Default: `-`", ["redis.options.separator default -"]),
    ],
    "rust": [
        ('id="method.close"', 'id="gone.close"', ["cache.methods.close missing"]),
        ("old a load may be. Default: 30 s", "old a load may be. Default: 1 m", ["default 1m"]),
        ("variant.Deleted", "variant.Removed", ["deleted missing", "removed more"]),
        ("Error::Busy => true", "Error::Never => true", ["errors.errors.busy without retryable"]),
        ("load: impl", "signal: impl", ["get_or_set without loader", "get_or_set with signal"]),
        ("structfield.hits", "structfield.reads", ["hits missing", "reads more"]),
    ],
}
