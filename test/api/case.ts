// API cases: data that says what a caller asks and what must come of it, whichever transport it goes through.
import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Ajv, type ErrorObject } from "ajv";

/** A story of calls on a fresh tree of its own. */
export interface Case {
  /** The path of the file below `cases`, without its ending. */
  readonly name: string;
  /** The rule that the case is about. */
  readonly title: string;
  readonly steps: readonly Step[];
}

/** One call, or one for each item. */
export interface Step {
  /** The rule that the step shows. */
  readonly rule: string;
  /** The caller: an actor of the stage, or the `${variable}` of an identity's uid. */
  readonly as: string;
  /** The method, without the leading `/chainguard.platform.`; one of our own packages begins with `gatehouse.`. */
  readonly method: string;
  /** The request as JSON, with `${variables}`, or one variable that is all of it. */
  readonly request: JsonObject | string;
  /** The call is made once for each of these, which is then the variable `item`. */
  readonly each?: readonly JsonValue[];
  /** Variables to set, with the path of their values in the reply. */
  readonly save?: Readonly<Record<string, string>>;
  readonly expect?: Expectation;
}

/** The expected outcome of a call. */
export interface Expectation {
  /** The name of the code; `OK` when absent. */
  readonly code?: string;
  /** The reply must contain this. */
  readonly response?: JsonValue;
  /** The details of the error must contain these, by the name of their type. */
  readonly details?: JsonObject;
  /** The whole message of the error. */
  readonly message?: string;
  /** The order of a list in the reply; its items are then compared in the order of their names. */
  readonly ordered?: Ordering;
}

/** The order of the list `list` in a reply: by a text field of its items. */
export interface Ordering {
  readonly list: string;
  readonly by: string;
  readonly descending?: boolean;
}

const folder = new URL("cases/", import.meta.url);
const schema = JSON.parse(readFileSync(new URL("case.schema.json", import.meta.url), "utf8"));
const isCase = new Ajv({ allErrors: true, allowUnionTypes: true }).compile<Omit<Case, "name">>(schema);

/** Returns every case, in the order of their names. Throws with the file and the path of what is not in the schema. */
export function readCases(): Case[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => parseCase(file, readFileSync(new URL(file, folder), "utf8")));
}

/** Parses the text of a case file, which is named relative to `cases`. Throws unless it follows `case.schema.json`. */
export function parseCase(file: string, text: string): Case {
  const content: unknown = JSON.parse(text);
  if (!isCase(content)) throw new Error(`test/api/cases/${file}: ${(isCase.errors ?? []).map(problem).join("; ")}`);
  return { name: file.replace(/\.json$/, ""), title: content.title, steps: content.steps };
}

function problem({ instancePath, message, params }: ErrorObject): string {
  const { additionalProperty } = params as { additionalProperty?: string };
  return additionalProperty === undefined
    ? `${instancePath || "/"} ${message}`
    : `${instancePath}/${additionalProperty} is not a key of a case`;
}
