// SpiceDB: CheckPermission, with data in memory and its caches.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { message } from "../protobuf.ts";
import { type Cores, freePort, startServerProcess } from "../server-process.ts";
import { callGrpc, goEnvironment, type Peer, postJson, untilReady } from "./peer.ts";
import { caller, leaves, organization, stranger, tree } from "./question.ts";

const path = "/authzed.api.v1.PermissionsService/CheckPermission";
/** As many as one request may write. */
const maxUpdates = 1000;

const schema = `
definition user {}
definition group {
  relation parent: group
  relation viewer: user
  permission view = viewer + parent->view
}`;

/** Starts SpiceDB, writes the tree and checks its answers. */
export async function startSpicedb(cores: Cores): Promise<Peer> {
  const key = randomBytes(24).toString("hex");
  const [port, grpcPort] = [await freePort(), await freePort()];
  const flags = {
    "http-enabled": "true",
    "http-addr": `127.0.0.1:${port}`,
    "grpc-addr": `127.0.0.1:${grpcPort}`,
    "datastore-engine": "memory",
    "metrics-enabled": "false",
    "telemetry-endpoint": "",
    "skip-release-check": "true",
    "log-level": "error",
  };
  const args = ["serve", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
  // Other users of the machine can see arguments.
  const environment = { ...goEnvironment(cores), SPICEDB_GRPC_PRESHARED_KEY: key };
  const server = await startServerProcess("spicedb", args, port, { environment, cores, stderr: "ignore" });
  try {
    const headers = { authorization: `Bearer ${key}` };
    await fill(port, headers);
    const json = { port, headers, path: "/v1/permissions/check", bodies: leaves.map((id) => body(caller, id)) };
    const grpcOf = (user: string) => ({ port: grpcPort, headers, path, message: check(user, leaves[0]!) });
    const peer: Peer = { server, name: "SpiceDB CheckPermission", jsonName: "REST", json, grpc: grpcOf(caller) };
    const isAllowed = async (request: string) =>
      (await postJson(json, request)).permissionship === "PERMISSIONSHIP_HAS_PERMISSION";
    assert.ok(await isAllowed(json.bodies[0]!), "SpiceDB over REST: the caller is denied");
    assert.ok(!(await isAllowed(body(stranger, leaves[0]!))), "SpiceDB over REST: a stranger is allowed");
    // Field 2 of the response: 2 is "has permission".
    const allowed = Buffer.from([16, 2]);
    assert.ok((await callGrpc(peer.grpc)).includes(allowed), "SpiceDB over gRPC: the caller is denied");
    assert.ok(!(await callGrpc(grpcOf(stranger))).includes(allowed), "SpiceDB over gRPC: a stranger is allowed");
    return peer;
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

async function fill(port: number, headers: { authorization: string }): Promise<void> {
  const post = (to: string, content: object) => postJson({ port, headers, path: to }, content);
  await untilReady(() => post("/v1/schema/write", { schema }));
  const update = (group: string, relation: string, objectType: string, objectId: string) => ({
    operation: "OPERATION_TOUCH",
    relationship: {
      resource: { objectType: "group", objectId: group },
      relation,
      subject: { object: { objectType, objectId } },
    },
  });
  const updates = [
    update(organization, "viewer", "user", caller),
    ...tree.map(({ id, parent }) => update(id, "parent", "group", parent)),
  ];
  for (let i = 0; i < updates.length; i += maxUpdates)
    await post("/v1/relationships/write", { updates: updates.slice(i, i + maxUpdates) });
}

function body(user: string, group: string): string {
  return JSON.stringify({
    resource: { objectType: "group", objectId: group },
    permission: "view",
    subject: { object: { objectType: "user", objectId: user } },
  });
}

/** CheckPermissionRequest: field 1 would be the consistency; then the resource, the permission and the subject. */
function check(user: string, group: string): Buffer {
  const resource = message([1, "group"], [2, group]);
  const subject = message([1, message([1, "user"], [2, user])]);
  return message([2, resource], [3, "view"], [4, subject]);
}
