// One client per transport, with the same face: what a caller may ask, and what came of it.
import { Agent } from "node:http";
import {
  create,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  fromJson,
  type JsonObject,
  type Message,
  toBinary,
} from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { generatedServices } from "../transport/rest/methods.ts";
import { detailRegistry, failure, type Outcome, success } from "./outcome.ts";
import { repeatingCaller } from "./repeating-client.ts";
import { type PathStyle, restCaller, type Witness } from "./rest-client.ts";

export type { Outcome } from "./outcome.ts";

/** A way into the server. */
export interface ApiClient extends Disposable {
  readonly name: TransportName;
  /** Calls a method by its gRPC path with the JSON of its request; without a token when there is none. */
  call(token: string | undefined, methodPath: string, request: JsonObject): Promise<Outcome>;
  /** How many calls it has repeated by itself. */
  repetitions(): number;
}

/** The transports, by what opens them. */
export const transportNames = [
  "grpc",
  "grpc-web",
  "connect",
  "rest",
  "rest, slashes escaped",
  "rest, each write repeated by its key",
] as const;
export type TransportName = (typeof transportNames)[number];

/** The services that can be called: all in gen/ but those of gRPC itself. A new one is tested wherever all are. */
export const services: readonly DescService[] = (await generatedServices()).filter(({ typeName }) =>
  /^(?:chainguard|gatehouse)\./.test(typeName),
);

const methods = new Map(services.flatMap(({ methods }) => methods.map((method) => [pathOf(method), method] as const)));

type Caller = Disposable & {
  /** How many calls it has repeated; none if absent. */
  repetitions?(): number;
  call(token: string | undefined, method: DescMethodUnary, request: JsonObject): Promise<Outcome>;
};

/**
 * Opens a transport of the server at `url`. With `as` another version, calls the methods of that version.
 * `witness` is told of what goes over REST with escaped slashes.
 */
export function openApiClient(
  name: TransportName,
  url: string,
  as = (method: DescMethodUnary) => method,
  witness?: Witness,
): ApiClient {
  const caller = openers[name](url, witness);
  return {
    name,
    call: (token, methodPath, request) => caller.call(token, as(findMethod(methodPath)), request),
    repetitions: () => caller.repetitions?.() ?? 0,
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}

const openers: Readonly<Record<TransportName, (url: string, witness: Witness | undefined) => Caller>> = {
  grpc: grpcCaller,
  "grpc-web": grpcWebCaller,
  connect: connectCaller,
  rest: (url) => restCaller(url, "slashes" satisfies PathStyle),
  "rest, slashes escaped": (url, witness) => restCaller(url, "escaped" satisfies PathStyle, witness),
  "rest, each write repeated by its key": (url) => repeatingCaller(url),
};

/** Returns the method with this gRPC path; throws when there is none. */
function findMethod(methodPath: string): DescMethodUnary {
  const method = methods.get(methodPath);
  if (method?.methodKind !== "unary") throw new Error(`there is no unary method ${methodPath}`);
  return method as DescMethodUnary;
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** gRPC by @grpc/grpc-js, a client that shares no code with the server. */
function grpcCaller(url: string): Caller {
  const client = new Client(new URL(url).host, credentials.createInsecure());
  return {
    call: (token, method, request) =>
      new Promise((resolve) => {
        const metadata = new Metadata();
        if (token !== undefined) metadata.set("authorization", `Bearer ${token}`);
        client.makeUnaryRequest(
          pathOf(method),
          (message: Message) => Buffer.from(toBinary(method.input, message)),
          (bytes) => fromBinary(method.output, bytes),
          fromJson(method.input, request),
          metadata,
          (error, reply) =>
            resolve(error ? grpcFailure(error) : success(method.output, reply ?? create(method.output))),
        );
      }),
    [Symbol.dispose]: () => client.close(),
  };
}

function grpcFailure(error: ServiceError): Outcome {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  if (!(bytes instanceof Buffer)) return failure(error.code, error.details, []);
  const status = fromBinary(StatusSchema, bytes);
  const details = status.details.map((any) => {
    const message = anyUnpack(any, detailRegistry);
    if (!message) throw new Error(`${any.typeUrl} is not a type of a detail`);
    return message;
  });
  // The text of the header is escaped, by rules that servers and clients read differently.
  return failure(error.code, status.message, details);
}

/** gRPC-web over HTTP/1.1, as browsers send it. */
function grpcWebCaller(url: string): Caller {
  const agent = new Agent({ keepAlive: true });
  const transport = createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", nodeOptions: { agent } });
  return transportCaller(transport, () => agent.destroy());
}

/** The Connect protocol with JSON over HTTP/2. */
function connectCaller(url: string): Caller {
  const sessionManager = new Http2SessionManager(url);
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "2",
    sessionManager,
    useBinaryFormat: false,
  });
  return transportCaller(transport, () => sessionManager.abort());
}

function transportCaller(transport: Transport, close: () => void): Caller {
  return {
    async call(token, method, request) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      try {
        const message = fromJson(method.input, request);
        const reply = await transport.unary(method, undefined, undefined, headers, message);
        return success(method.output, reply.message);
      } catch (error) {
        if (!(error instanceof ConnectError)) throw error;
        return failure(error.code, error.rawMessage, error.findDetails(detailRegistry));
      }
    },
    [Symbol.dispose]: close,
  };
}
