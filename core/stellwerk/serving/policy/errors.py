"""What is wrong with a policy file, said so that a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake. `line` and `column` count from 1; `card` names the step, pool, model or classifier it is in."""

    line: int
    column: int
    what: str
    remedy: str
    card: str | None = None

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        card = f" ({self.card})" if self.card else ""
        return f"{where}{card}: {self.what} {self.remedy}"


class PolicyErrors(ValueError):
    """All problems of one file at once, in the order of the file."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems))
