// Python's gRPC client, whose core is the one in C, and protobuf's own runtime, which has none of our protos: it learns
// every method by reflection. Not a part of `npm test`, since both come from Debian and not from npm.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { apiMethods } from "../../surface/routes.ts";

/** Debian's, which alone sees Debian's packages. */
const python = "/usr/bin/python3";
const packages = "python3-grpcio python3-protobuf";

if (spawnSync(python, ["-c", "import grpc, google.protobuf"], { stdio: "ignore" }).status !== 0) {
  console.error(`this test needs packages of Debian that are not here. Install them: apt-get install ${packages}`);
  process.exit(1);
}

interface Question {
  readonly method: string;
  readonly request: object;
  readonly metadata?: readonly (readonly [name: string, value: string])[];
  readonly gzip?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
type Reply = any;

describe("Python's gRPC client", () => {
  let server: TestServer;
  let folder: string;
  before(async () => {
    server = await startTestServer();
    folder = mkdtempSync(path.join(tmpdir(), "gatehouse-python-"));
    const target = path.join(folder, "descriptors.binpb");
    execFileSync(path.resolve("node_modules/.bin/buf"), ["build", "--as-file-descriptor-set", "-o", target]);
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(calls: readonly Question[], reflection = "v1"): Promise<{ services: string[]; replies: Reply[] }> {
    const child = spawn(python, [path.join(import.meta.dirname, "caller.py")], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, NO_PROXY: "127.0.0.1", no_grpc_proxy: "127.0.0.1" },
    });
    const metadata = [["authorization", `Bearer ${server.ownerToken}`]];
    const input = {
      address: new URL(server.url).host,
      descriptors: path.join(folder, "descriptors.binpb"),
      reflection,
      calls: calls.map((question) => ({ metadata, ...question })),
    };
    child.stdin.end(JSON.stringify(input));
    const chunks = child.stdout.toArray();
    const [status] = await once(child, "close");
    assert.equal(status, 0);
    return JSON.parse(Buffer.concat(await chunks).toString());
  }
  const groups = (verb: string) => `chainguard.platform.iam.v2beta1.GroupsService/${verb}`;

  for (const version of ["v1", "v1alpha"]) {
    it(`builds every file that reflection ${version} has, and finds every service`, async () => {
      const { services } = await run([], version);
      const served = new Set((await apiMethods()).map(({ descriptor }) => descriptor.parent.typeName));
      for (const name of served) assert.ok(services.includes(name), name);
      assert.ok(services.includes("chainguard.platform.iam.v2.GroupsService"));
    });
  }

  it("reads the same data through every version", async () => {
    const request = { pageSize: 1 };
    const { replies } = await run([
      { method: groups("ListGroups"), request },
      { method: "chainguard.platform.iam.v2.GroupsService/ListGroups", request },
      { method: "chainguard.platform.iam.Groups/List", request: {} },
    ]);
    assert.deepEqual(
      replies.map(({ code, response: { groups, items } }) => [code, (groups ?? items)[0].name]),
      [1, 2, 3].map(() => ["OK", "example.org"]),
    );
  });

  it("reads the details of errors", async () => {
    const parent = server.groupUid;
    const { replies } = await run([
      { method: groups("CreateGroup"), request: { parent, group: { name: "Not a name!" } } },
      { method: groups("CreateGroup"), request: { parent, group: { name: "child" } } },
      { method: groups("DeleteGroup"), request: { uid: parent } },
      { method: groups("GetGroup"), request: { uid: `${parent}/0000000000000000` } },
    ]);
    const [invalid, , inUse, absent] = replies;
    assert.equal(invalid.code, "INVALID_ARGUMENT");
    assert.equal(invalid.details["google.rpc.BadRequest"].fieldViolations[0].field, "name");
    assert.equal(inUse.code, "FAILED_PRECONDITION");
    assert.equal(inUse.details["google.rpc.PreconditionFailure"].violations[0].type, "RESOURCE_NOT_EMPTY");
    assert.equal(absent.code, "NOT_FOUND");
    assert.equal(absent.details["google.rpc.ResourceInfo"].resourceType, "iam.chainguard.dev/Group");
  });

  it("sends a deadline, metadata and compressed messages, and is told by which id the server logs a call", async () => {
    const request = { uid: server.groupUid };
    const method = groups("GetGroup");
    const authorization = ["authorization", `Bearer ${server.ownerToken}`] as const;
    const clientId = ["cgclientid", "terraform"] as const;
    const { replies } = await run([
      { method, request, metadata: [authorization, clientId, ["cgrequestid", "r"]], gzip: true },
      { method, request, metadata: [["authorization", server.ownerToken]] },
      { method, request, metadata: [] },
    ]);
    assert.deepEqual(
      replies.map(({ code }) => code),
      ["OK", "OK", "UNAUTHENTICATED"],
    );
    assert.ok(replies[0].headers.includes("x-request-id"));
  });
});
