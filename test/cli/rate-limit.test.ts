import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { waitForRateLimit } from "../../src/cli/client/rate-limit.ts";

describe("a command that meets a rate limit", () => {
  const limited = (retryDelay?: MessageInitShape<typeof RetryInfoSchema>["retryDelay"]) =>
    new ConnectError("limit", Code.ResourceExhausted, undefined, [
      ...(retryDelay ? [{ desc: RetryInfoSchema, value: { retryDelay } }] : []),
    ]);
  const soon = { seconds: 0n, nanos: 1_000_000 };
  const cases: readonly [rule: string, error: ConnectError, failures: number, calls: number, isServed: boolean][] = [
    ["waits as long as the server asks, and calls again", limited(soon), 2, 3, true],
    ["gives up after three waits", limited(soon), 9, 4, false],
    ["does not wait for a limit without a delay: the request is too large", limited(), 1, 1, false],
    ["does not wait for minutes", limited({ seconds: 600n }), 1, 1, false],
    ["does not repeat a call that failed otherwise", new ConnectError("no", Code.Unavailable), 1, 1, false],
  ];
  for (const [rule, error, failures, calls, isServed] of cases)
    it(rule, async () => {
      let called = 0;
      const call = waitForRateLimit(async () => {
        if (++called <= failures) throw error;
        return {} as never;
      });
      const ended = await call({ stream: false, signal: new AbortController().signal } as never).then(
        () => true,
        () => false,
      );
      assert.deepEqual({ isServed: ended, calls: called }, { isServed, calls });
    });
});
