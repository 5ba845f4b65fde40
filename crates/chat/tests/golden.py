"""Fetches the chat templates that the tests render, and makes tests/data/renders.json: what Jinja2,
set up as Hugging Face's `transformers` sets it up, makes of them.

    cargo xtask models
    python3 crates/chat/tests/golden.py --fetch

puts the templates into target/vocabularies/templates, where the tests read them: those in the
source archive of PyPI's llama-cpp-python, and SmolLM2's out of its GGUF file. They belong to their
authors, so they are not in the repository. (tests/data/gemma3.jinja is our own, for Gemma 3's
format.)

    python3 -m venv target/golden-venv
    target/golden-venv/bin/pip install jinja2==3.1.6
    target/golden-venv/bin/python crates/chat/tests/golden.py [--gemma3 TEMPLATE.jinja]

remakes the lengths and SHA-256 sums; the renders go to target/vocabularies/renders, for diffs.
`--gemma3` also checks that a copy of Google's template renders as ours does.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import tarfile

VERSION = "0.3.36"
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
STORE = ROOT / "target" / "vocabularies"
TEMPLATES = STORE / "templates"
MODEL = ROOT / "target" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
# 2025-03-04 15:06:07 at UTC+01:00, so that day, month and hour differ from their neighbours.
NOW = datetime.datetime(
    2025, 3, 4, 15, 6, 7, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
)


def archive():
    """The source archive, downloaded once; pip is told to unpack it, not to build it."""
    found = sorted(STORE.glob("llama_cpp_python-*.tar.gz"))
    if not found:
        STORE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary",
             "llama-cpp-python", f"llama-cpp-python=={VERSION}", "-d", str(STORE)],
            check=True,
        )
        found = sorted(STORE.glob("llama_cpp_python-*.tar.gz"))
    return found[-1]


def unpack():
    TEMPLATES.mkdir(parents=True, exist_ok=True)
    with tarfile.open(archive()) as tar:
        for member in tar:
            if "/vendor/llama.cpp/models/templates/" in member.name:
                if member.name.endswith(".jinja") and member.isfile():
                    name = pathlib.PurePosixPath(member.name).name
                    (TEMPLATES / name).write_bytes(tar.extractfile(member).read())
    (TEMPLATES / "gemma3.jinja").write_bytes((HERE / "data" / "gemma3.jinja").read_bytes())
    (TEMPLATES / "smollm2.jinja").write_bytes(template_of(MODEL))


def template_of(model):
    """The chat template in a GGUF file: after its key come the type (8: string) and the length."""
    if not model.exists():
        sys.exit(f"{model} is missing: run `cargo xtask models`")
    key = b"tokenizer.chat_template"
    with open(model, "rb") as file:
        head = file.read(16 << 20)
    at = head.index(key) + len(key)
    kind, length = struct.unpack_from("<IQ", head, at)
    assert kind == 8, kind
    return head[at + 12 : at + 12 + length]


def environment():
    import jinja2
    from jinja2 import nodes
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(Extension):
        """{% generation %}…{% endgeneration %} marks what the model wrote; its body is kept."""

        tags = {"generation"}

        def parse(self, parser):
            line = next(parser.stream).lineno
            body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent,
                          separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def render(template, case):
    try:
        text = template.render(
            messages=case["messages"],
            tools=case.get("tools"),
            documents=None,
            add_generation_prompt=case.get("add_generation_prompt", True),
            bos_token="<|bos|>",
            eos_token="<|eos|>",
            **case.get("kwargs", {}),
        )
    except Exception as error:
        return None, str(error)
    return text, None


def render_all(env, source, cases, folder):
    """A template's row: the sum of each case's render, or the error."""
    template = env.from_string(source)
    row = {}
    for case in cases:
        text, error = render(template, json.loads(json.dumps(case)))
        if text is None:
            row[case["name"]] = {"error": error}
            continue
        data = text.encode()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / (case["name"] + ".txt")).write_bytes(data)
        row[case["name"]] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return row


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fetch", action="store_true", help="fetch the templates, nothing more")
    arguments.add_argument("--gemma3", help="Google's template for Gemma 3, to compare ours with")
    options = arguments.parse_args()
    unpack()
    if options.fetch:
        return
    cases = json.loads((HERE / "data" / "conversations.json").read_text())
    env = environment()
    rows = {
        path.stem: render_all(env, path.read_text(), cases, STORE / "renders" / path.stem)
        for path in sorted(TEMPLATES.glob("*.jinja"))
    }
    if options.gemma3:
        source = pathlib.Path(options.gemma3).read_text()
        theirs = render_all(env, source, cases, STORE / "renders" / "gemma3-google")
        wrong = [case for case in theirs if theirs[case] != rows["gemma3"][case]]
        print("Gemma 3 differs in", wrong) if wrong else print("Gemma 3 is the same")
    lines = []
    for name, row in rows.items():
        inner = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in row.items())
        lines.append(f"{json.dumps(name)}: {{\n{inner}\n}}")
    (HERE / "data" / "renders.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    errors = sum("error" in v for row in rows.values() for v in row.values())
    print(f"{len(rows)} templates, {len(rows) * len(cases)} renders, {errors} of them errors")


if __name__ == "__main__":
    main()
