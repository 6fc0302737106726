// Writes calls to traces, without tokens and bodies. https://opentelemetry.io/docs/specs/semconv/rpc/rpc-spans/
import type { Message } from "@bufbuild/protobuf";
import { ApiError, codeName } from "../aip/errors.ts";
import type { AccessRule } from "../authz/rules.ts";
import type { TracedCall } from "../base/tracing.ts";
import { rootOf } from "../model/uid.ts";
import type { Call, CalledMethod } from "./call.ts";
import { isOwnFailure } from "./observe.ts";

/** Describes a call. `requestOf` returns its request once that is decoded. */
export function tracedCallOf(
  { path }: CalledMethod,
  rule: AccessRule,
  call: Call,
  requestOf: () => Message | undefined,
): TracedCall {
  const name = path.slice(1);
  const [service = "", method = ""] = name.split("/");
  return {
    name,
    requestId: call.requestId,
    header: call.header,
    describe(error) {
      const code = error === undefined ? "OK" : error instanceof ApiError ? codeName(error.code) : "UNKNOWN";
      const request = requestOf();
      const organization = request && rule.type === "scoped" ? rootOf(rule.scopeOf(request)) : "";
      return {
        isFailure: error !== undefined && (!(error instanceof ApiError) || isOwnFailure(error)),
        attributes: {
          "rpc.service": service,
          "rpc.method": method,
          "rpc.response.status_code": code,
          "gatehouse.transport": call.transport,
          "gatehouse.request_id": call.requestId,
          ...(organization !== "" && { "gatehouse.organization": organization }),
          ...(call.caller && { "gatehouse.caller": call.caller.uid }),
        },
      };
    },
  };
}
