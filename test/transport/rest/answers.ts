import assert from "node:assert/strict";
import type { Code } from "../../../src/aip/errors.ts";
import type { Answer } from "./transports.ts";

/** The JSON of an error. */
export function bodyOf(
  answer: Answer,
): Record<string, unknown> & { code: number; message: string; details: Record<string, unknown>[] } {
  return JSON.parse(answer.text);
}

/** Checks the parts that all errors have. */
export function assertError(answer: Answer, status: number, code: Code, message: string | RegExp): void {
  assert.equal(answer.status, status);
  assert.equal(answer.headers["content-type"], "application/json");
  assert.equal(bodyOf(answer).code, code);
  assert.ok(bodyOf(answer).details.some((each) => each["@type"] === "type.googleapis.com/google.rpc.ErrorInfo"));
  if (typeof message === "string") assert.equal(bodyOf(answer).message, message);
  else assert.match(bodyOf(answer).message, message);
}
