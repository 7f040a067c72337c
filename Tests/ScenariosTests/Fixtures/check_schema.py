"""Checks JSON files against a JSON Schema, as far as our own schema goes. Knows exactly its keywords and stops at others.

usage: check_schema.py SCHEMA FOLDER      bad*.json must not fit, every other file must
"""

import json
import pathlib
import re
import sys

KNOWN = {
    "$schema", "title", "description", "$defs", "$ref", "type", "properties", "required", "additionalProperties",
    "items", "minItems", "maxItems", "minimum", "maximum", "maxLength", "pattern", "enum", "const", "oneOf", "anyOf",
}


def is_type(value, name):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {
        "object": isinstance(value, dict), "array": isinstance(value, list), "string": isinstance(value, str),
        "boolean": isinstance(value, bool), "number": number,
        "integer": number and float(value).is_integer(),
    }[name]


def problems(value, schema, root, path):
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit(f"the schema uses {unknown}, which this checker does not know")
    if "$ref" in schema:
        yield from problems(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, path)
    types = schema.get("type")
    if types is not None and not any(is_type(value, t) for t in ([types] if isinstance(types, str) else types)):
        yield f"{path}: {value!r} is no {types}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is none of {schema['enum']}"
    if "const" in schema and not (type(value) is type(schema["const"]) and value == schema["const"]):
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", len(value)):
            yield f"{path}: too long"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value) or value > schema.get("maximum", value):
            yield f"{path}: {value!r} is out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{path}: {len(value)} items"
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), root, f"{path}[{index}]")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                yield f"{path}: no {key}"
        for key, item in value.items():
            if key in schema.get("properties", {}):
                yield from problems(item, schema["properties"][key], root, f"{path}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{path}: the key {key}"
    for word, fits in (("oneOf", lambda count: count == 1), ("anyOf", lambda count: count >= 1)):
        if word in schema:
            count = sum(1 for s in schema[word] if not list(problems(value, s, root, path)))
            if not fits(count):
                yield f"{path}: fits {count} of {word}"


def main(schema_path, folder):
    schema = json.loads(pathlib.Path(schema_path).read_text())
    fit, failed = 0, False
    for file in sorted(pathlib.Path(folder).iterdir()):
        found = list(problems(json.loads(file.read_text()), schema, schema, "$"))
        if file.name.startswith("bad"):
            print(f"{file.name}: {'refused' if found else 'fits, and should not'}")
            failed |= not found
        elif found:
            print(f"{file.name}: {found}")
            failed = True
        else:
            fit += 1
    print(f"{fit} fit")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
