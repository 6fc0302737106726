import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { create } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code, codeName, detail, invalidField } from "../../../src/aip/errors.ts";
import { assertError } from "./answers.ts";
import { methodOf } from "./methods.ts";
import { openTransports, versions } from "./transports.ts";

const groups = GroupsService.method;

for (const version of versions) {
  describe(`errors over ${version}`, () => {
    const statuses: [code: Code, status: number][] = [
      [Code.CANCELLED, 499],
      [Code.UNKNOWN, 500],
      [Code.INVALID_ARGUMENT, 400],
      [Code.DEADLINE_EXCEEDED, 504],
      [Code.NOT_FOUND, 404],
      [Code.ALREADY_EXISTS, 409],
      [Code.PERMISSION_DENIED, 403],
      [Code.RESOURCE_EXHAUSTED, 429],
      [Code.FAILED_PRECONDITION, 400],
      [Code.ABORTED, 409],
      [Code.OUT_OF_RANGE, 400],
      [Code.UNIMPLEMENTED, 501],
      [Code.INTERNAL, 500],
      [Code.UNAVAILABLE, 503],
      [Code.DATA_LOSS, 500],
      [Code.UNAUTHENTICATED, 401],
    ];
    for (const [code, status] of statuses) {
      it(`${codeName(code)} is HTTP ${status}`, async () => {
        const failing = methodOf(groups.listGroups, (call) => {
          call.setResponseHeader("x-reply", "1");
          throw new ApiError(code, 'a "message"');
        });
        await using transports = await openTransports([failing]);
        const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
        assertError(answer, status, code, 'a "message"');
        assert.equal(answer.headers["x-reply"], "1");
        assert.equal(answer.headers["www-authenticate"], code === Code.UNAUTHENTICATED ? "Bearer" : undefined);
        assert.equal(answer.headers["retry-after"], code === Code.UNAVAILABLE ? "1" : undefined);
        assert.equal(answer.headers["cache-control"], "private, no-store");
      });
    }

    it("keep the ErrorInfo that they bring, and its order", async () => {
      const info = detail(ErrorInfoSchema, { reason: "R", domain: "d", metadata: { a: "b" } });
      const failing = methodOf(groups.listGroups, () => {
        const { code, message, details } = invalidField("name", "is bad");
        throw new ApiError(code, message, { details: [...details, info] });
      });
      await using transports = await openTransports([failing]);
      const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      assert.equal(
        answer.text,
        '{"code":3,"message":"Invalid argument: name: is bad","details":[' +
          '{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"name","description":"is bad"}]},' +
          '{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R","domain":"d","metadata":{"a":"b"}}]}\n',
      );
    });
  });

  describe(`the headers of a response over ${version}`, () => {
    const withHeader = (name: string, value: string) =>
      methodOf(groups.listGroups, (call) => {
        call.setResponseHeader(name, value);
        return create(groups.listGroups.output);
      });

    it("have those of the call", async () => {
      await using transports = await openTransports([withHeader("x-page-token-expired", "true")]);
      const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers["x-page-token-expired"], "true");
    });

    it("are those of the call where every response has them", async () => {
      await using transports = await openTransports([withHeader("cache-control", "no-store")]);
      const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      assert.equal(answer.headers["cache-control"], "no-store");
    });

    it("headers that cannot be sent make the response an error", async () => {
      await using transports = await openTransports([withHeader("x-bad", "a\r\nset-cookie: b")]);
      const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      assertError(answer, 500, Code.INTERNAL, "Internal error");
      assert.equal(answer.headers["set-cookie"], undefined);
      assert.equal(transports.reported.length, 1);
    });
  });
}
