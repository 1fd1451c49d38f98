"""Results as dataclasses and tables."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any, Optional


@dataclass(frozen=True)
class Epoch:
    """An epoch of training: a pass over the data for nets, a tree for boosting, a round for baselines."""

    #: Number of the epoch, from 1.
    epoch: int
    #: Mean training loss per query.
    loss: float
    #: Metric on the training queries.
    train: float
    #: Metric on the validation queries.
    valid: float
    #: Whether this is the best epoch so far.
    best: bool
    #: Learning rate.
    learning_rate: float
    #: Duration in seconds.
    seconds: float
    #: Member of an ensemble, from 0.
    member: Optional[int] = None

    @classmethod
    def of(cls, record: dict[str, Any]) -> Epoch:
        number = lambda key: float("nan") if record[key] is None else record[key]
        return cls(
            epoch=record["epoch"],
            loss=number("loss"),
            train=number("train"),
            valid=number("valid"),
            best=record["best"],
            learning_rate=record["learning_rate"],
            seconds=record["seconds"],
            member=record.get("member"),
        )


class Table:
    """A result that can be shown as a table."""

    def _rows(self) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _caption(self) -> str:
        return ""

    def to_pandas(self):
        """Return the table as a pandas data frame."""
        import pandas

        return pandas.DataFrame(self._rows())

    def _repr_html_(self) -> str:
        rows = self._rows()
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in (rows[0] if rows else {}))
        body = "".join("<tr>" + "".join(f"<td>{html.escape(_text(cell))}</td>" for cell in row.values()) + "</tr>" for row in rows)
        caption = f"<caption>{html.escape(self._caption())}</caption>" if self._caption() else ""
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def __str__(self) -> str:
        rows = self._rows()
        names = list(rows[0]) if rows else []
        cells = [names] + [[_text(cell) for cell in row.values()] for row in rows]
        widths = [max(len(line[place]) for line in cells) for place in range(len(names))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
        return "\n".join([line for line in [self._caption()] if line] + lines)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.4g}" if abs(cell) < 1e-3 and cell else f"{cell:.4f}"
    return str(cell)
