// Bodies whose client has left, and how much is taken in of those that nobody wants.
import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Code } from "../../src/aip/errors.ts";
import { discardBody, readBody } from "../../src/doors/body.ts";
import type { HttpRequest } from "../../src/doors/http-message.ts";

const limits = { maxBodyBytes: 10, bodyTimeoutMs: 60_000 };

describe("a body that nobody wants", () => {
  const ends: [when: string, act: (body: PassThrough) => void][] = [
    ["it ends", (body) => body.end("a")],
    ["it breaks off", (body) => body.destroy()],
    ["it has more bytes than a body may have", (body) => body.write("a".repeat(11))],
  ];
  for (const [when, act] of ends) {
    it(`is taken in no longer once ${when}`, async (t) => {
      t.mock.timers.enable({ apis: ["setTimeout"] });
      const body = new PassThrough();
      const done = discardBody(body, limits);
      act(body);
      await done;
    });
  }

  it("is taken in for a second, however few bytes come", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const body = new PassThrough();
    let isDone = false;
    const done = discardBody(body, limits).then(() => {
      isDone = true;
    });
    body.write("a".repeat(10));
    t.mock.timers.tick(999);
    await turn();
    assert.equal(isDone, false);
    t.mock.timers.tick(1);
    await done;
  });

  it("that is gone already is not waited for", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    await discardBody(new PassThrough().destroy(), limits);
  });
});

it("a body whose client left before it was read is not waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const request = Object.assign(new PassThrough(), { rawHeaders: [] }).destroy();
  await once(request, "close");
  await assert.rejects(readBody(request as unknown as HttpRequest, limits), { code: Code.CANCELLED });
});
