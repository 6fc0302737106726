// Tests of which requests start in which tick of the event loop.
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import {
  newRequestScheduler,
  type RequestQueue,
  type Schedule,
} from "../../../src/transport/listener/request-scheduler.ts";

const limits = { maxRequestsAtOnce: 2, maxUnreadBytesOfClient: 100 };

describe("requests that wait", () => {
  /** Has so many requests of a connection wait, which note in `begun` that they have begun. */
  function wait(later: Schedule, begun: string[], name: string, count: number, unread = () => 0): RequestQueue {
    const line: RequestQueue = { waiting: [], unsentBytes: unread };
    for (let i = 0; i < count; i++) later(line, () => void begun.push(name));
    return line;
  }

  /** Returns the requests that started in each of the next ticks. */
  async function turns(begun: string[], count: number): Promise<string[]> {
    const seen: string[] = [];
    for (let i = 0; i < count; i++) {
      await turn();
      seen.push(begun.splice(0).join(""));
    }
    return seen;
  }

  it("begin a few at once, one connection after the other", async () => {
    const [later, begun] = [newRequestScheduler(limits), [] as string[]];
    wait(later, begun, "a", 5);
    wait(later, begun, "b", 3);
    assert.deepEqual(await turns(begun, 6), ["aa", "bb", "aa", "b", "a", ""]);
  });

  it("leave the others of their turn to the next, also where those came later", async () => {
    const [later, begun] = [newRequestScheduler(limits), [] as string[]];
    const line = wait(later, begun, "a", 4);
    assert.deepEqual(await turns(begun, 1), ["aa"]);
    later(line, () => void begun.push("A"));
    wait(later, begun, "b", 1);
    assert.deepEqual(await turns(begun, 4), ["aa", "b", "A", ""]);
  });

  it("are not begun when their connection has gone", async () => {
    const [later, begun] = [newRequestScheduler(limits), [] as string[]];
    wait(later, begun, "a", 2).waiting.length = 0;
    wait(later, begun, "b", 1);
    assert.deepEqual(await turns(begun, 3), ["", "b", ""]);
  });

  it("requests wait while their client leaves too many bytes unread, and no others wait", async (t: TestContext) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const [later, begun] = [newRequestScheduler(limits), [] as string[]];
    let unread = 101;
    wait(later, begun, "a", 3, () => unread);
    wait(later, begun, "b", 1, () => 100);
    assert.deepEqual(await turns(begun, 3), ["", "b", ""]);
    t.mock.timers.tick(20);
    assert.deepEqual(await turns(begun, 2), ["", ""]);
    unread = 100;
    assert.deepEqual(await turns(begun, 2), ["", ""]);
    t.mock.timers.tick(20);
    assert.deepEqual(await turns(begun, 3), ["aa", "a", ""]);
  });
});
