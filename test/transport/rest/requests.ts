// From the text of a request to its message, without a server.
import assert from "node:assert/strict";
import { createRegistry, type DescMethodUnary, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { BadRequestSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code } from "../../../src/aip/errors.ts";
import { parseJsonText } from "../../../src/transport/json/parse-json.ts";
import { bindRequest } from "../../../src/transport/rest/bind-request.ts";
import { bindingsOf } from "../../../src/transport/rest/http-rule.ts";
import { parseParameters } from "../../../src/transport/rest/query-parameters.ts";
import { newRoutes } from "../../../src/transport/rest/routes.ts";
import { EverythingSchema } from "./exemplar.ts";
import { methodOf } from "./methods.ts";

/** Binds a request such as `PATCH /a/b?c=d` with a body to the message of the method that it leads to. */
export function bind(methods: readonly DescMethodUnary[], request: string, body?: string): Message {
  const routes = newRoutes(methods.flatMap((method) => bindingsOf(methodOf(method))));
  const space = request.indexOf(" ");
  const [path = "", query = ""] = request.slice(space + 1).split(/\?(.*)/s);
  return bindRequest(routes.find(request.slice(0, space), path), {
    parameters: parseParameters(query, "query"),
    body: body === undefined ? undefined : parseJsonText(Buffer.from(body), 100),
    registry: createRegistry(EverythingSchema, BadRequestSchema),
  });
}

/** Returns the message as the library's JSON, in proto names. */
export function asJson(method: DescMethodUnary, message: Message): JsonValue {
  const registry = createRegistry(EverythingSchema, BadRequestSchema);
  return toJson(method.input, message, { useProtoFieldName: true, registry });
}

/** Checks that the call is refused with exactly these violations, written `field: description`. */
export function assertViolations(run: () => unknown, ...expected: string[]): void {
  assert.throws(run, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.code, Code.INVALID_ARGUMENT);
    assert.deepEqual(violationsOf(error), expected);
    return true;
  });
}

/** Returns the violations of an error, written `field: description`. */
function violationsOf(error: ApiError): string[] {
  return error.details.flatMap(({ schema, value }) => {
    const json = toJson(schema, value) as { fieldViolations?: { field: string; description: string }[] };
    return (json.fieldViolations ?? []).map((violation) => `${violation.field}: ${violation.description}`);
  });
}
