// Tests how clients experience a server that shuts down.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, compressionAlgorithms, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import {
  CreateGroupRequestSchema,
  GroupSchema,
  GroupsService,
} from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../gen/health/v1/health_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

const encode =
  <T extends DescMessage>(schema: T) =>
  (init: MessageInitShape<T>) =>
    Buffer.from(toBinary(schema, create(schema, init)));
const decode =
  <T extends DescMessage>(schema: T) =>
  (bytes: Buffer): MessageShape<T> =>
    fromBinary(schema, bytes);

for (const [name, algorithm] of [
  ["plain", compressionAlgorithms.identity],
  ["compressed", compressionAlgorithms.gzip],
] as const) {
  test(`a write that is under way is answered: ${name}`, async () => {
    await using server = await startTestServer();
    const options = { "grpc.default_compression_algorithm": algorithm };
    const client = new Client(new URL(server.url).host, credentials.createInsecure(), options);
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const context = { actor: "", method: "test", requestId: "", time: server.clock() };
    const other = server.server.database.write(context, async () => {
      begun.resolve();
      await goOn.promise;
    });
    await begun.promise;
    const code = createGroup(client, server);
    // The connection is the same: what came before this has arrived too.
    assert.equal(await isServing(client), true);
    const drained = server.server.drain();
    goOn.resolve();
    assert.equal(await code, status.OK);
    await Promise.all([other, drained]);
    client.close();
  });
}

test("a watch of health reports that the server stops serving, and ends without an error", async () => {
  await using server = await startTestServer();
  const client = new Client(new URL(server.url).host, credentials.createInsecure());
  const watch = client.makeServerStreamRequest(
    `/${Health.typeName}/Watch`,
    encode(HealthCheckRequestSchema),
    decode(HealthCheckResponseSchema),
    { service: "" },
  );
  const seen: Serving[] = [];
  for await (const { status } of watch) {
    seen.push(status);
    if (seen.length === 1) void server.server.drain();
  }
  client.close();
  assert.deepEqual(seen, [Serving.SERVING, Serving.NOT_SERVING]);
});

/** Returns the code of the answer. */
function createGroup(client: Client, { groupUid, ownerToken }: TestServer): Promise<status> {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${ownerToken}`);
  const request = { parent: groupUid, group: { name: "under way" } };
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      `/${GroupsService.typeName}/CreateGroup`,
      encode(CreateGroupRequestSchema),
      decode(GroupSchema),
      request,
      metadata,
      (error: ServiceError | null) => resolve(error?.code ?? status.OK),
    );
  });
}

function isServing(client: Client): Promise<boolean> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      `/${Health.typeName}/Check`,
      encode(HealthCheckRequestSchema),
      decode(HealthCheckResponseSchema),
      { service: "" },
      (error, reply) => (error ? reject(error) : resolve(reply?.status === Serving.SERVING)),
    );
  });
}
