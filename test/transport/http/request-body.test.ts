// Bodies whose client has left.
import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { it } from "node:test";
import { Code } from "../../../src/aip/errors.ts";
import type { HttpRequest } from "../../../src/transport/http/message.ts";
import { readBody } from "../../../src/transport/http/request-body.ts";

const limits = { maxBodyBytes: 10, bodyTimeoutMs: 60_000 };

it("a body whose client disconnected before it was read is not waited for", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const request = Object.assign(new PassThrough(), { rawHeaders: [] }).destroy();
  await once(request, "close");
  await assert.rejects(readBody(request as unknown as HttpRequest, limits), { code: Code.CANCELLED });
});
