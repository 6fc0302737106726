// etcd: Range of a key whose prefix the caller may read and write, and Put. Its roles are for ranges of keys, in place of a tree.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { message } from "../protobuf.ts";
import { type Cores, freePort, type ServerProcess, startServerProcess } from "../server-process.ts";
import {
  callGrpc,
  type GrpcRequest,
  goEnvironment,
  type JsonRequests,
  type Peer,
  postJson,
  untilReady,
} from "./peer.ts";
import { caller, leaves, organization, stranger } from "./question.ts";

const paths = { range: "/etcdserverpb.KV/Range", put: "/etcdserverpb.KV/Put" } as const;
/** As long as a group in the responses of Gatehouse. */
const value = "v".repeat(143);

/** etcd writes too, and to disk. */
export interface EtcdPeer extends Peer {
  readonly put: { readonly json: JsonRequests; readonly grpc: GrpcRequest };
}

/** Starts etcd with users and roles, puts the keys and checks its answers. */
export async function startEtcd(cores: Cores): Promise<EtcdPeer> {
  const { server, port } = await startServer(cores);
  try {
    const keys = leaves.map((id) => `${organization}/${id.replaceAll("-", "/")}`);
    const key = keys[0]!;
    const headers = await fill(port, keys);
    const request = (to: string) => ({ port, headers: { authorization: headers[caller]! }, path: to });
    const bodies = keys.map((each) => json({ key: each }));
    const range = { ...request("/v3/kv/range"), bodies };
    const peer: EtcdPeer = {
      server,
      name: "etcd Range",
      jsonName: "JSON",
      json: range,
      grpc: { ...request(paths.range), message: message([1, key]) },
      put: {
        json: { ...request("/v3/kv/put"), bodies: keys.map((each) => json({ key: each, value })) },
        grpc: { ...request(paths.put), message: message([1, key], [2, value]) },
      },
    };
    const { kvs = [] } = (await postJson(range, bodies[0]!)) as { kvs?: { value: string }[] };
    assert.equal(Buffer.from(kvs[0]?.value ?? "", "base64").toString(), value, "etcd over JSON: the value is another");
    assert.ok((await callGrpc(peer.grpc)).includes(value), "etcd over gRPC: the value is missing");
    const denied = { ...peer.grpc, headers: { authorization: headers[stranger]! } };
    await assert.rejects(callGrpc(denied), /permission denied/, "etcd over gRPC: a stranger may read");
    return peer;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

async function startServer(cores: Cores): Promise<{ server: ServerProcess; port: number }> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-etcd-"));
  const [port, peerPort] = [await freePort(), await freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const flags = {
    "data-dir": folder,
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `default=${peer}`,
    "auth-token-ttl": "3600",
    "log-level": "error",
  };
  const args = Object.entries(flags).map(([name, text]) => `--${name}=${text}`);
  // It complains of every connection that a load generator leaves at its end.
  const environment = goEnvironment(cores);
  const started = await startServerProcess("etcd", args, port, { environment, cores, stderr: "ignore" });
  const server = {
    ...started,
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return { server, port };
}

/** Puts the keys, and creates the users. Returns the token of each. */
async function fill(port: number, keys: readonly string[]): Promise<Record<string, string>> {
  const post = (to: string, content: object) => postJson({ port, headers: {}, path: `/v3/${to}` }, content);
  await untilReady(() => post("kv/put", JSON.parse(json({ key: keys[0]!, value }))));
  for (const key of keys) await post("kv/put", JSON.parse(json({ key, value })));
  const password = randomBytes(24).toString("hex");
  const [key, end] = [`${organization}/`, `${organization}0`].map(base64);
  await post("auth/role/add", { name: "viewer" });
  await post("auth/role/grant", { name: "viewer", perm: { permType: "READWRITE", key, range_end: end } });
  await post("auth/role/add", { name: "root" });
  for (const name of ["root", caller, stranger]) await post("auth/user/add", { name, password });
  await post("auth/user/grant", { user: "root", role: "root" });
  await post("auth/user/grant", { user: caller, role: "viewer" });
  await post("auth/enable", {});
  const tokens: Record<string, string> = {};
  for (const name of [caller, stranger])
    tokens[name] = String((await post("auth/authenticate", { name, password })).token);
  return tokens;
}

/** The JSON gateway takes bytes as base64. */
function json(fields: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, base64(text)])));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
