"""HTTPS with a given certificate: as without, and what TLS adds."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.gateway.tls_files import TlsError, TlsFiles


def certificate(path: Path) -> None:
    """`path`.crt and `path`.key, the latter for its owner's eyes alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]), False
        )
        .sign(key, hashes.SHA256())
    )
    path.with_suffix(".crt").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret = path.with_suffix(".key")
    secret.touch(0o600)
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )


async def gateway_with_tls(yard: Yard, path: Path, text: str, **settings: object) -> ssl.SSLContext:
    certificate(path)
    files = {"tls_cert": str(path.with_suffix(".crt")), "tls_key": str(path.with_suffix(".key"))}
    await yard.gateway(text, **files, **settings)
    return ssl.create_default_context(cafile=str(path.with_suffix(".crt")))


class TlsClient:
    """A client that can end its direction in every way there is."""

    def __init__(self, wire: Wire, context: ssl.SSLContext) -> None:
        self._wire = wire
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname="localhost")

    async def shake_hands(self) -> None:
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                await self._wire.send(self._out.read())
                self._in.write(await self._wire.reader.read(65536))
            else:
                await self._wire.send(self._out.read())
                return

    async def send(self, data: bytes) -> None:
        self._tls.write(data)
        await self._wire.send(self._out.read())

    async def end(self, *, in_tls: bool) -> None:
        if in_tls:
            with pytest.raises(ssl.SSLWantReadError):
                self._tls.unwrap()
            await self._wire.send(self._out.read())
        else:
            self._wire.writer.write_eof()

    async def rest(self) -> tuple[bytes, bool]:
        """Everything until the connection ends, and whether TLS said that it ends."""
        self._in.write(await self._wire.reader.read())
        self._in.write_eof()
        heard = b""
        while True:
            try:
                piece = self._tls.read(65536)
            except ssl.SSLZeroReturnError:
                return heard, True
            except ssl.SSLEOFError:
                return heard, False
            if not piece:
                return heard, True
            heard += piece


async def test_a_stream_over_tls(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    context = await gateway_with_tls(yard, tmp_path / "gate", policy(port))
    reader, writer = await asyncio.open_connection("127.0.0.1", yard.port, ssl=context, server_hostname="localhost")
    wire = Wire(reader, writer)
    for _ in range(2):
        await wire.send(request("/v1/chat/completions", chat(stream=True)))
        assert (await wire.answer()).events[-1] == "[DONE]"
    await wire.close()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("in_tls", [False, True])
async def test_a_client_that_ends_its_direction_gets_its_answer(
    yard: Yard, tmp_path: Path, in_tls: bool, stream: bool
) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.05, rate=400.0, answer_tokens=12))
    context = await gateway_with_tls(yard, tmp_path / "gate", policy(port))
    wire = await Wire.open(yard.port)
    client = TlsClient(wire, context)
    await client.shake_hands()
    await client.send(request("/v1/chat/completions", chat(stream=stream)))
    await client.end(in_tls=in_tls)
    heard, properly = await client.rest()
    assert heard.startswith(b"HTTP/1.1 200 OK\r\n")
    assert (b"[DONE]" if stream else b'"choices"') in heard
    assert properly
    assert (engine.served, engine.cancelled) == (1, 0)
    await wire.close()


async def test_a_client_that_leaves_stops_the_engine(yard: Yard, tmp_path: Path) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=30))
    context = await gateway_with_tls(yard, tmp_path / "gate", policy(port))
    wire = await Wire.open(yard.port)
    client = TlsClient(wire, context)
    await client.shake_hands()
    await client.send(request("/v1/chat/completions", chat()))
    await until(lambda: len(engine.running) == 1)
    await wire.close()
    await until(lambda: engine.cancelled == 1)


async def test_a_sender_that_is_refused_gets_the_answer_though_it_goes_on(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    context = await gateway_with_tls(yard, tmp_path / "gate", policy(port, gateway="gateway: {max_body: 1MB}"))
    wire = await Wire.open(yard.port)
    client = TlsClient(wire, context)
    await client.shake_hands()
    await client.send(request("/v1/chat/completions", b"x" * 2_000_000))
    heard, properly = await client.rest()
    assert heard.startswith(b"HTTP/1.1 413 ")
    assert properly
    await wire.close()


async def test_a_client_without_tls_is_told_what_this_port_speaks(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    await gateway_with_tls(yard, tmp_path / "gate", policy(port))
    answer = await yard.get("/v1/models")
    assert (answer.status, answer.json()["error"]["code"]) == (400, "https_only")


async def test_one_connection_too_many_is_told_so_and_handshakes_take_no_endless_room(
    yard: Yard, tmp_path: Path
) -> None:
    _, port = await yard.engine()
    context = await gateway_with_tls(yard, tmp_path / "gate", policy(port, gateway="gateway: {max_connections: 1}"))
    wires = [await Wire.open(yard.port) for _ in range(2)]
    served, refused = (TlsClient(wire, context) for wire in wires)
    await served.shake_hands()
    await refused.shake_hands()
    heard, properly = await refused.rest()
    assert heard.startswith(b"HTTP/1.1 503 ")
    assert properly
    wires += [await Wire.open(yard.port) for _ in range(65)]
    assert await wires[-1].reader.read() == b""
    for wire in wires:
        await wire.close()


async def test_a_renewed_certificate_is_taken_up_and_a_broken_one_is_not(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    log = tmp_path / "log.jsonl"
    old = await gateway_with_tls(yard, tmp_path / "gate", policy(port), log_path=str(log))

    async def answers(context: ssl.SSLContext) -> bool:
        try:
            opened = await asyncio.open_connection("127.0.0.1", yard.port, ssl=context, server_hostname="localhost")
        except ssl.SSLCertVerificationError:
            return False
        await Wire(*opened).close()
        return True

    key = (tmp_path / "gate.key").read_bytes()
    (tmp_path / "gate.key").write_bytes(b"no key")
    await until(lambda: "certificate_refused" in log.read_text())
    assert "holds no private key" in log.read_text()
    assert await answers(old)
    (tmp_path / "gate.key").write_bytes(key)
    certificate(tmp_path / "new")
    for suffix in (".key", ".crt"):
        (tmp_path / "new").with_suffix(suffix).replace((tmp_path / "gate").with_suffix(suffix))
    await until(lambda: '"event": "certificate"' in log.read_text())
    assert await answers(ssl.create_default_context(cafile=str(tmp_path / "gate.crt")))
    assert not await answers(old)


def test_an_encrypted_key_is_said_to_be_one(tmp_path: Path) -> None:
    certificate(tmp_path / "gate")
    key = serialization.load_pem_private_key((tmp_path / "gate.key").read_bytes(), None)
    hidden = serialization.BestAvailableEncryption(b"word")
    (tmp_path / "gate.key").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden)
    )
    files = (str(tmp_path / "gate.crt"), str(tmp_path / "gate.key"))
    with pytest.raises(TlsError, match="is encrypted, and nobody is there"):
        TlsFiles(*files)
    assert TlsFiles(*files, lambda: "word").context
    with pytest.raises(TlsError, match="cannot be read"):
        TlsFiles(*files, lambda: "wrong")


async def test_an_engine_over_tls_that_cannot_be_trusted_or_speaks_none_is_said_to_be_so(
    yard: Yard, tmp_path: Path
) -> None:
    _, plain = await yard.engine()
    await gateway_with_tls(yard, tmp_path / "gate", policy(plain))
    for port, said in ((yard.port, "certificate is not trusted (self-signed certificate)"), (plain, "speaks no TLS")):
        text = policy(port, pool="    retries: 0").replace("http://127", "https://127")
        await yard.gateway(text.replace("every: 50ms", "path: none"))
        answer = await yard.ask()
        assert answer.status == 502
        assert said in answer.json()["error"]["message"]
