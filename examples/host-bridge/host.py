"""A host in Python: two tools, a record of what became of their calls, and nothing but the standard library."""

import json
import sys


def tool(name, description, parameter, **annotations):
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    return {"name": name, "description": description, "input_schema": schema, "annotations": annotations}


notes = {"shopping": "milk and two onions"}
tools = [
    tool("read_note", "Reads a note.", "title", kind="read", read_only=True),
    tool("delete_note", "Deletes a note.", "title", kind="delete"),
]
functions = {"read_note": lambda title: notes[title], "delete_note": lambda title: notes.pop(title)}


def say(request, **answer):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    if method == "tool/list":
        say(message, result={"protocol": 1, "tools": tools})
    elif method == "tool/call":
        try:
            say(message, result={"value": functions[params["name"]](**params["arguments"])})
        except KeyError as error:
            say(message, result={"value": f"There is no {error}.", "is_error": True})
    elif method == "tool_call_audit":
        print("host recorded", params["tool_name"], params["receipt"]["status"], file=sys.stderr, flush=True)
