"""Writes what Jinja 2 renders, as fixtures for tests of llama.cpp's template engine as we build it. See docs/testing.md.

The environment is that of apply_chat_template() in Hugging Face's transformers, with a fixed clock:
    /usr/bin/python3 packages/engine-native/test/__fixtures__/jinja/make_fixtures.py
    /usr/bin/python3 packages/engine-native/test/__fixtures__/jinja/make_fixtures.py --show Qwen3.5-4B calls
"""

import datetime
import itertools
import json
import pathlib
import re
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox
from jinja2 import nodes

HERE = pathlib.Path(__file__).parent
TEMPLATES = HERE.parents[4] / "vendor/llama.cpp/source/models/templates"
NOW = datetime.datetime(2026, 1, 2, 3, 4, 5)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_write"), [], [], body).set_lineno(line)

    def _write(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: NOW.strftime(form)
    return env


ENVIRONMENT = environment()


def render(source, variables):
    """The text, or None and the error."""
    try:
        return ENVIRONMENT.from_string(source).render(**variables), None
    except Exception as error:  # whatever a template raises is a result
        return None, f"{type(error).__name__}: {error}"


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


# --- expressions -----------------------------------------------------------------------------------------------------

VARIABLES = json.loads((HERE / "variables.json").read_text())
VALUES = json.loads((HERE / "expressions.json").read_text())


def expressions():
    corpus = VALUES
    yield from ("{{ " + each + " }}" for each in corpus["expressions"])
    yield from corpus["templates"]
    values = corpus["values"]
    yield from ("{{ " + each + " }}" for each in values)
    for value, name in itertools.product(values, corpus["filters"]):
        yield f"{{{{ ({value}) | {name} }}}}"
    for value, name in itertools.product(values, corpus["tests"]):
        yield f"{{{{ ({value}) is {name} }}}}"
    for value, name in itertools.product(corpus["texts"], corpus["methods"]):
        yield f"{{{{ ({value}).{name} }}}}"
    for a, op, b in itertools.product(corpus["operands"], corpus["operators"], corpus["operands"]):
        yield f"{{{{ ({a}) {op} ({b}) }}}}"
    for value, (start, stop, step) in itertools.product(corpus["sequences"], itertools.product(corpus["bounds"], corpus["bounds"], corpus["steps"])):
        yield f"{{{{ {value}[{start}:{stop}:{step}] }}}}"


ADDRESS = re.compile(r" at 0x[0-9a-f]+>|<generator|dict_(items|keys|values)\(|<function|<built-in|<Macro|<class|range\(|<bound|<listreverse|<reversed|<map|iterator object")


def write_expressions():
    rows = []
    for source in dict.fromkeys(expressions()):
        text, error = render(source, VARIABLES)
        if text is None:
            rows.append([source, None])
        elif not ADDRESS.search(text):
            rows.append([source, text])
    lines = ",\n".join(json.dumps(row, ensure_ascii=True) for row in rows)
    (HERE / "expressions.expected.json").write_text(f"[\n{lines}\n]\n")
    print(len(rows), "expressions,", sum(row[1] is None for row in rows), "of them errors")


# --- templates -------------------------------------------------------------------------------------------------------


def conversations():
    return json.loads((HERE / "conversations.json").read_text())


def templates():
    return {path.stem: path.read_text() for path in sorted(TEMPLATES.glob("*.jinja"))}


def write_templates():
    expected = {}
    for name, source in templates().items():
        rows = {}
        for case, variables in conversations().items():
            text, error = render(source, variables)
            rows[case] = [fnv1a(text), len(text.encode())] if text is not None else [None, error.split("\n")[0][:120]]
        expected[name] = rows
    parts = ",\n".join(
        f"{json.dumps(name)}: {{\n" + ",\n".join(f"  {json.dumps(case)}: {json.dumps(row)}" for case, row in rows.items()) + "\n}"
        for name, rows in expected.items()
    )
    (HERE / "templates.expected.json").write_text("{\n" + parts + "\n}\n")
    print(len(expected), "templates,", len(conversations()), "conversations")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--show"]:
        text, error = render(templates()[sys.argv[2]], conversations()[sys.argv[3]])
        print(text if text is not None else error)
    else:
        print("Jinja", jinja2.__version__, "Python", sys.version.split()[0])
        write_expressions()
        write_templates()
