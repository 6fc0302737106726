"""What schemathesis checks beyond its own checks: the server fails at nothing, and grants only what its document allows."""

import json
import re
from decimal import Decimal, InvalidOperation
from urllib.parse import parse_qs, urlsplit

import jsonschema_rs
import schemathesis

#: Refuses what is wrong item by item, and is granted nevertheless.
CHECKS_ITEMS = "AdvisoryRecordsService_ImportAdvisoryRecords"


@schemathesis.check
def server_does_not_fail(ctx, response, case):
    """501 says that this server does not offer the method."""
    assert response.status_code < 500 or response.status_code == 501, f"the server answered {response.status_code}"


@schemathesis.check
def answer_is_of_documented_type(ctx, response, case):
    """A head that is too long is refused in plain text, before the operation is known: no client can have a type for it."""
    if response.status_code == 431 or response.request.method != case.operation.method.upper():
        return
    type_of_answer = response.headers.get("content-type", [""])[0]
    assert response.content == b"" or type_of_answer == "application/json", f"the answer is {type_of_answer}"


@schemathesis.check
def granted_is_allowed(ctx, response, case):
    """Every request that is granted is valid by the document, whatever way ProtoJSON allows to spell it."""
    if response.status_code != 200:
        return
    operation = case.operation.definition.raw
    root = case.operation.schema.raw_schema
    query = parse_qs(urlsplit(response.request.url).query, keep_blank_values=True)
    for parameter in operation.get("parameters", []):
        if parameter["in"] == "query":
            check_parameter(parameter, named(query, parameter["name"]), root)
    body = response.request.body
    if body and "requestBody" in operation and operation["operationId"] != CHECKS_ITEMS:
        check_body(operation, json.loads(body), query, root)


def check_parameter(parameter, texts, root):
    schema = parameter["schema"]
    if not texts:
        assert not parameter.get("required"), f"{parameter['name']} is required, and was granted without"
        return
    if schema.get("type") == "array":
        value = [spelled(text, schema["items"], root) for text in texts]
    else:
        value = spelled(texts[0], schema, root)
    # Nothing tells an empty text from one that is left out.
    if value == "" or value == [""]:
        return
    assert_valid(value, schema, root, parameter["name"])


def check_body(operation, body, query, root):
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    value = spelled(body, schema, root)
    mask = value.get("updateMask") if isinstance(value, dict) else None
    mask = mask or (query.get("updateMask") or query.get("update_mask") or [None])[0]
    if mask is not None:
        # An update passes over what its mask does not name, whatever it is.
        paths = {camel(path.split(".")[0]) for path in mask.split(",")}
        known = resolved(schema, root).get("properties", {})
        value = {name: item for name, item in value.items() if name in known and ("*" in paths or name in paths)}
        if len(known) == 2 and "updateMask" in known:
            return
    assert_valid(value, schema, root, "body")


def assert_valid(value, schema, root, place):
    validator = jsonschema_rs.Draft202012Validator({**schema, "components": root["components"]})
    errors = [error.message for error in validator.iter_errors(value)]
    assert not errors, f"granted, though {place} is not valid: {errors[0][:300]}"


def spelled(value, schema, root):
    """A value as the document spells it: ProtoJSON also takes null for nothing, other names, numbers for texts."""
    schema = resolved(schema, root)
    kind = schema.get("type")
    if kind == "object" and isinstance(value, dict):
        return members(value, schema, root)
    if kind == "array" and isinstance(value, list):
        return [spelled(item, schema["items"], root) for item in value]
    if kind == "integer" and isinstance(value, str):
        return integer(value)
    if kind == "boolean" and isinstance(value, str):
        return {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}.get(value, value)
    if kind == "string" and "enum" in schema and is_number(value):
        return schema["enum"][0]
    if kind == "string" and schema.get("format") == "int64":
        whole = integer(str(value)) if is_number(value) or isinstance(value, str) else value
        return str(whole)
    return value


def members(value, schema, root):
    properties = schema.get("properties")
    if properties is None:
        items = schema.get("additionalProperties")
        return {name: spelled(item, items, root) for name, item in value.items()} if isinstance(items, dict) else value
    found = {}
    for name, item in value.items():
        known = name if name in properties else camel(name)
        if item is not None:
            found[known] = spelled(item, properties[known], root) if known in properties else item
    return found


def resolved(schema, root):
    while "$ref" in schema:
        schema = root["components"]["schemas"][schema["$ref"].split("/")[-1]]
    return schema


def integer(text):
    try:
        number = Decimal(text)
        return int(number) if number == number.to_integral_value() else text
    except (InvalidOperation, ValueError, OverflowError):
        return text


def is_number(value):
    return (isinstance(value, (int, float)) and not isinstance(value, bool)) or (
        isinstance(value, str) and re.fullmatch(r"-?[0-9]+", value) is not None
    )


def named(query, name):
    """The values of a parameter under any spelling of its name."""
    return [text for given, texts in query.items() if given == name or camel(given) == name for text in texts]


def camel(name):
    return re.sub(r"_(.)", lambda match: match.group(1).upper(), name)
