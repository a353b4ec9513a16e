"""A cache over a client of a Cluster: native connections with the client's settings."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import redis
import redis.asyncio.cluster
import redis.cluster
from servers import PROGRAMS, Certificates, Server, cluster, free_port, started
from test_remote import listens, stats, until

from polycache import Cache, InvalidArgument

pytestmark = pytest.mark.skipif(
    not (which(PROGRAMS[0]) and which("redis-cli")), reason="no server is installed"
)

PLAIN: list[Callable[..., Any]] = [redis.Redis, redis.asyncio.Redis]
KINDS: list[Callable[..., Any]] = [redis.cluster.RedisCluster, redis.asyncio.cluster.RedisCluster]


@pytest.fixture(params=KINDS, ids=["client", "async client"])
def kind(request: pytest.FixtureRequest) -> Callable[..., Any]:
    made: Callable[..., Any] = request.param
    return made


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    if not which("openssl"):
        pytest.skip("no openssl is installed")
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    with cluster(tmp_path_factory.mktemp("cluster")) as nodes:
        for node in nodes:
            client = redis.Redis(port=node.port)
            client.acl_setuser(
                "limited", enabled=True, passwords=["+secret"], keys=["*"], categories=["+@all"]
            )
            client.close()
        yield nodes


@pytest.fixture(autouse=True)
def empty(request: pytest.FixtureRequest) -> None:
    if "nodes" in request.fixturenames:
        for node in request.getfixturevalue("nodes"):
            redis.Redis(port=node.port).flushall()


def shared(remote: Any, folder: Path) -> None:
    """Two hosts share what they write, whichever primary it is on."""
    # New hosts each time: what others have read there may be served for a second more.
    place = Path(tempfile.mkdtemp(dir=folder))
    with (
        Cache(place / "one", remote=remote, timeout="5s") as one,
        Cache(place / "two", remote=remote, timeout="5s") as two,
    ):
        keys = [f"k{number}" for number in range(30)]
        one.set_many(dict.fromkeys(keys, "first"))
        assert two.get_many(keys) == dict.fromkeys(keys, "first")
        listens(two)
        for key in keys:
            one[key] = "second"
        until("all is heard of", lambda: set(two.get_many(keys).values()) == {"second"})
        assert sorted(two.keys("k")) == sorted(keys)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                two["child"] = "its own"
                status = int(two.get("child") != "its own")
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        until("the child's write is heard of", lambda: one.get("child") == "its own")


def test_each_primary_is_heard(
    kind: Callable[..., Any], nodes: list[Server], tmp_path: Path
) -> None:
    client = kind(host="127.0.0.1", port=nodes[0].port)
    shared(client, tmp_path)
    held = [redis.Redis(port=node.port).dbsize() for node in nodes]
    assert all(held), held


def listening(port: int) -> set[str]:
    """The users whose connections are told of writes."""
    clients = redis.Redis(port=port).client_list()
    return {one["user"] for one in clients if one["redir"] != "-1"}


def test_user_and_password(kind: Callable[..., Any], nodes: list[Server], tmp_path: Path) -> None:
    port = nodes[1].port
    with Cache(
        tmp_path, remote=kind(host="127.0.0.1", port=port, username="limited", password="secret")
    ) as cache:
        listens(cache)
        # Listeners of caches that were closed just before leave within moments.
        until("only this user listens", lambda: listening(port) == {"limited"})
    with Cache(
        remote=redis.asyncio.cluster.RedisCluster("127.0.0.1", port, password="no")
    ) as cache:
        assert cache.get("k") is None
        assert stats(cache).faults


def test_the_clients_own_connections_stay_as_they_are(nodes: list[Server]) -> None:
    client = redis.cluster.RedisCluster("127.0.0.1", nodes[0].port, client_name="own")
    client.set("own", "mine")

    def own() -> list[tuple[str, str, str]]:
        return [
            (one["id"], one["flags"], one["redir"])
            for node in nodes
            for one in redis.Redis(port=node.port).client_list()
            if one["name"] == "own"
        ]

    before = own()
    with Cache(remote=client, timeout="5s") as cache:
        cache["k"] = 1
        listens(cache)
    assert own() == before
    assert client.get("own") == b"mine"
    client.close()


def test_a_cluster_over_tls(
    kind: Callable[..., Any], certificates: Certificates, tmp_path: Path
) -> None:
    port = free_port()
    # One node, which owns all slots, is a Cluster, too.
    options = [
        "--cluster-enabled",
        "yes",
        "--cluster-port",
        str(free_port()),
        "--dir",
        str(tmp_path),
    ]
    options += [*certificates.options(port), "--tls-cluster", "yes"]
    with started(PROGRAMS[0], options) as node:
        plain = redis.Redis(port=node.port)
        command: Any = plain.execute_command
        command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        until("it is up", lambda: plain.cluster("INFO")["cluster_state"] == "ok")
        known = certificates.client()
        shared_by_one(kind("127.0.0.1", port, ssl=True, **known), tmp_path / "known")
        unknown = {**known, "ssl_ca_certs": None, "ssl_cert_reqs": "none"}
        shared_by_one(kind("127.0.0.1", port, ssl=True, **unknown), tmp_path / "unknown")


def shared_by_one(remote: Any, folder: Path) -> None:
    with Cache(folder, remote=remote, timeout="5s") as cache:
        cache["k"] = "v"
        listens(cache)
        assert cache["k"] == "v"


class Credentials(redis.CredentialProvider):
    def get_credentials(self) -> tuple[str, str]:
        return ("limited", "secret")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"credential_provider": Credentials()}, "credential_provider"),
        ({"address_remap": lambda address: address}, "address_remap"),
        ({"ssl": True, "ssl_check_hostname": False}, "ssl_check_hostname"),
        ({"ssl": True, "ssl_ciphers": "DEFAULT"}, "ssl_ciphers"),
        ({"ssl": True, "ssl_ca_certs": "/nowhere/ca.pem"}, "nowhere"),
        ({"ssl": True, "ssl_ca_certs": __file__}, "no certificates in PEM"),
    ],
)
def test_what_cannot_be_copied(options: dict[str, Any], why: str) -> None:
    # That of asyncio connects to nobody yet.
    client = redis.asyncio.cluster.RedisCluster("127.0.0.1", 1, **options)
    with pytest.raises(InvalidArgument, match=why):
        Cache(remote=client)


def test_one_server_over_tls(certificates: Certificates, tmp_path: Path) -> None:
    port = free_port()
    with started(PROGRAMS[0], certificates.options(port)):
        for kind in PLAIN:
            shared(kind(host="localhost", port=port, ssl=True, **certificates.client()), tmp_path)


def test_a_url_over_tls(certificates: Certificates, tmp_path: Path) -> None:
    """The authorities of a URL are the system's, which OpenSSL's variable names."""
    port = free_port()
    program = f"""
import polycache
with polycache.Cache(remote="rediss://localhost:{port}", timeout="5s") as cache:
    try:
        cache["k"] = 1
        print(cache["k"])
    except polycache.RemoteUnavailable as error:
        print("certificate" in str(error).lower())
"""
    options = [*certificates.options(port), "--tls-auth-clients", "no"]
    with started(PROGRAMS[0], options):
        trusted = {**os.environ, "SSL_CERT_FILE": certificates.file("ca.pem")}
        for environment, said in ((trusted, "1"), (dict(os.environ), "True")):
            done = subprocess.run(
                ["python", "-c", program],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            )
            assert done.stdout.strip() == said, done.stderr
