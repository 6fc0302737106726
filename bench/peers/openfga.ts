// OpenFGA: Check, with data in memory and the cache of its checks.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { message } from "../protobuf.ts";
import { type Cores, freePort, startServerProcess } from "../server-process.ts";
import { callGrpc, goEnvironment, type Peer, postJson, untilReady } from "./peer.ts";
import { caller, leaves, organization, stranger, tree } from "./question.ts";

const path = "/openfga.v1.OpenFGAService/Check";
/** As many as one request may write. */
const maxTuples = 100;

/** A viewer of a group is a viewer of every group below it. */
const types = [
  { type: "user" },
  {
    type: "group",
    relations: {
      parent: { this: {} },
      viewer: {
        union: {
          child: [
            { this: {} },
            { tupleToUserset: { tupleset: { relation: "parent" }, computedUserset: { relation: "viewer" } } },
          ],
        },
      },
    },
    metadata: {
      relations: {
        parent: { directly_related_user_types: [{ type: "group" }] },
        viewer: { directly_related_user_types: [{ type: "user" }] },
      },
    },
  },
];

/** Starts OpenFGA, writes the tree and checks its answers. */
export async function startOpenfga(cores: Cores): Promise<Peer> {
  const key = randomBytes(24).toString("hex");
  const [port, grpcPort] = [await freePort(), await freePort()];
  const flags = {
    "http-addr": `127.0.0.1:${port}`,
    "grpc-addr": `127.0.0.1:${grpcPort}`,
    "datastore-engine": "memory",
    "authn-method": "preshared",
    "check-query-cache-enabled": "true",
    "playground-enabled": "false",
    "metrics-enabled": "false",
    "log-level": "none",
  };
  const args = ["run", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
  // Other users of the machine can see arguments.
  const environment = { ...goEnvironment(cores), OPENFGA_AUTHN_PRESHARED_KEYS: key };
  const server = await startServerProcess("openfga", args, port, { environment, cores, stderr: "ignore" });
  try {
    const headers = { authorization: `Bearer ${key}` };
    const { store, model } = await fill(port, headers);
    const json = { port, headers, path: `/stores/${store}/check`, bodies: leaves.map((id) => body(model, caller, id)) };
    const grpcOf = (user: string) => ({
      port: grpcPort,
      headers,
      path,
      message: check(store, model, user, leaves[0]!),
    });
    const peer: Peer = { server, name: "OpenFGA Check", jsonName: "REST", json, grpc: grpcOf(caller) };
    assert.deepEqual((await postJson(json, json.bodies[0]!)).allowed, true, "OpenFGA over REST: the caller is denied");
    const denied = await postJson(json, body(model, stranger, leaves[0]!));
    assert.deepEqual(denied.allowed, false, "OpenFGA over REST: a stranger is allowed");
    // Field 1 of the response, which is left out when it is false.
    assert.deepEqual(
      [...(await callGrpc(peer.grpc)).subarray(0, 2)],
      [8, 1],
      "OpenFGA over gRPC: the caller is denied",
    );
    assert.notEqual((await callGrpc(grpcOf(stranger)))[0], 8, "OpenFGA over gRPC: a stranger is allowed");
    return peer;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

async function fill(port: number, headers: { authorization: string }): Promise<{ store: string; model: string }> {
  const post = (to: string, content: object) => postJson({ port, headers, path: to }, content);
  const store = String((await untilReady(() => post("/stores", { name: "benchmark" }))).id);
  const models = `/stores/${store}/authorization-models`;
  const { authorization_model_id: id } = await post(models, { schema_version: "1.1", type_definitions: types });
  const model = String(id);
  const tuples = [
    { user: `user:${caller}`, relation: "viewer", object: `group:${organization}` },
    ...tree.map((group) => ({ user: `group:${group.parent}`, relation: "parent", object: `group:${group.id}` })),
  ];
  for (let i = 0; i < tuples.length; i += maxTuples) {
    const writes = { tuple_keys: tuples.slice(i, i + maxTuples) };
    await post(`/stores/${store}/write`, { writes, authorization_model_id: model });
  }
  return { store, model };
}

function body(model: string, user: string, group: string): string {
  const tuple = { user: `user:${user}`, relation: "viewer", object: `group:${group}` };
  return JSON.stringify({ tuple_key: tuple, authorization_model_id: model });
}

/** CheckRequest: the store, the tuple, and as field 4 the model. */
function check(store: string, model: string, user: string, group: string): Buffer {
  const tuple = message([1, `user:${user}`], [2, "viewer"], [3, `group:${group}`]);
  return message([1, store], [2, tuple], [4, model]);
}
