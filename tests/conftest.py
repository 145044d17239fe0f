"""What holds for every test: a home of its own, and nothing outlives it."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

# Before anything of the product is imported: the user's real home, keys and settings are out of reach.
_HOME = tempfile.mkdtemp(prefix="stellwerk-test-home-")
_RUNTIME = Path(_HOME) / "run"
_RUNTIME.mkdir(mode=0o700)
for _name in ("SSH_AUTH_SOCK", "SSH_ASKPASS", "DISPLAY", "WAYLAND_DISPLAY", "STELLWERK_AGENT_OPTIONS"):
    os.environ.pop(_name, None)
os.environ.update(
    HOME=_HOME,
    XDG_CONFIG_HOME=f"{_HOME}/.config",
    XDG_DATA_HOME=f"{_HOME}/.local/share",
    XDG_STATE_HOME=f"{_HOME}/.local/state",
    XDG_CACHE_HOME=f"{_HOME}/.cache",
    XDG_RUNTIME_DIR=str(_RUNTIME),
    QT_QPA_PLATFORM="offscreen",
)

# A run in the background of a shell, or under nohup, starts with some signals ignored, and every child inherits that:
# tests that interrupt or end a process would prove nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, signal.SIG_DFL)

import psutil  # noqa: E402
import pytest  # noqa: E402
from hypothesis import HealthCheck, settings  # noqa: E402

# A busy machine makes an example slow, not wrong.
settings.register_profile("stellwerk", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("stellwerk")

# Started once by a library and kept for good: not a leak of the test that came first.
LASTING_THREADS = ("pytest_timeout", "asyncio_", "ThreadPoolExecutor", "pytest-xdist", "QThread", "Dummy-")


def _threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.is_alive() and not t.name.startswith(LASTING_THREADS)}


def _children() -> dict[int, str]:
    found: dict[int, str] = {}
    for child in psutil.Process().children(recursive=True):
        try:
            if child.status() != psutil.STATUS_ZOMBIE:
                found[child.pid] = " ".join(child.cmdline()[:6])
        except psutil.NoSuchProcess:
            continue
    return found


# Files that take longest, longest first: each goes to one worker as a whole, and none may be left for the end.
LONG_FILES = (
    "gui/test_faults_seen.py",
    "gui/test_album.py",
    "e2e/test_faults_seen.py",
    "gui/test_questions.py",
    "unit/netguard/test_processes.py",
    "gui/test_keyboard.py",
    "engine/hosting/test_gateway_on_node.py",
    "engine/test_cli_commands.py",
    "native/test_native.py",
    "e2e/test_cables.py",
    "e2e/test_mesh.py",
    "e2e/test_undo_and_reboot.py",
    "unit/netguard/test_killed.py",
    "lab/netguard/test_real_machine.py",
    "e2e/test_secrets.py",
    "engine/test_leave_without_trace.py",
    "lab/sshd/test_real_sshd.py",
    "engine/agent/test_hear.py",
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {name: i for i, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: rank.get(item.path.as_posix().rpartition("/tests/")[2], len(rank)))


@pytest.fixture(autouse=True)
def nothing_outlives_the_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a thread or a child process behind, and names what was left."""
    threads = _threads()
    children = _children()
    yield
    left_threads = _threads() - threads
    for thread in left_threads:
        thread.join(timeout=2.0)  # one that is just ending is no leak
    left = sorted(t.name for t in left_threads if t.is_alive())
    left_children = {pid: line for pid, line in _children().items() if pid not in children}
    if left_children:
        _, alive = psutil.wait_procs(
            [psutil.Process(pid) for pid in left_children if psutil.pid_exists(pid)], timeout=2.0
        )
        left += [f"process {p.pid}: {left_children[p.pid]}" for p in alive]
    if left:
        gc.collect()
        pytest.fail(f"left behind by {request.node.nodeid}: {'; '.join(left)}")


@pytest.fixture(scope="session", autouse=True)
def remove_test_home() -> Iterator[None]:
    yield
    import shutil

    shutil.rmtree(_HOME, ignore_errors=True)


# A skip for one of these reasons leaves nothing unproven that could have been proven here.
OPTIONAL_SKIPS = ("NetworkManager is not installed",)


def _not_run(session: pytest.Session) -> list[str]:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return []
    found = []
    for report in reporter.stats.get("skipped", []):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if not any(optional in reason for optional in OPTIONAL_SKIPS):
            found.append(f"{report.nodeid}: {reason.removeprefix('Skipped: ')}")
    return found


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """As root everything can be installed: a part that could not run is a failure. For others it is said."""
    if os.geteuid() == 0 and exitstatus == 0 and _not_run(session):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    session = getattr(terminalreporter, "_session", None)
    left_out = _not_run(session) if session is not None else []
    if left_out:
        word = "must run as root, and did not" if os.geteuid() == 0 else "not run"
        terminalreporter.section(f"{len(left_out)} {word}")
        for line in left_out:
            terminalreporter.write_line(line)
