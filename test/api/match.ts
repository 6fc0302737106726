// Whether a reply contains what a case expects of it.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/**
 * Texts that stand for more than themselves. `<child of X>` is a uid directly below X, `<after X>` a later time, `<hex N>` N
 * hexadecimal digits, `<token P>` P and 64 of them.
 */
const placeholders: readonly { readonly name: RegExp; test(value: JsonValue, argument: string): boolean }[] = [
  { name: /^<any>$/, test: () => true },
  { name: /^<root>$/, test: (value) => /^[0-9a-f]{40}$/.test(String(value)) },
  {
    name: /^<child of (.+)>$/,
    test: (value, parent) => /^\/[0-9a-f]{16}$/.test(String(value).replace(parent, "")),
  },
  { name: /^<hex (.+)>$/, test: (value, length) => new RegExp(`^[0-9a-f]{${length}}$`).test(String(value)) },
  { name: /^<token (.+)>$/, test: (value, prefix) => new RegExp(`^${prefix}[0-9a-f]{64}$`).test(String(value)) },
  // The specification: RFC 3339 in UTC, of millisecond precision. protobuf-es leaves out a fraction of zero.
  { name: /^<time>$/, test: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/.test(String(value)) },
  { name: /^<after (.+)>$/, test: (value, before) => Date.parse(String(value)) > Date.parse(before) },
];

/**
 * Fails unless `actual` contains `expected`: objects member by member, lists item by item and of the same length. A
 * member that is expected to be null must be absent.
 */
export function assertContains(actual: JsonValue | undefined, expected: JsonValue, at: string): void {
  if (expected === null) assert.equal(actual, undefined, `${at} must be absent`);
  else if (Array.isArray(expected)) assertList(actual, expected, at);
  else if (typeof expected === "object") assertObject(actual, expected, at);
  else if (typeof expected === "string") assertText(actual, expected, at);
  else assert.equal(actual, expected, at);
}

function assertList(actual: JsonValue | undefined, expected: readonly JsonValue[], at: string): void {
  // protobuf-es leaves out an empty list.
  const items = actual ?? [];
  assert.ok(Array.isArray(items), `${at} must be a list`);
  assert.equal(items.length, expected.length, `the length of ${at}, which is ${JSON.stringify(items)}`);
  for (const [i, item] of expected.entries()) assertContains(items[i], item, `${at}[${i}]`);
}

function assertObject(actual: JsonValue | undefined, expected: JsonObject, at: string): void {
  assert.ok(typeof actual === "object" && actual !== null && !Array.isArray(actual), `${at} must be an object`);
  for (const [name, value] of Object.entries(expected)) assertContains(actual[name], value, `${at}.${name}`);
}

function assertText(actual: JsonValue | undefined, expected: string, at: string): void {
  for (const { name, test } of placeholders) {
    const match = name.exec(expected);
    if (!match) continue;
    assert.ok(actual !== undefined && test(actual, match[1] ?? ""), `${at} is ${JSON.stringify(actual)}: ${expected}`);
    return;
  }
  assert.equal(actual, expected, at);
}
