"""One function per finding code; `examine(open_case(members, topology, …))` runs them all. Pure: no I/O."""

from stellwerk.doctor.case import Case, NotKnown, open_case
from stellwerk.doctor.examination import CHECKS, Diagnosis, examine

__all__ = ["CHECKS", "Case", "Diagnosis", "NotKnown", "examine", "open_case"]
