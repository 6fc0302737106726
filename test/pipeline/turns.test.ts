import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTick } from "node:timers/promises";
import { ApiError, Code, codeName, retryAfterOf } from "../../src/aip/errors.ts";
import { type Call, newCall } from "../../src/pipeline/call.ts";
import { newTurns, type TurnLimits } from "../../src/pipeline/turns.ts";

const limits: TurnLimits = {
  turnsOfOrganization: 2,
  waitingTurns: 2,
  callerBudget: { burstMs: 20, regainedMsPerSecond: 10 },
  organizationBudget: { burstMs: 50, regainedMsPerSecond: 10 },
};

describe("turns of expensive calls", () => {
  it("calls of one caller run one at a time, in the order of their arrival, over any number of connections", async () => {
    const { turns, log, body } = open();
    await Promise.all([1, 2, 3].map((n) => turns.run(callOf("o/a"), false, body(`${n}`))));
    assert.deepEqual(log, ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]);
  });

  it("calls of two callers run at the same time", async () => {
    const { turns, log, bodyBesides } = open();
    await Promise.all(["p", "q"].map((uid) => turns.run(callOf(uid), false, bodyBesides(uid, 2))));
    assert.deepEqual(log, ["p begins", "q begins", "p ends", "q ends"]);
  });

  it("a few calls of one organization run at the same time, and those of others do not wait for them", async () => {
    const { turns, log, bodyBesides } = open();
    const uids = ["o/a", "o/b", "o/c", "other/a"];
    await Promise.all(uids.map((uid) => turns.run(callOf(uid), false, bodyBesides(uid, 3))));
    assert.deepEqual(log.slice(0, 3), ["o/a begins", "o/b begins", "other/a begins"]);
    assert.equal(log.length, 8);
  });

  it("a call learns that others ran before it, because it has to be authorized again", async () => {
    const { turns } = open();
    const waited = await Promise.all([1, 2].map(() => turns.run(callOf("p"), false, async (hasWaited) => hasWaited)));
    assert.deepEqual(waited, [false, true]);
  });

  it("a waiting call whose client is gone leaves the queue", async () => {
    const { turns, log, body } = open();
    const abort = new AbortController();
    const running = turns.run(callOf("p"), false, body("first"));
    const leaving = turns.run(callOf("p", abort.signal), false, body("second"));
    abort.abort(new Error("gone"));
    await assert.rejects(leaving, { message: "gone" });
    await running;
    await turns.run(callOf("p"), false, body("third"));
    assert.deepEqual(
      log.filter((line) => line.endsWith("begins")),
      ["first begins", "third begins"],
    );
  });

  it("only a limited number of a caller's calls to methods with a budget may wait", async () => {
    const { turns, body } = open({ ...limits, callerBudget: { burstMs: 60_000, regainedMsPerSecond: 1 } });
    const running = [1, 2, 3].map((n) => turns.run(callOf("p"), true, body(`${n}`)));
    await assert.rejects(turns.run(callOf("p"), true, body("4")), isExhausted);
    await turns.run(callOf("p"), false, body("a published method waits"));
    await Promise.all(running);
  });

  it("a caller without time left is told when to come again, and is served then", async () => {
    const { turns, clock } = open();
    await turns.run(callOf("p"), true, async () => burn(30));
    await assert.rejects(
      turns.run(callOf("p"), true, async () => {}),
      isExhausted,
    );
    clock.now += 3_600_000;
    await turns.run(callOf("p"), true, async () => {});
  });

  it("a published method is served without time left, and takes none", async () => {
    const { turns } = open();
    await turns.run(callOf("p"), false, async () => burn(30));
    await turns.run(callOf("p"), true, async () => burn(30));
    await turns.run(callOf("p"), false, async () => {});
  });

  it("the pages of an export that has begun are not rejected", async () => {
    const { turns } = open();
    await turns.run(callOf("p"), true, async () => burn(30));
    await turns.run({ ...callOf("p"), isAdmitted: true }, true, async () => {});
  });

  it("identities of one organization share a budget besides their own", async () => {
    const { turns } = open();
    const calls = async () => {
      for (let i = 0; i < 10; i++) await turns.run(callOf(`o/${i}`), true, async () => burn(10));
    };
    await assert.rejects(calls(), isExhausted);
    await turns.run(callOf("other/a"), true, async () => {});
  });

  it("one long call of a caller leaves time of the organization to others", async () => {
    const { turns } = open();
    await turns.run(callOf("o/a"), true, async () => burn(100));
    await assert.rejects(
      turns.run(callOf("o/a"), true, async () => {}),
      isExhausted,
    );
    await turns.run(callOf("o/b"), true, async () => {});
  });

  it("a waiting call is rejected once the calls before it have used up the budget", async () => {
    const { turns } = open();
    const first = turns.run(callOf("p"), true, async () => burn(30));
    await assert.rejects(
      turns.run(callOf("p"), true, async () => {}),
      isExhausted,
    );
    await first;
  });

  it("a call that fails counts", async () => {
    const { turns } = open();
    const failing = turns.run(callOf("p"), true, async () => {
      burn(30);
      throw new Error("fails");
    });
    await assert.rejects(failing, { message: "fails" });
    await assert.rejects(
      turns.run(callOf("p"), true, async () => {}),
      isExhausted,
    );
  });

  it("a call that fails passes its turn on", async () => {
    const { turns } = open();
    const failing = turns.run(callOf("p"), false, async () => {
      await nextTick();
      throw new Error("fails");
    });
    const next = turns.run(callOf("p"), false, async () => "served");
    await assert.rejects(failing, { message: "fails" });
    assert.equal(await next, "served");
  });
});

function open(given = limits) {
  const clock = { now: 0 };
  const log: string[] = [];
  const body = (name: string) => async () => {
    log.push(`${name} begins`);
    await nextTick();
    log.push(`${name} ends`);
  };
  const { promise: allBegan, resolve } = Promise.withResolvers<void>();
  /** Ends once as many bodies have begun. */
  const bodyBesides = (name: string, atOnce: number) => async () => {
    if (log.push(`${name} begins`) === atOnce) resolve();
    await allBegan;
    log.push(`${name} ends`);
  };
  return { turns: newTurns(given, () => clock.now), clock, log, body, bodyBesides };
}

function callOf(uid: string, signal?: AbortSignal): Call {
  const init = { transport: "grpc", requestId: "", clientAddress: "", header: () => undefined } as const;
  const call = newCall({ ...init, signal: () => signal });
  call.caller = { uid, token: {} as never };
  return call;
}

function isExhausted(error: unknown): boolean {
  assert.ok(error instanceof ApiError);
  assert.equal(codeName(error.code), codeName(Code.RESOURCE_EXHAUSTED));
  assert.match(retryAfterOf(error) ?? "", /^[1-9][0-9]*$/);
  return true;
}

function burn(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
