"""Writes python/graphfill/_methods.py: one class per method, its parameters as keywords.

    python python/generate_methods.py           writes the file
    python python/generate_methods.py --check   fails if it would change

Needs the installed package, whose native module knows the methods.
"""

from __future__ import annotations

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

from graphfill import _native

TARGET = Path(__file__).parent / "graphfill" / "_methods.py"
NAMES = {
    "fp": "FeaturePropagation",
    "vae": "Vae",
    "gcn": "Gcn",
    "sage": "Sage",
    "gat": "Gat",
    "gnn": "Gnn",
    "graph-rna": "GraphRna",
}
HEAD = '''"""One class per method, its parameters as keywords. Written by python/generate_methods.py."""

from __future__ import annotations

from typing import Literal, Unpack

from graphfill._keywords import FillKeywords
from graphfill._model import Method

'''

def class_name(name: str) -> str:
    return NAMES.get(name, "".join(part.capitalize() for part in name.split("-")))

def spelled(parameter: str) -> str:
    return f"{parameter}_" if keyword.iskeyword(parameter) else parameter

def type_of(allowed: str) -> str:
    if allowed.startswith("one of "):
        words = allowed.removeprefix("one of ").split(", ")
        literal = ", ".join(f'"{word}"' for word in words)
        return f"bool | Literal[{literal}]" if set(words) == {"yes", "no"} else f"Literal[{literal}]"
    return "int" if allowed.startswith("a whole number") else "float"

def class_of(method: dict[str, Any]) -> str:
    parameters = method["parameters"]

    lines = [f"class {class_name(method['name'])}(Method):", f'    """{method["title"]}.', ""]
    lines += textwrap.wrap(method["about"], 112, initial_indent="    ", subsequent_indent="    ")
    if method["reference"]:
        lines += ["", *textwrap.wrap(method["reference"], 112, initial_indent="    ", subsequent_indent="    ")]
    if parameters:
        lines += ["", "    Args:"]
        for one in parameters:
            text = f"{spelled(one['name'])}: {one['about']}: {one['allowed']}. By default {one['default']}."
            lines += textwrap.wrap(text, 112, initial_indent=" " * 8, subsequent_indent=" " * 12)
    lines += ['    """', "", f'    name = "{method["name"]}"', "", "    def __init__(", "        self,"]
    if parameters:
        lines.append("        *,")
        lines += [f"        {spelled(one['name'])}: {type_of(one['allowed'])} | None = None," for one in parameters]
    lines += ["        **keywords: Unpack[FillKeywords],", "    ) -> None:"]
    given = ", ".join(f'"{one["name"]}": {spelled(one["name"])}' for one in parameters)
    call = f"        super().__init__({{{given}}}, dict(keywords))"
    if len(call) > 120:
        entries = "".join(f'            "{one["name"]}": {spelled(one["name"])},\n' for one in parameters)
        call = f"        parameters: dict[str, object] = {{\n{entries}        }}\n        super().__init__(parameters, dict(keywords))"
    lines.append(call)
    return "\n".join(lines) + "\n"

def main() -> int:
    methods = json.loads(_native.methods_json())
    names = sorted(class_name(method["name"]) for method in methods)
    exported = "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
    text = HEAD + exported + "".join("\n\n" + class_of(method) for method in methods)
    if "--check" in sys.argv:
        return 0 if TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0

if __name__ == "__main__":
    sys.exit(main())
