// A client that sends each call that writes with an idempotency key, and repeats it: the repetition must have the same response.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { DescMethodUnary, JsonObject } from "@bufbuild/protobuf";
import { Code } from "../../src/aip/errors.ts";
import { accessRuleOf } from "../../src/authz/rules.ts";
import { methodPath } from "../../src/pipeline/compose.ts";
import { isWrite } from "../../src/pipeline/forwarding.ts";
import { IdempotencyKeyUse, keyUseOf } from "../../src/pipeline/idempotency-key.ts";
import type { Outcome } from "./outcome.ts";
import { restCaller } from "./rest-client.ts";

/** Calls methods over REST, those that take an idempotency key twice; dispose of it to close its connections. */
export function repeatingCaller(url: string) {
  const caller = restCaller(url, "slashes");
  let repetitions = 0;
  return {
    repetitions: () => repetitions,
    async call(token: string | undefined, method: DescMethodUnary, message: JsonObject): Promise<Outcome> {
      if (!takesKey(method)) return await caller.call(token, method, message);
      const headers = { "idempotency-key": randomUUID() };
      const first = await caller.call(token, method, message, headers);
      if (first.code !== Code.OK) return first;
      repetitions++;
      const second = await caller.call(token, method, message, headers);
      // The call may have taken the right to make it from its caller.
      if (second.code !== Code.PERMISSION_DENIED && second.code !== Code.UNAUTHENTICATED)
        assert.deepEqual(second, first, `${methodPath(method)} has another response when it is repeated`);
      return first;
    },
    [Symbol.dispose]: () => caller[Symbol.dispose](),
  };
}

/** Returns whether a method takes idempotency keys. */
function takesKey(method: DescMethodUnary): boolean {
  const rule = accessRuleOf(method);
  return rule !== undefined && isWrite(method, rule) && keyUseOf(method) === IdempotencyKeyUse.TAKEN;
}
