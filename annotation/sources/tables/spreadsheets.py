"""Read a spreadsheet in a process of its own, which may run out of memory: ``python spreadsheets.py FILE CELLS BYTES``
prints {"sheets": names of those that are not empty, "rows": of the first}, or {"problem": "password", "large" or
"damaged"}.

It imports nothing of this package, and starts in a fraction of a second.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any


def read(path: str, most_cells: int) -> dict[str, Any]:
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    sheets, rows = list[str](), list[Any]()
    try:
        with CalamineWorkbook.from_path(path) as book:
            for name in book.sheet_names:
                sheet = book.get_sheet_by_name(name)
                if sheet.total_height * sheet.total_width > most_cells:
                    return {"problem": "large"}
                if sheet.total_height:
                    sheets.append(name)
                    rows = rows or sheet.to_python(skip_empty_area=False)
    except PasswordError:
        return {"problem": "password"}
    except (CalamineError, OSError, ValueError):
        return {"problem": "damaged"}
    return {"sheets": sheets, "rows": rows}


def _limit_memory(most: int) -> None:
    with suppress(ImportError, ValueError, OSError):   # Windows; a lower limit of the machine's own
        import resource
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _text(cell: Any) -> str:
    return str(cell.isoformat() if hasattr(cell, "isoformat") else cell)


if __name__ == "__main__":
    _limit_memory(int(sys.argv[3]))
    json.dump(read(sys.argv[1], int(sys.argv[2])), sys.stdout, default=_text)
