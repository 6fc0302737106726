// grpc.health.v1 as load balancers and orchestrators ask it, by @grpc/grpc-js and without a token.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:http2";
import { after, before, describe, it } from "node:test";
import { create, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Client, type ClientReadableStream, credentials, type ServiceError, status } from "@grpc/grpc-js";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthListRequestSchema,
  HealthListResponseSchema,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../gen/health/v1/health_pb.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { apiMethods } from "../surface/routes.ts";

type CheckReply = MessageShape<typeof HealthCheckResponseSchema>;
type ListReply = MessageShape<typeof HealthListResponseSchema>;

const pathOf = (method: string) => `/${Health.typeName}/${method}`;
const encodeCheck = (service: string) =>
  Buffer.from(toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })));
const decodeCheck = (bytes: Buffer): CheckReply => fromBinary(HealthCheckResponseSchema, bytes);

let server: TestServer;
let client: Client;

function check(service: string): Promise<CheckReply> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(pathOf("Check"), encodeCheck, decodeCheck, service, (error, reply) => {
      if (error) reject(error);
      else resolve(reply!);
    });
  });
}

function list(): Promise<ListReply> {
  const encode = () => Buffer.from(toBinary(HealthListRequestSchema, create(HealthListRequestSchema)));
  const decode = (bytes: Buffer) => fromBinary(HealthListResponseSchema, bytes);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(pathOf("List"), encode, decode, undefined, (error, reply) => {
      if (error) reject(error);
      else resolve(reply!);
    });
  });
}

/** Returns the first reply of a watch, which is then ended. */
async function watchOnce(service: string): Promise<CheckReply> {
  const stream: ClientReadableStream<CheckReply> = client.makeServerStreamRequest(
    pathOf("Watch"),
    encodeCheck,
    decodeCheck,
    service,
  );
  const reply = await new Promise<CheckReply>((resolve, reject) => {
    stream.once("data", resolve);
    stream.once("error", reject);
  });
  const ended = new Promise<ServiceError>((resolve) => stream.once("error", resolve));
  stream.cancel();
  assert.equal((await ended).code, status.CANCELLED);
  return reply;
}

describe("health", () => {
  before(async () => {
    server = await startTestServer();
    client = new Client(new URL(server.url).host, credentials.createInsecure());
  });
  after(async () => {
    client.close();
    await server[Symbol.asyncDispose]();
  });

  it("Check: the server as a whole serves", async () => assert.equal((await check("")).status, Serving.SERVING));

  it("Check: every service of the API serves", async () => {
    const services = new Set((await apiMethods()).map(({ descriptor }) => descriptor.parent.typeName));
    for (const service of services) assert.equal((await check(service)).status, Serving.SERVING, service);
  });

  it("Check: fails with NOT_FOUND for an unknown service", async () => {
    await assert.rejects(check("nonsense.Service"), { code: status.NOT_FOUND });
  });

  it("List: names all of them", async () => {
    const { statuses } = await list();
    assert.equal(statuses[""]?.status, Serving.SERVING);
    assert.equal(statuses["chainguard.platform.iam.v2beta1.GroupsService"]?.status, Serving.SERVING);
  });

  it("Watch: reports the status at once", async () => assert.equal((await watchOnce("")).status, Serving.SERVING));

  it("Watch: a deadline ends it with DEADLINE_EXCEEDED, as clients do that are quicker to notice", async () => {
    const session = connect(server.url);
    try {
      const stream = session.request({
        ":method": "POST",
        ":path": pathOf("Watch"),
        "content-type": "application/grpc",
        "grpc-timeout": "200m",
      });
      stream.resume().end(Buffer.alloc(5));
      const [trailers] = await once(stream, "trailers");
      assert.equal(trailers["grpc-status"], String(status.DEADLINE_EXCEEDED));
    } finally {
      session.destroy();
    }
  });

  it("Watch: waits for an unknown service to appear", async () => {
    assert.equal((await watchOnce("nonsense.Service")).status, Serving.SERVICE_UNKNOWN);
  });
});
