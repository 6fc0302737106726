import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Code } from "../../../src/aip/errors.ts";
import type { Call } from "../../../src/pipeline/call.ts";
import type { Method } from "../../../src/pipeline/method.ts";
import { assertError } from "./answers.ts";
import { methodOf } from "./methods.ts";
import { openTransports, versions } from "./transports.ts";

const groups = GroupsService.method;

for (const version of versions) {
  describe(`time over ${version}`, () => {
    it("a method that does not end gets DEADLINE_EXCEEDED, and its signal is aborted", async () => {
      let signal: AbortSignal | undefined;
      const slow = methodOf(groups.listGroups, (call) => {
        signal = call.signal;
        return new Promise(() => {});
      });
      await using transports = await openTransports([slow], { requestTimeoutMs: 30 });
      const answer = await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      assertError(answer, 504, Code.DEADLINE_EXCEEDED, /^Deadline exceeded: /);
      assert.equal(signal?.aborted, true);
    });

    it("ends for a method whose client disconnects", async () => {
      const started = Promise.withResolvers<Call>();
      const aborted = Promise.withResolvers<void>();
      const slow = methodOf(groups.listGroups, (call) => {
        call.signal?.addEventListener("abort", () => aborted.resolve());
        started.resolve(call);
        return new Promise(() => {});
      });
      await using transports = await openTransports([slow], { requestTimeoutMs: 100_000 });
      await transports.leave(version, { method: "GET", path: "/iam/v2beta1/groups" }, started.promise);
      await aborted.promise;
      assert.equal((await started.promise).signal?.aborted, true);
    });

    for (const [what, hasMethod] of [
      ["reached its method afterwards", true],
      ["failed before its method", false],
    ] as const) {
      it(`logs a call once whose client disconnected, and that ${what}`, async () => {
        const started = Promise.withResolvers<void>();
        const left = Promise.withResolvers<void>();
        const ended = Promise.withResolvers<void>();
        const logged: string[] = [];
        const log = (line: string) => {
          logged.push(line);
          ended.resolve();
        };
        // As in the pipeline: the caller is authenticated first, then the call has a method, which logs it.
        const method: Method = {
          ...methodOf(groups.listGroups),
          async call(call, decode) {
            call.signal?.addEventListener("abort", () => left.resolve());
            started.resolve();
            await left.promise;
            await turn();
            if (!hasMethod) throw new Error("the request cannot be decoded");
            await decode();
            call.method = method;
            log("call");
            return create(groups.listGroups.output);
          },
        };
        await using transports = await openTransports([method], { refused: () => log("refused") });
        await transports.leave(version, { method: "GET", path: "/iam/v2beta1/groups" }, started.promise);
        await ended.promise;
        await turn();
        assert.deepEqual(logged, [hasMethod ? "call" : "refused"]);
      });
    }

    it("does not end the signal of a call that has a response", async () => {
      let signal: AbortSignal | undefined;
      const quick = methodOf(groups.listGroups, (call) => {
        signal = call.signal;
        return create(groups.listGroups.output);
      });
      const transports = await openTransports([quick]);
      await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" });
      await transports[Symbol.asyncDispose]();
      assert.equal(signal?.aborted, false);
    });
  });

  describe(`a log that fails over ${version}`, () => {
    it("does not fail the request", async () => {
      const fail = () => {
        throw new Error("no disk");
      };
      const broken = methodOf(groups.listGroups, () => Promise.reject(new Error("unexpected")));
      await using transports = await openTransports([broken], { report: fail });
      assertError(
        await transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" }),
        500,
        Code.INTERNAL,
        "Internal error",
      );
    });
  });

  describe(`a transport without request ids over ${version}`, () => {
    it("breaks the request off rather than leaving it open", async () => {
      const fail = (): string => {
        throw new Error("no entropy");
      };
      await using transports = await openTransports([methodOf(groups.listGroups)], { requestIdOf: fail });
      await assert.rejects(transports.send(version, { method: "GET", path: "/iam/v2beta1/groups" }));
      assert.deepEqual(transports.reported.map(String), ["Error: no entropy"]);
    });
  });
}
