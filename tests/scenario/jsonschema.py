# SPDX-License-Identifier: Apache-2.0
"""The part of JSON Schema 2020-12 that Ember's OpenAPI document uses.

    Validator(document).check(value, schema, "where")

raises Invalid with the place of the first difference. A keyword that is not known here is an error
too, so that nothing in the document goes unjudged.
"""
import re

IGNORED = {"title", "description", "default", "examples", "example", "contentMediaType"}
TIME = re.compile(r"\d{4}-(0[1-9]|1[0-2])-([0-2]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?Z")


class Invalid(AssertionError):
    pass


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class Validator:
    def __init__(self, document):
        self.document = document

    def resolve(self, node):
        """What a "$ref" stands for, or the node itself."""
        while "$ref" in node:
            reference = node["$ref"]
            if not reference.startswith("#/"):
                raise Invalid(f"{reference}: not in this document")
            node = self.document
            for part in reference[2:].split("/"):
                if part not in node:
                    raise Invalid(f"{reference}: there is none")
                node = node[part]
        return node

    def check(self, value, schema, where):
        schema = self.resolve(schema)
        for keyword in schema:
            if keyword in IGNORED or keyword.startswith("x-"):
                continue
            judge = getattr(self, "check_" + keyword, None)
            if not judge:
                raise Invalid(f"{where}: the keyword {keyword} is not known here")
            judge(value, schema[keyword], schema, where)

    @staticmethod
    def check_type(value, types, _schema, where):
        types = [types] if isinstance(types, str) else types
        if not any(TYPES[name](value) for name in types):
            raise Invalid(f"{where}: {value!r} is no {' or '.join(types)}")

    @staticmethod
    def check_enum(value, values, _schema, where):
        if value not in values:
            raise Invalid(f"{where}: {value!r} is none of {values}")

    @staticmethod
    def check_const(value, constant, _schema, where):
        if value != constant:
            raise Invalid(f"{where}: {value!r} is not {constant!r}")

    @staticmethod
    def check_pattern(value, pattern, _schema, where):
        if isinstance(value, str) and not re.search(pattern, value):
            raise Invalid(f"{where}: {value!r} is not like {pattern}")

    @staticmethod
    def check_format(value, name, _schema, where):
        if name != "date-time":
            raise Invalid(f"{where}: the format {name} is not known here")
        if isinstance(value, str) and not TIME.fullmatch(value):
            raise Invalid(f"{where}: {value!r} is no time in UTC")

    @staticmethod
    def check_minimum(value, bound, _schema, where):
        if is_number(value) and value < bound:
            raise Invalid(f"{where}: {value} is below {bound}")

    @staticmethod
    def check_maximum(value, bound, _schema, where):
        if is_number(value) and value > bound:
            raise Invalid(f"{where}: {value} is above {bound}")

    @staticmethod
    def check_minLength(value, bound, _schema, where):
        if isinstance(value, str) and len(value) < bound:
            raise Invalid(f"{where}: {value!r} is shorter than {bound}")

    @staticmethod
    def check_maxLength(value, bound, _schema, where):
        if isinstance(value, str) and len(value) > bound:
            raise Invalid(f"{where}: {value!r} is longer than {bound}")

    @staticmethod
    def check_minItems(value, bound, _schema, where):
        if isinstance(value, list) and len(value) < bound:
            raise Invalid(f"{where}: fewer than {bound}")

    def check_items(self, value, schema, _outer, where):
        if isinstance(value, list):
            for index, item in enumerate(value):
                self.check(item, schema, f"{where}[{index}]")

    def check_properties(self, value, properties, _schema, where):
        if isinstance(value, dict):
            for name, schema in properties.items():
                if name in value:
                    self.check(value[name], schema, f"{where}.{name}")

    @staticmethod
    def check_required(value, names, _schema, where):
        if isinstance(value, dict):
            missing = [name for name in names if name not in value]
            if missing:
                raise Invalid(f"{where}: {missing} is missing")

    @staticmethod
    def check_additionalProperties(value, allowed, schema, where):
        if allowed is not False:
            raise Invalid(f"{where}: additionalProperties other than false")
        if isinstance(value, dict):
            more = [name for name in value if name not in schema.get("properties", {})]
            if more:
                raise Invalid(f"{where}: {more} is not documented")
