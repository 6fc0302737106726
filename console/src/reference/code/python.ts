// A call as a program in Python with requests.
import { httpCall, parseBody } from "../request.ts";
import { type Call, hasToken } from "./call.ts";
import { block } from "./message.ts";

/** Returns the program. It prints what the server responds with. */
export function python(call: Call): string {
  const { method, path, query, body } = httpCall("rest", call);
  const items = [
    JSON.stringify(call.origin + path),
    ...(query.length > 0 ? [`params=${params(query)}`] : []),
    ...(hasToken(call) ? [`headers={"Authorization": f"Bearer {os.environ['TOKEN']}"}`] : []),
    ...(body === undefined ? [] : [`json=${literal(parseBody(body))}`]),
    "timeout=60",
  ];
  return [
    ...(hasToken(call) ? ["import os", ""] : []),
    "import requests",
    "",
    `response = ${block(`requests.${method.toLowerCase()}(`, items, ")", "    ")}`,
    "response.raise_for_status()",
    "print(response.text)",
    "",
  ].join("\n");
}

/** Returns query parameters: a list has its name once for each value. */
function params(query: readonly (readonly [string, string])[]): string {
  const isUnique = new Set(query.map(([name]) => name)).size === query.length;
  if (isUnique) return literal(Object.fromEntries(query));
  return block(
    "[",
    query.map(([name, value]) => `(${JSON.stringify(name)}, ${JSON.stringify(value)})`),
    "]",
    "    ",
  );
}

/** Returns JSON as a literal. Escapes of texts are the same in Python. */
function literal(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return block("[", value.map(literal), "]", "    ");
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${literal(member)}`);
  return block("{", members, "}", "    ");
}
