// A server with resources, and the typed calls as the API reference makes code of them.
import assert from "node:assert/strict";
import type { Call } from "../../../console/src/reference/code/call.ts";
import { type Grpc, type OpenApi, operationOf } from "../../../console/src/reference/documents.ts";
import { httpCall, targetOf } from "../../../console/src/reference/request.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { type TypedCall, typedCalls } from "./typed-calls.ts";

/** Calls to a server that runs. */
export interface TypedCalls extends AsyncDisposable {
  readonly server: TestServer;
  readonly token: string;
  readonly calls: readonly Call[];
}

/** Starts a server. Returns the typed calls to it. */
export async function startTypedCalls(): Promise<TypedCalls> {
  await using started = new AsyncDisposableStack();
  const server = started.use(await startTestServer());
  const names = await createNamed(server);
  const grpc = await read<Grpc>(server, "grpc");
  const calls: Call[] = [];
  for (const typed of typedCalls(names)) calls.push(await callOf(server, grpc, typed));
  const open = started.move();
  return { server, token: server.ownerToken, calls, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

async function callOf(server: TestServer, grpc: Grpc, typed: TypedCall): Promise<Call> {
  const { service, parameters = {}, body } = typed;
  const { document, methods } = grpc.services[service]!;
  const method = methods.find(({ name }) => name === typed.method)!;
  const operation = operationOf(await read<OpenApi>(server, document), service, method);
  const named = new Set(operation?.parameters?.map(({ name }) => name));
  for (const name of Object.keys(parameters)) assert.ok(named.has(name), `${typed.method}: ${name}`);
  const draft = { parameters, body: body === undefined ? "" : JSON.stringify(body, null, 2) };
  return { origin: server.url, grpc, service, method, operation, draft };
}

async function read<T>({ url }: TestServer, document: string): Promise<T> {
  return (await (await fetch(`${url}/openapi/${document}.json`)).json()) as T;
}

async function createNamed({ url, ownerToken, groupUid, ownerUid }: TestServer) {
  const create = async (path: string, body: object) => {
    const { status, body: made } = await rest(url, ownerToken, "POST", `${path}/${groupUid}`, body);
    assert.equal(status, 200, JSON.stringify(made));
    return made.uid as string;
  };
  return {
    group: groupUid,
    owner: ownerUid,
    role: await create("/iam/v2beta1/roles", { name: "reader", capabilities: ["CAP_IAM_GROUPS_LIST"] }),
    repo: await create("/registry/v2beta1/repos", { name: "app" }),
    subscription: await create("/events/v2beta1/subscriptions", { sink: "https://sink.example.org/" }),
  };
}

/** Returns the response that *Send call* gets. */
export async function responseOf(call: Call, token: string): Promise<string> {
  const http = httpCall("rest", call);
  const response = await fetch(call.origin + targetOf(http), {
    method: http.method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(http.body !== undefined && { body: http.body }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, `${call.method.name}: ${text}`);
  return text;
}

/**
 * Returns a response without what differs from call to call: times, and the uids and codes of new resources. Zero values are left out:
 * JSON of Protobuf may have them or not.
 */
export function comparable(response: string): unknown {
  // REST has no body for an empty message.
  return JSON.parse(response.trim() === "" ? "{}" : response, (name, value) => {
    if (typeof value === "object" && value !== null) return Object.keys(value).length === 0 ? undefined : value;
    if (!value || value === "0" || /_UNSPECIFIED$/.test(value)) return undefined;
    if (typeof value !== "string") return value;
    if (/Time$/.test(name)) return "a time";
    if (name === "uid" && value.includes("/")) return `${value.slice(0, value.lastIndexOf("/"))}/…`;
    return ["code", "keyId", "nextPageToken", "resumeAfter"].includes(name) ? `a ${name}` : value;
  });
}
