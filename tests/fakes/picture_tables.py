"""Tables of queries with their pictures, as labs have them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from PIL import Image


def png(colour: tuple[int, int, int] = (200, 30, 30)) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (48, 64), colour).save(stream, "PNG")
    return stream.getvalue()


def pictures(folder: Path, names: Iterable[str]) -> Path:
    """A folder with a picture of each name, in different colours."""
    for number, name in enumerate(names):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png((37 * number % 256, 91 * number % 256, 160)))
    return folder


def zipped(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def csv_of(path: Path, *rows: Sequence[str], delimiter: str = ",") -> Path:
    path.write_text("\n".join(delimiter.join(row) for row in rows) + "\n", "utf-8")
    return path


def xlsx(path: Path, *sheets: Sequence[Sequence[str | float]]) -> Path:
    """A workbook as small as one may be: texts inline, a sheet for each of ``sheets``."""
    def cell(value: str | float) -> str:
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    main, office = ("http://schemas.openxmlformats.org/spreadsheetml/2006/main",
                    "http://schemas.openxmlformats.org/officeDocument/2006/relationships")
    package = "http://schemas.openxmlformats.org/package/2006"
    numbers = range(1, len(sheets) + 1)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    files = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{kind}.sheet.main+xml"/>' + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>' for n in numbers)
        + "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>' + "".join(
            f'<sheet name="Sheet{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers) + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">' + "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers)
        + "</Relationships>",
        **{f"xl/worksheets/sheet{n}.xml": f'<worksheet xmlns="{main}"><sheetData>' + "".join(
            f"<row>{''.join(map(cell, row))}</row>" for row in rows) + "</sheetData></worksheet>"
           for n, rows in zip(numbers, sheets, strict=True)},
    }
    return zipped(path, {name: content.encode() for name, content in files.items()})
