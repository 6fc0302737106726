// buf curl has none of our protos: it learns every method by reflection.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { create, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { ServerReflection, ServerReflectionRequestSchema } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { detailTypes } from "../../src/transport/error-detail-types.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { apiMethods } from "../surface/routes.ts";

const buf = path.resolve("node_modules/.bin/buf");
const run = promisify(execFile);
const listGroups = "chainguard.platform.iam.v2beta1.GroupsService/ListGroups";

let server: TestServer;
let cache: string;

/** Runs `buf curl` with these arguments and answers what it prints; rejects when it fails. */
async function curl(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, BUF_CACHE_DIR: cache, NO_PROXY: "127.0.0.1" };
  return (await run(buf, ["curl", "--http2-prior-knowledge", ...args], { env })).stdout;
}

describe("reflection", () => {
  before(async () => {
    server = await startTestServer();
    cache = mkdtempSync(path.join(tmpdir(), "gatehouse-buf-"));
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(cache, { recursive: true, force: true });
  });

  for (const version of ["grpc-v1", "grpc-v1alpha"]) {
    it(`${version} lists every method that is served`, async () => {
      const listed = await curl("--protocol", "grpc", "--reflect-protocol", version, "--list-methods", server.url);
      const paths = new Set(listed.trim().split("\n"));
      for (const { path } of await apiMethods()) assert.ok(paths.has(path.slice(1)), path);
      assert.ok(paths.has("grpc.health.v1.Health/Watch"));
      assert.ok(paths.has("grpc.reflection.v1.ServerReflection/ServerReflectionInfo"));
    });
  }

  for (const protocol of ["grpc", "grpcweb", "connect"]) {
    it(`lets a client without protos list groups over ${protocol}`, async () => {
      const header = ["--header", `authorization: Bearer ${server.ownerToken}`];
      const printed = await curl(
        "--protocol",
        protocol,
        ...header,
        "--data",
        '{"pageSize":1}',
        `${server.url}/${listGroups}`,
      );
      const { groups, totalCount } = JSON.parse(printed);
      assert.deepEqual([groups[0].uid, groups[0].name, totalCount], [server.groupUid, "example.org", "1"]);
    });

    it(`lets it read the details of an error over ${protocol}`, async () => {
      const failed = curl("--protocol", protocol, "--data", "{}", `${server.url}/${listGroups}`);
      const { stderr } = await failed.then(
        () => assert.fail("must be refused"),
        (error: { stderr: string }) => error,
      );
      const { code, message, details } = JSON.parse(stderr);
      assert.equal(code, "unauthenticated");
      assert.match(message, /^Unauthenticated: a bearer token is required/);
      assert.equal(details[0].type, "google.rpc.ErrorInfo");
    });
  }

  it("knows the types of details, for clients that bring none", async () => {
    const sessionManager = new Http2SessionManager(server.url);
    const client = createClient(ServerReflection, createGrpcTransport({ baseUrl: server.url, sessionManager }));
    const types = [...detailTypes].map(({ typeName }) => typeName);
    async function* ask() {
      for (const value of types)
        yield create(ServerReflectionRequestSchema, { messageRequest: { case: "fileContainingSymbol", value } });
    }
    const files: string[] = [];
    for await (const { messageResponse } of client.serverReflectionInfo(ask())) {
      assert.equal(messageResponse.case, "fileDescriptorResponse");
      const [bytes] = messageResponse.value.fileDescriptorProto;
      files.push(fromBinary(FileDescriptorProtoSchema, bytes!).name);
    }
    assert.deepEqual(new Set(files), new Set(["google/rpc/error_details.proto"]));
    assert.equal(files.length, types.length);
    sessionManager.abort();
  });
});
