// An example of each operation: a call of test/api, without values that differ between runs.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import recorded from "./examples.json" with { type: "json" };

/** The request and response of a call. */
export interface Example {
  /** The parameters of path and query, by name. */
  readonly parameters?: JsonObject;
  readonly body?: JsonValue;
  readonly reply?: JsonValue;
}

const examples = recorded as Readonly<Record<string, Example>>;

/** Returns the name of the example of an operation. v2 uses the examples of v2beta1. */
export function exampleName(httpMethod: string, path: string): string {
  return `${httpMethod.toUpperCase()} ${path.replace("/v2/", "/v2beta1/")}`;
}

/** Returns the example of an operation. */
export function findExample(httpMethod: string, path: string): Example | undefined {
  return examples[exampleName(httpMethod, path)];
}
