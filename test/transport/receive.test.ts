// Tests how finely a body may be divided, and how many values a message may hold.
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { ServerHttp2Stream } from "node:http2";
import { describe, it } from "node:test";
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { ListGroupsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { BatchCreateRoleBindingsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { CreateRoleRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { Code, toApiError } from "../../src/aip/errors.ts";
import { StreamExchange } from "../../src/transport/http/stream-exchange.ts";
import { holdsMoreValues } from "../../src/transport/unary/value-count.ts";

/** Receives a body that arrives in such pieces. */
function receive(pieces: number, bytes: number, maxBodyBytes: number): Promise<Buffer> {
  const stream = Object.assign(new EventEmitter(), { aborted: false });
  const exchange = new StreamExchange(stream as unknown as ServerHttp2Stream, {}, []);
  const body = exchange.readBody({ freeChunks: 100, meanChunkBytes: 10, maxBodyBytes });
  for (let i = 0; i < pieces; i++) stream.emit("data", Buffer.alloc(bytes, i));
  stream.emit("end");
  return body;
}

describe("a body over HTTP/2", () => {
  // RFC 9113 §6.1: how a body is cut has no meaning; a network cuts it as it likes.
  it("may come in any number of pieces of some size", async () => {
    assert.equal((await receive(5000, 10, 50_000)).length, 50_000);
    assert.equal((await receive(200, 5, 1000)).length, 1000);
  });

  const refused: [what: string, pieces: number, bytes: number][] = [
    ["in many pieces of one byte", 200, 1],
    ["larger than allowed", 11, 100],
    ["a byte larger than allowed", 7, 143],
  ];
  for (const [what, pieces, bytes] of refused) {
    it(`is rejected when it is ${what}`, async () => {
      await assert.rejects(receive(pieces, bytes, 1000), (error) => toApiError(error).code === Code.RESOURCE_EXHAUSTED);
    });
  }
});

describe("the values of a message", () => {
  const most = 100;
  const held: [what: string, schema: DescMessage, init: MessageInitShape<DescMessage>, values: number][] = [
    ["empty parts", BatchCreateRoleBindingsRequestSchema, { requests: Array(101).fill({}) }, 101],
    ["values of parts", BatchCreateRoleBindingsRequestSchema, { requests: Array(51).fill({ parent: "a" }) }, 102],
    ["parts within", BatchCreateRoleBindingsRequestSchema, { requests: Array(50).fill({ parent: "a" }) }, 100],
    ["values of a part", ListGroupsRequestSchema, { uidp: { ids: Array(100).fill("a") } }, 101],
    ["packed numbers", CreateRoleRequestSchema, { role: { capabilities: Array(99).fill(1) } }, 101],
    ["a long text", ListGroupsRequestSchema, { name: "a".repeat(1000) }, 1],
  ];
  for (const [what, schema, init, values] of held) {
    it(`counts ${values} values in ${what}`, () => {
      const bytes = toBinary(schema, create(schema, init));
      // A shorter message cannot hold so many.
      const padded = Buffer.concat([bytes, Buffer.from([0xfa, 0x3f, 0xc8, 0x01]), Buffer.alloc(200)]);
      assert.equal(holdsMoreValues(schema, padded, most), values + 1 > most);
      assert.equal(holdsMoreValues(schema, padded, values + 1), false);
    });
  }

  it("values are not counted if so few bytes cannot contain too many", () => {
    assert.equal(holdsMoreValues(ListGroupsRequestSchema, Buffer.from([0xff]), most), false);
  });

  it("bytes that are not a message throw", () => {
    assert.throws(() => holdsMoreValues(ListGroupsRequestSchema, Buffer.alloc(201, 0xff), most));
  });
});
