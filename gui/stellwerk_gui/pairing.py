"""The machines of the open cluster: put on the list, paired, taken off; and the sudo password asked for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from stellwerk.model.errors import Busy, StellwerkError
from stellwerk_gui.bridge import Task

if TYPE_CHECKING:
    from stellwerk.remote.target import Target
    from stellwerk_gui.cluster_controller import ClusterController
    from stellwerk_gui.prompts import GuiPrompts


class Pairing:
    """Works on the cluster that its controller has open, and tells what came of it through the controller's signals.

    All public methods belong to Qt's thread.
    """

    def __init__(self, controller: ClusterController) -> None:
        self._controller = controller
        self._prompts: GuiPrompts | None = None
        self.sudo_given = False  # agents may hold a password

    @property
    def prompts(self) -> GuiPrompts:
        """Who asks a person; set when the window is built."""
        assert self._prompts is not None, "prompts are set when the window is built"
        return self._prompts

    def use_prompts(self, prompts: GuiPrompts) -> None:
        self._prompts = prompts

    def add(self, targets: tuple[Target, ...]) -> None:
        """Put machines on the list; those that are on it already stay once."""
        session = self._controller.open_session()

        async def add() -> None:
            try:
                for target in targets:
                    session.add(target)
            finally:
                session.keep_unpaired()

        def failed(error: StellwerkError) -> None:
            self._controller.refresh_nodes()
            self._controller.problem.emit(error)

        self._controller.bridge.submit(add(), done=self._refresh, failed=failed)

    def pair(self, names: tuple[str, ...] = ()) -> Task:
        """Pair all machines that are not ready, or the named ones."""
        controller, prompts = self._controller, self.prompts
        session = controller.open_session()
        wanted = names or tuple(n.name for n in controller.nodes if not n.ready)

        async def pair() -> dict[str, StellwerkError | None]:
            results = await session.pair(prompts, wanted)
            session.watch(controller.rate_hz)
            return results

        return controller.bridge.submit(pair(), done=self._refresh)

    def replace_trust(self, name: str) -> None:
        """After a person compared both fingerprints of a changed key: trust the new one and pair again."""
        link = self._controller.open_session().links[name]

        async def replace_key() -> None:
            alarm = link.alarm
            if alarm is not None:
                link.replace_trust(alarm)

        def again(_: object) -> None:
            self.pair((name,))

        self._controller.bridge.submit(replace_key(), done=again)

    def remove(
        self,
        name: str,
        forget_unreachable: bool = False,
        *,
        take_over: bool = False,
        done: Callable[[Any], None] | None = None,
    ) -> Task:
        """Take a machine off: un-pairs it when it was paired. `done` gets what un-pairing left, or None."""
        controller = self._controller
        session = controller.open_session()

        async def remove() -> Any:
            if any(n.name == name for n in session.cluster.nodes):
                return await session.unpair(name, forget_unreachable=forget_unreachable, take_over=take_over)
            await session.links.pop(name).close()
            session.keep_unpaired()
            return None

        def removed(report: Any) -> None:
            controller.refresh_nodes()
            if done is not None:
                done(report)

        def failed(error: StellwerkError) -> None:
            controller.refresh_nodes()
            if isinstance(error, Busy):
                again = partial(self.remove, name, forget_unreachable, take_over=True, done=done)
                controller.held.emit(error, again)
            else:
                controller.problem.emit(error)

        return controller.bridge.submit(remove(), done=removed, failed=failed)

    def unlock_sudo(self, done: Callable[[], None] | None = None) -> Task:
        """Ask for the sudo password and let the agents use it until `forget_sudo`."""
        session, prompts = self._controller.open_session(), self.prompts
        self.sudo_given = True

        async def unlock() -> Any:
            return await session.unlock_sudo(prompts)

        return self._controller.bridge.submit(unlock(), done=lambda _: done() if done is not None else None)

    def forget_sudo(self) -> None:
        """The wizard was left: no agent keeps a password any longer."""
        session = self._controller.session
        if session is not None and self.sudo_given and session.ready:
            self.sudo_given = False
            self._controller.bridge.submit(session.forget_sudo())

    def _refresh(self, _: object) -> None:
        self._controller.refresh_nodes()
