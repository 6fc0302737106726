// The methods with several requests, as Gatehouse serves reflection: by connect-node behind its listener.
import { setTimeout as sleep } from "node:timers/promises";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import {
  type Definition,
  type NamedValues,
  requestInfo,
  type SuiteRequest,
  schemaOf,
  service,
  types,
  type WantedError,
} from "./descriptors.ts";

type Info = ReturnType<typeof requestInfo>;
type Requests = AsyncIterable<SuiteRequest>;

/** Adds the methods with streams. */
export function addStreams(router: ConnectRouter): void {
  const { clientStream, bidiStream } = service.method;
  const handlers: [DescMethod, (request: never, context: HandlerContext) => unknown][] = [
    [clientStream!, (requests: Requests, context) => collect(clientStream!, requests, context)],
    [bidiStream!, (requests: Requests, context) => respond(bidiStream!, requests, context)],
  ];
  for (const [method, handler] of handlers) router.rpc(method as never, handler as never);
}

async function collect(method: DescMethod, requests: Requests, context: HandlerContext): Promise<Message> {
  const received: SuiteRequest[] = [];
  for await (const request of requests) received.push(request);
  const definition = received[0]?.responseDefinition;
  const info = infoOf(context, received, method);
  setHeaders(definition, context);
  await sleep(definition?.responseDelayMs ?? 0);
  const { response } = definition ?? {};
  if (response?.case === "error") throw wanted(response.value, info);
  return create(method.output, { payload: { data: response?.value ?? new Uint8Array(), requestInfo: info } });
}

/** Answers with the messages that the first request defines: behind all requests, or one behind each. */
async function* respond(method: DescMethod, requests: Requests, context: HandlerContext): AsyncIterable<Message> {
  const received: SuiteRequest[] = [];
  let definition: Definition | undefined;
  let isFullDuplex = false;
  let sent = 0;
  const next = async (told: readonly SuiteRequest[]): Promise<Message> => {
    await sleep(definition!.responseDelayMs);
    const data = definition!.responseData[sent++]!;
    const info = told.length > 0 ? { requestInfo: infoOf(context, told, method) } : {};
    return create(method.output, { payload: { data, ...info } });
  };
  for await (const request of requests) {
    received.push(request);
    if (received.length === 1) {
      definition = request.responseDefinition;
      isFullDuplex = request.fullDuplex === true;
      setHeaders(definition, context);
    }
    if (isFullDuplex && definition && sent < definition.responseData.length) yield await next([request]);
    else if (isFullDuplex) break;
  }
  while (definition && sent < definition.responseData.length) yield await next(sent === 0 ? received : []);
  if (definition?.error) throw wanted(definition.error, sent === 0 ? infoOf(context, received, method) : undefined);
}

function setHeaders(definition: Definition | undefined, { responseHeader, responseTrailer }: HandlerContext): void {
  append(responseHeader, definition?.responseHeaders);
  append(responseTrailer, definition?.responseTrailers);
}

function append(headers: Headers, values: readonly NamedValues[] = []): void {
  for (const { name, value } of values) for (const each of value) headers.append(name, each);
}

function infoOf(context: HandlerContext, requests: readonly SuiteRequest[], method: DescMethod): Info {
  return requestInfo({ headers: [...context.requestHeader].flat(), query: "" }, requests, method);
}

function wanted({ code, message, details }: WantedError, info: Info | undefined): ConnectError {
  const schema = schemaOf("ConformancePayload.RequestInfo");
  const told = details.map((any) => {
    const value = anyUnpack(any, types)!;
    return { desc: types.getMessage(value.$typeName)!, value };
  });
  const all = info ? [...told, { desc: schema, value: create(schema, info) }] : told;
  return new ConnectError(message ?? "", code, undefined, all as never);
}
