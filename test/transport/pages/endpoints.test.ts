// Paths of other people's protocols: what is read of a request.
import assert from "node:assert/strict";
import { test } from "node:test";
import { onExchange } from "../../../src/transport/http/exchange.ts";
import { type Endpoint, newEndpoints } from "../../../src/transport/pages/endpoints.ts";
import { echo, exchange, get, listen } from "../harness.ts";

const page: Endpoint = {
  methods: ["GET", "POST"],
  maxBodyBytes: 10,
  handle: async ({ method, query, form }) => {
    const told = method === "POST" ? form() : query;
    return { status: 200, headers: {}, body: JSON.stringify(told) };
  },
  refuse: ({ message }, status) => ({ status, headers: {}, body: message }),
};
const endpoints = newEndpoints(
  { "/page": page },
  {
    bodyTimeoutMs: 600_000,
    requestTimeoutMs: 600_000,
    streamStallMs: 600_000,
    maxJsonDepth: 10,
    errorDomain: "test",
    requestIdOf: () => "r-1",
    observe: () => {},
  },
  ({ request, response }) => echo(request, response),
);
const handler = onExchange(endpoints);

test("endpoints: the body of a GET is not waited for (RFC 9110 §9.3.1)", async (t) => {
  const listener = await listen(t, { handler });
  const head = "GET /page?a=b HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 5\r\n\r\n";
  assert.match(await exchange(t, listener, head), /^HTTP\/1\.1 200 [\s\S]*\[\["a","b"\]\]$/);
});

test("endpoints: a path with the same prefix is another endpoint, and an unsupported method is rejected with Allow", async (t) => {
  const listener = await listen(t, { handler });
  assert.equal(JSON.parse((await get(listener, "/page/")).body).url, "/page/");
  const { status, headers } = await get(listener, "/page", { method: "DELETE" });
  assert.deepEqual([status, headers.allow], [405, "GET, POST"]);
});
