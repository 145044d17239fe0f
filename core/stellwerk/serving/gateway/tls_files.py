"""The certificate and its private key: checked, loaded, and taken up again when they are renewed."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

from stellwerk.serving.gateway.http.tls import server_context
from stellwerk.serving.gateway.secret_file import why_open


class TlsError(ValueError):
    """Certificate or key cannot be used. The text is for people."""


class TlsFiles:
    """Raises TlsError from the start. `password` is called where the key is encrypted."""

    def __init__(self, cert: str, key: str | None, password: Callable[[], str] | None = None) -> None:
        self._cert = cert
        self._key = key or cert
        self._password = password
        self._stamp = self._look()
        self.context = self._load()

    def renew_if_changed(self) -> bool:
        """Take up files that were replaced, for connections from now on. Raises TlsError; then the old ones stay."""
        stamp = self._look()
        if stamp == self._stamp or None in stamp:  # one that is missing is just being replaced
            return False
        self._stamp = stamp
        self.renew()
        return True

    def renew(self) -> None:
        """Take the files up as they are now. Raises TlsError, and then the old ones stay."""
        self._stamp = self._look()
        self._load()
        self.context.load_cert_chain(self._cert, self._key, self._secret)

    def _look(self) -> tuple[tuple[int, ...] | None, ...]:
        return tuple(map(_stamp_of, (self._cert, self._key)))

    def _secret(self) -> str:
        if self._password is None:
            raise TlsError(
                f"The private key {self._key} is encrypted, and nobody is there to type its passphrase. Store it "
                f"without one, for its owner's eyes alone: umask 077; openssl pkey -in {self._key} -out NEW"
            )
        return self._password()

    def _load(self) -> ssl.SSLContext:
        try:
            for path, what in ((self._key, "PRIVATE KEY"), (self._cert, "CERTIFICATE")):
                if f"{what}-----".encode() not in Path(path).read_bytes():
                    raise TlsError(
                        f"{path} holds no {what.lower()} (PEM). Name the certificate's file with --tls-cert and the "
                        "private key's with --tls-key."
                    )
            problem = why_open(Path(self._key))
            if problem is not None:
                raise TlsError(f"The private key {problem}")
            return server_context(self._cert, self._key, self._secret)
        except ssl.SSLError as error:
            what = "do not belong together" if error.reason == "KEY_VALUES_MISMATCH" else "cannot be read"
            raise TlsError(
                f"The certificate in {self._cert} and the private key in {self._key} {what}"
                f" ({error.reason or error.strerror or error})."
            ) from error
        except OSError as error:
            raise TlsError(f"{error.filename or self._cert} cannot be read: {error.strerror}.") from error


def _stamp_of(path: str) -> tuple[int, ...] | None:
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
