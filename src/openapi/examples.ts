// An example of each operation: a call that test/api has made, without what differs from run to run.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import recorded from "./examples.json" with { type: "json" };

/** What a call sent and received. */
export interface Example {
  /** The values of parameters in the path and in the query, by name. */
  readonly parameters?: JsonObject;
  readonly body?: JsonValue;
  readonly reply?: JsonValue;
}

const examples = recorded as Readonly<Record<string, Example>>;

/** The name under which the example of an operation is kept. What v2 has is what v2beta1 has. */
export function exampleName(httpMethod: string, path: string): string {
  return `${httpMethod.toUpperCase()} ${path.replace("/v2/", "/v2beta1/")}`;
}

/** The example of an operation. */
export function findExample(httpMethod: string, path: string): Example | undefined {
  return examples[exampleName(httpMethod, path)];
}
