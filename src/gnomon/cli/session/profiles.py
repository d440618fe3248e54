"""Which server to talk to, and with which key: from options, the environment, or a file for you alone."""

from __future__ import annotations

import os
import shlex
import stat
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gnomon.cli.output.terminal import program
from gnomon.client.remote.wire import ServerAddress
from gnomon.errors import GnomonError, InvalidInput, NoKey, ServerRefused
from gnomon.settings import Reading, Settings
from gnomon.settings.secret_files import profile_file

SERVER_DEFAULT = "http://127.0.0.1:8484"
PROFILE_DEFAULT = "default"
OWNER_ONLY = 0o600
UNAUTHORIZED, FORBIDDEN = 401, 403
_ADVICE = {
    UNAUTHORIZED: "Keep another key with `gnomon login --server {url}`, or set GNOMON_KEY.",
    FORBIDDEN: "Use a key with that scope: `gnomon key list` shows them, to an admin.",
}


def address_of(settings: Settings) -> ServerAddress:
    """Raises NoKey, and InvalidInput for a profile that is not there or a file that others may read."""
    kept: dict[str, str] = {}
    if settings.server is None or settings.key is None:
        kept = _profile(settings.profile)
    url = settings.server or kept.get("server") or SERVER_DEFAULT
    # A key goes only to the server that it was kept for.
    is_its_server = kept.get("server") in (None, url)
    key = settings.key or (kept.get("key") if is_its_server else None)
    if key is None:
        error = NoKey(url)
        if not is_its_server:
            error.add_note(f"The profile {settings.profile!r} in {profile_file()} is for {kept['server']}.")
        raise error
    return ServerAddress(url, key)


def _profile(name: str) -> dict[str, str]:
    """What it keeps: nothing for the default one if there is none. Raises InvalidInput."""
    profiles = read_profiles()
    if name not in profiles and name != PROFILE_DEFAULT:
        known = ", ".join(profiles) or "none"
        raise InvalidInput("profile", f"there is no profile {name!r} in {profile_file()}. Known: {known}.")
    return profiles.get(name, {})


@contextmanager
def names_the_key(url: str, settings: Settings, found: Reading) -> Iterator[None]:
    """A refusal of the key says which key, of which server, and what to do."""
    try:
        yield
    except ServerRefused as error:
        if error.http_status in (UNAUTHORIZED, FORBIDDEN):
            origin = found.setting("key").origin
            if settings.key is None:
                origin = f"the profile {settings.profile!r} in {profile_file()}"
            error.add_note(f"The server is {url}; the key is from {origin}.")
            error.add_note(_ADVICE[error.http_status].format(url=shlex.quote(url)))
        raise


def read_profiles() -> dict[str, dict[str, str]]:
    path = profile_file()
    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & ~OWNER_ONLY:
                raise InvalidInput("profile", f"others may read {path}. Run: chmod 600 {path}")
            found = tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidInput("profile", f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput("profile", f"{path} is not TOML: {error}.") from error
    for name, profile in found.items():
        if not isinstance(profile, dict) or not all(isinstance(value, str) for value in profile.values()):
            raise InvalidInput("profile", f"{path}: [{name}] must hold `server` and `key`, both text.")
    return found


def write_profile(name: str, address: ServerAddress) -> Path:
    """Put in place whole, or not at all: a full disk must not cost the other profiles."""
    path = profile_file()
    profiles = read_profiles() | {name: {"server": address.url, "key": address.key}}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "w") as file:
        for title, profile in profiles.items():
            file.write(f"[{_quoted(title)}]\n")
            file.writelines(f"{_quoted(word)} = {_quoted(value)}\n" for word, value in profile.items())
    new.replace(path)
    return path


def keep_if_new(name: str, address: ServerAddress) -> str:
    """Keep the first key of a server. Returns a sentence: where it is, or why it is not kept."""
    try:
        known = read_profiles().get(name)
        if known is None:
            return f"Kept in {write_profile(name, address)}, so commands find it. Next: {program()} job list"
    except (InvalidInput, OSError) as error:
        return f"It is not kept: {error}"
    return (
        f"It is not kept: there is a profile {name!r}, for {known.get('server', SERVER_DEFAULT)}. "
        f"To replace it: gnomon login --server {shlex.quote(address.url)}"
    )


def next_command(settings: Settings, url: str, key: str | None) -> str:
    """What works next against a server on this machine; `key` is the one that was just made, if any."""
    try:
        address = address_of(settings)
    except GnomonError:
        address = None
    is_its_own = address is not None and address.url.replace("//localhost:", "//127.0.0.1:") == url
    if address is not None and is_its_own and key in (None, address.key):
        return f"{program()} job list"
    return f"{program()} login --server {shlex.quote(url)}"


def _quoted(text: str) -> str:
    """A basic string of TOML. What was read as a setting holds no character that cannot be printed."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
