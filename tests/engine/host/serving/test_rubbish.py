"""Does a server outlive whatever arrives, and does it end only the connection that broke the rules?"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runwright.engine.host.serving import server
from runwright.engine.wire.frames import MAX_FRAME
from support.raw_client import HELLO, RawClient
from support.serving import Served, served


async def serves(host: Served) -> None:
    """A client with manners is answered."""
    client = await RawClient.open(host.server.path)
    await client.call("log.head")
    assert (await client.reply())["outcome"] == "accepted"
    await client.close()


def call(**given: Any) -> bytes:
    """A frame with a call."""
    message = {"type": "call", "call_id": "1", "client_id": "cli", "operation": "log.head", "payload": {}, **given}
    return json.dumps(message).encode() + b"\n"


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"\n", "frame_invalid"),
        (b"rubbish\n", "frame_invalid"),
        (b"\xff\xfe\n", "frame_invalid"),
        (b"[1]\n", "frame_invalid"),
        (b'{"type":"call","type":"call"}\n', "frame_invalid"),
        (b'{"a":NaN}\n', "frame_invalid"),
        (b'{"a":1e999}\n', "frame_invalid"),
        (b'{"a":"\\ud800"}\n', "frame_invalid"),
        (b"[" * 100_000 + b"\n", "frame_invalid"),
        (b"x" * (MAX_FRAME + 1), "frame_invalid"),
        (b'{"type":"part","upload":"u","index":1,"length":5,"sha256":"0","data":"AA=="}\n', "frame_invalid"),
        (b'{"type":"part","upload":"u"}\n', "frame_invalid"),
        (b'{"type":"nonsense"}\n', "message_invalid"),
        (HELLO, "message_invalid"),
        (b'{"type":"event","call_id":"1","kind":"end","position":0,"payload":{}}\n', "message_invalid"),
        (call(call_id=5), "message_invalid"),
    ],
    ids=range(16),
)
async def test_a_broken_message_ends_its_connection(tmp_path: Path, sent: bytes, code: str) -> None:
    """The reason is named in a last reply, the connection is closed, and everybody else is served."""
    async with served(tmp_path / "home") as host:
        other = await RawClient.open(host.server.path)
        client = await RawClient.open(host.server.path)
        await client.send(sent)
        *_, last = await client.rest()
        assert (last["type"], last["outcome"], last["error"]["code"]) == ("reply", "rejected", code)
        assert last["call_id"] is None
        await client.close()
        await other.call("log.head")
        assert (await other.reply())["outcome"] == "accepted"
        await other.close()


async def test_a_wrong_call_ends_nothing(tmp_path: Path) -> None:
    """An unknown operation or a payload that does not fit is answered by name, and the connection goes on."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path)
        for operation, given, code in (
            ("session.fork", {}, "operation_unknown"),
            ("run.status", {"payload": {"nope": 1}, "run_id": "r"}, "message_invalid"),
            ("run.status", {"run_id": "r"}, "not_found"),
            ("run.pause", {"run_id": "../../x", "key": "k"}, "message_invalid"),
            ("run.pause", {"run_id": "x", "key": "a/b"}, "message_invalid"),
            ("run.pause", {"run_id": "x", "client_id": "A B"}, "message_invalid"),
            ("run.pause", {"more": 1}, "message_invalid"),
            ("run.logs", {"run_id": ".."}, "not_found"),
            ("view.get", {"run_id": "%2e%2e"}, "not_found"),
            ("content.read", {"payload": {"position": 1, "field": "__class__"}}, "not_found"),
            ("store.backup", {"key": "k", "payload": {"file": "relative"}}, "message_invalid"),
            ("projection.query", {"payload": {"projection": "runs; drop table runs"}}, "unknown_projection"),
            ("run.cancel", {"run_id": "r" * 128, "key": "k" * 128}, "not_found"),
        ):
            await client.call(operation, **given)
            reply = await client.reply()
            assert reply["error"]["code"] == code, operation
            assert reply["answer"] is None
        await client.close()
        await serves(host)


async def test_versions_and_greetings(tmp_path: Path) -> None:
    """Another version is refused with what is spoken here; a client that does not greet is not served."""
    async with served(tmp_path / "home") as host:
        client = await RawClient.open(host.server.path, greet=False)
        await client.send(b'{"type":"hello","protocol":"runwright.client.v9","version":"9"}\n')
        (refused,) = await client.rest()
        assert refused["error"]["code"] == "protocol_unknown"
        assert "runwright.client.v1" in refused["error"]["message"]
        assert "install" in refused["error"]["hint"]
        await client.close()
        client = await RawClient.open(host.server.path, greet=False)
        await client.send(call())
        (refused,) = await client.rest()
        assert refused["error"]["code"] == "message_invalid"
        await client.close()


async def test_half_frames_and_sudden_ends(tmp_path: Path) -> None:
    """Connections that end in the middle of a frame, of a greeting, of a call or of its answer leave nothing behind."""
    async with served(tmp_path / "home") as host:
        for beginning in (b"", b"{", HELLO[:20], HELLO + b'{"type":"call"', HELLO + call(), HELLO + call() * 50):
            client = await RawClient.open(host.server.path, greet=False)
            await client.send(beginning)
            client.writer.transport.abort()
        client = await RawClient.open(host.server.path)
        await client.send(b"x" * 1000)
        client.writer.write_eof()
        *_, last = await client.rest()
        assert last["error"]["code"] == "frame_invalid"
        await client.close()
        await serves(host)


async def test_thousands_of_connections(tmp_path: Path) -> None:
    """Connections that come and go by the thousand are served or turned away, and none is left."""
    async with served(tmp_path / "home") as host:
        for _ in range(40):
            clients = await asyncio.gather(*(RawClient.open(host.server.path, greet=False) for _ in range(50)))
            for number, client in enumerate(clients):
                if number % 3:
                    await client.send(HELLO)
                client.writer.close()
        while host.server.connections:
            await asyncio.sleep(0.01)
        await serves(host)


async def test_too_many_connections_are_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One more than a host takes is told so and closed; when another leaves, there is room again."""
    most = 20
    monkeypatch.setattr(server, "MOST_CONNECTIONS", most)
    async with served(tmp_path / "home") as host:
        clients = [await RawClient.open(host.server.path) for _ in range(most)]
        late = await RawClient.open(host.server.path, greet=False)
        (refused,) = await late.rest()
        assert (refused["outcome"], refused["error"]["code"]) == ("unavailable", "host_busy")
        await late.close()
        await clients.pop().close()
        while host.server.connections == most:
            await asyncio.sleep(0.01)
        await serves(host)
        for client in clients:
            await client.close()


FRAMES = st.lists(
    st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=60).map(lambda raw: raw + b"\n"),
        st.just(HELLO),
        st.recursive(
            st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=6),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
            max_leaves=8,
        ).map(lambda value: json.dumps(value).encode() + b"\n"),
        st.fixed_dictionaries(
            {"type": st.sampled_from(["call", "hello", "reply", "event", "part"])},
            optional={
                "call_id": st.sampled_from(["1", "", 1]),
                "client_id": st.sampled_from(["cli", "x" * 200]),
                "operation": st.sampled_from(["log.head", "run.status", "run.cancel", "view.subscribe", "x", None]),
                "payload": st.sampled_from([{}, {"after": -1}, [], None]),
                "key": st.sampled_from([None, "k", ""]),
                "run_id": st.sampled_from([None, "r", "../x"]),
                "protocol": st.sampled_from(["runwright.client.v1", "x"]),
                "version": st.just("0"),
            },
        ).map(lambda value: json.dumps(value).encode() + b"\n"),
    ),
    max_size=6,
)


def test_no_rubbish_stops_a_server() -> None:
    """Whatever bytes arrive, in whatever order, the next client is served."""
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        serving = served(Path(folder) / "home")
        host = runner.run(serving.__aenter__())

        async def attack(sent: list[bytes], greet: bool) -> None:
            client = await RawClient.open(host.server.path, greet=greet)
            for each in sent:
                await client.send(each)
            client.writer.write_eof() if not client.writer.is_closing() else None
            await client.rest()
            await client.close()
            await serves(host)

        @settings(max_examples=60, deadline=None)
        @given(FRAMES, st.booleans())
        def attacked(sent: list[bytes], greet: bool) -> None:
            runner.run(attack(sent, greet))

        try:
            attacked()
        finally:
            runner.run(serving.__aexit__(None, None, None))
