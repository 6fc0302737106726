// The methods with one request as Gatehouse has them: called by the unary transport, and by the streaming transport.
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMethodServerStreaming, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ApiError, Code, type ErrorDetail } from "../../src/aip/errors.ts";
import type { Call } from "../../src/pipeline/call.ts";
import type { Method, MethodTable, StreamMethod } from "../../src/pipeline/method.ts";
import {
  type Definition,
  type Head,
  type NamedValues,
  requestInfo,
  type SuiteRequest,
  schemaOf,
  service,
  types,
  type WantedError,
} from "./descriptors.ts";

/** The request whose method runs, and the trailers that its response is to have. */
export interface Exchange extends Head {
  readonly trailers: [name: string, value: string][];
}

export const exchanges = new AsyncLocalStorage<Exchange>();

/** Returns the table of the methods. */
export function unaryMethods(): MethodTable {
  const methods = service.methods
    .filter((each) => each.methodKind === "unary")
    .map((descriptor) => methodOf(descriptor as DescMethodUnary));
  const byPath = new Map(methods.map((method) => [method.path, method]));
  return { get: (path) => byPath.get(path), values: () => byPath.values() };
}

function methodOf(descriptor: DescMethodUnary): Method {
  return {
    path: `/${service.typeName}/${descriptor.name}`,
    descriptor,
    errorDomain: "conformance.test",
    rules: {} as Method["rules"],
    call: async (call, decode) => answer(descriptor, call, (await decode()) as SuiteRequest),
  };
}

/** Returns the method whose response is a stream. */
export function streamMethod(): StreamMethod {
  const descriptor = service.method.serverStream as DescMethodServerStreaming;
  return {
    path: `/${service.typeName}/${descriptor.name}`,
    descriptor,
    errorDomain: "conformance.test",
    rules: {} as StreamMethod["rules"],
    open: async function* (call, decode) {
      const request = (await decode()) as SuiteRequest;
      const definition = request.responseDefinition;
      const info = requestInfo(exchanges.getStore()!, [request], descriptor);
      setHeaders(call, definition);
      for (const [i, data] of (definition?.responseData ?? []).entries()) {
        await sleep(definition!.responseDelayMs);
        yield create(descriptor.output, { payload: { data, ...(i === 0 && { requestInfo: info }) } });
      }
      const hasSent = (definition?.responseData.length ?? 0) > 0;
      if (definition?.error) throw wanted(definition.error, hasSent ? undefined : info);
    },
  };
}

/** Sets the headers and trailers that a request wants. */
function setHeaders(call: Call, definition: Definition | undefined, prefix?: string): void {
  for (const [name, value] of pairs(definition?.responseHeaders)) call.setResponseHeader(name, value);
  for (const [name, value] of pairs(definition?.responseTrailers))
    if (prefix !== undefined) call.setResponseHeader(`${prefix}${name}`, value);
    else exchanges.getStore()!.trailers.push([name, value]);
}

async function answer(descriptor: DescMethodUnary, call: Call, request: SuiteRequest): Promise<Message> {
  if (descriptor.name === "Unimplemented") throw finished(Code.UNIMPLEMENTED, "not implemented", []);
  const exchange = exchanges.getStore()!;
  const definition = request.responseDefinition;
  const info = requestInfo(exchange, [request], descriptor);
  setHeaders(call, definition, call.transport === "connect" ? "trailer-" : undefined);
  await sleep(definition?.responseDelayMs ?? 0);
  const { response } = definition ?? {};
  if (response?.case === "error") throw wanted(response.value, info);
  return create(descriptor.output, { payload: { data: response?.value ?? new Uint8Array(), requestInfo: info } });
}

/** Several values of a name become one, as Gatehouse sets them. */
function pairs(headers: readonly NamedValues[] = []): [name: string, value: string][] {
  return headers.map(({ name, value }) => [name.toLowerCase(), value.join(", ")]);
}

function wanted(
  { code, message = "", details }: WantedError,
  info: ReturnType<typeof requestInfo> | undefined,
): ApiError {
  const schema = schemaOf("ConformancePayload.RequestInfo");
  const told = details.map((any) => {
    const value = anyUnpack(any, types)!;
    return { schema: types.getMessage(value.$typeName)!, value };
  });
  return finished(code, message, info ? [...told, { schema, value: create(schema, info) }] : told);
}

/** Returns an error with just these details: without it Gatehouse adds its ErrorInfo, which the suite does not expect of a handler. */
function finished(code: number, message: string, details: readonly ErrorDetail[]): ApiError {
  return new ApiError(code as Code, message, {
    details: Object.assign([...details], { some: () => true }) as ErrorDetail[],
  });
}
