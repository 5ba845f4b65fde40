#!/usr/bin/env python3
"""Brings the vocabularies that the tokenizer's tests compare with into target/vocabularies/.

The source archive of the PyPI package llama-cpp-python carries vocabularies as GGUF files without
weights, each with strings (.inp) and their ids (.out). This script fetches that one archive with
pip and unpacks the vocabularies that have strings. The ids are checked in beside the tests; with
--ids this script writes them anew from the archive.

Nothing is built: pip asks an archive's build backend for its metadata before it keeps the archive,
so a stand-in backend of a few lines answers in place of the real one.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

PACKAGE = "llama-cpp-python"
VERSION = "0.3.36"
ARCHIVE = f"llama_cpp_python-{VERSION}.tar.gz"
SHA256 = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
FOLDER = f"llama_cpp_python-{VERSION}/vendor/llama.cpp/models/"
SEPARATOR = "\n__ggml_vocab_test__\n"

TESTS = pathlib.Path(__file__).resolve().parent
TARGET = TESTS.parents[2] / "target" / "vocabularies"
IDS = TESTS / "data" / "vocabularies"

BACKEND = f"""
import os
def get_requires_for_build_wheel(config_settings=None):
    return []
def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "{ARCHIVE.removesuffix(".tar.gz")}.dist-info"
    os.makedirs(os.path.join(metadata_directory, name))
    with open(os.path.join(metadata_directory, name, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: {PACKAGE}\\nVersion: {VERSION}\\n")
    return name
"""


def fetch(archive):
    """Downloads the archive and checks what came."""
    with tempfile.TemporaryDirectory() as backend:
        package = pathlib.Path(backend, "scikit_build_core")
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "build.py").write_text(BACKEND)
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            + ["--no-build-isolation", "--no-binary", ":all:", "--dest", archive.parent]
            + [f"{PACKAGE}=={VERSION}"],
            env={**os.environ, "PYTHONPATH": backend},
            check=True,
        )
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != SHA256:
        archive.unlink()
        sys.exit(f"{ARCHIVE}: expected sha256 {SHA256}, found {found}")


def unpack(archive):
    """Unpacks the vocabularies that have strings, with the strings; returns the names."""
    with tarfile.open(archive) as tar:
        members = {m.name.removeprefix(FOLDER): m for m in tar if m.name.startswith(FOLDER)}
        names = [name.removesuffix(".inp") for name in members if name.endswith(".gguf.inp")]
        for name in names:
            for file in (name, name + ".inp", name + ".out"):
                path = TARGET / file
                content = tar.extractfile(members[file]).read()
                partial = path.with_suffix(".partial")
                partial.write_bytes(content)
                partial.replace(path)
    return sorted(names)


def write_ids(names):
    """Writes the ids of every string, one list a line."""
    IDS.mkdir(parents=True, exist_ok=True)
    for name in names:
        strings = (TARGET / f"{name}.inp").read_bytes().decode().split(SEPARATOR)
        lines = (TARGET / f"{name}.out").read_text().split("\n")
        ids = [[int(id) for id in line.split()] for line in lines[:-1]]
        expected = len(strings) - (strings[-1] == "")
        if len(ids) != expected:
            sys.exit(f"{name}: {expected} strings, {len(ids)} lines of ids")
        short = name.removeprefix("ggml-vocab-").removesuffix(".gguf")
        body = ",\n".join(json.dumps(line) for line in ids)
        (IDS / f"{short}.json").write_text(f"[\n{body}\n]\n")


def main():
    TARGET.mkdir(parents=True, exist_ok=True)
    archive = TARGET / ARCHIVE
    done = TARGET / "done"
    if "--ids" not in sys.argv and done.exists() and done.read_text() == SHA256:
        return
    if not archive.exists():
        fetch(archive)
    names = unpack(archive)
    if "--ids" in sys.argv:
        write_ids(names)
    done.write_text(SHA256)
    print(f"{len(names)} vocabularies in {TARGET}")


if __name__ == "__main__":
    main()
