// The deadline of a request by its header: `grpc-timeout` (gRPC over HTTP/2, "Requests") or `connect-timeout-ms`.
import { ApiError, Code } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";
import type { HeaderOf } from "./protocol.ts";

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 0.001, n: 0.000_001 };

/** Returns the deadline of a gRPC or gRPC-web request: see `Protocol.timeoutOf`. */
export function grpcTimeout(header: HeaderOf): number | ApiError {
  const text = header("grpc-timeout");
  if (text === undefined) return 0;
  const [, units, unit] = /^(\d{1,8})([HMSmun])$/.exec(text) ?? [];
  if (units === undefined) return malformed("grpc-timeout", text);
  return Number(units) === 0 ? passed() : Math.max(1, Number(units) * unitMs[unit!]!);
}

/** Returns the deadline of a Connect request: see `Protocol.timeoutOf`. */
export function connectTimeout(header: HeaderOf): number | ApiError {
  const text = header("connect-timeout-ms");
  if (text === undefined) return 0;
  if (!/^\d{1,10}$/.test(text)) return malformed("connect-timeout-ms", text);
  return Number(text) || passed();
}

function malformed(name: string, text: string): ApiError {
  return new ApiError(Code.INVALID_ARGUMENT, `protocol error: ${name} is ${clip(text)}`);
}

function passed(): ApiError {
  return new ApiError(Code.DEADLINE_EXCEEDED, "the deadline has passed");
}
