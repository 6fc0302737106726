// API cases: data that says what a caller asks and what must come of it, whichever transport it goes through.
import { readdirSync, readFileSync } from "node:fs";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

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

/** Every case file, in the order of their names. */
export function readCases(): Case[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return files.sort().map((file) => {
    const { title, steps }: Omit<Case, "name"> = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    return { name: file.replace(/\.json$/, ""), title, steps };
  });
}
