// Tests of how a sink's response appears to the owner of the subscription.
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { newNetworkList } from "../../src/base/network-address.ts";
import { type Attempt, sendEvent } from "../../src/events/sender.ts";
import { outboundLimits } from "../../src/outbound/http.ts";
import { openSink } from "./sink.ts";

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const event = { headers: {}, data: "{}" };

function optionsFor(outbound: object) {
  return {
    issuer: "https://gatehouse.example.org",
    keys: { signing: async () => ({ kid: "1", algorithm: "ES256", privateKey }) as never },
    clock: Date.now,
    outbound: { ...outboundLimits, allowLoopbackHttp: false, ...outbound },
  };
}

/** Returns what subscribers see of the response. */
function shown({ reply, isVisible }: Attempt) {
  return reply && { status: reply.status, line: reply.line, isVisible };
}

/** Sends an event to a sink of a development server, which answers with a body. */
async function replyTo(body: string, headers: Record<string, string> = {}) {
  const server = createServer((_request, response) => response.writeHead(500, headers).end(body));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sink = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    return shown(await sendEvent(event, { parent: "g", sink }, optionsFor({ allowLoopbackHttp: true })));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("the response of a sink", () => {
  it("is shown as the beginning of its first line, with escaped control characters", async () => {
    assert.deepEqual(await replyTo("\n  queue is full\r\nsecond line"), {
      status: 500,
      line: "queue is full",
      isVisible: true,
    });
    assert.deepEqual(await replyTo("a\u001b[31m\u202eb"), {
      status: 500,
      line: "a\\u{1b}[31m\\u{202e}b",
      isVisible: true,
    });
    const long = await replyTo("x".repeat(200_000));
    assert.equal(long?.line, `${"x".repeat(200)}…`);
    assert.deepEqual(await replyTo(""), { status: 500, line: "", isVisible: true });
  });

  it("is not shown if it is compressed", async () => {
    assert.deepEqual(await replyTo("text", { "content-encoding": "gzip" }), {
      status: 500,
      line: "",
      isVisible: true,
    });
  });

  it("is not shown if the sink is in a private network", async () => {
    await using sink = await openSink();
    sink.answer = (_received, response) => void response.writeHead(403).end("a page for hosts of this network");
    const allowedPrivate = newNetworkList([
      { address: "127.0.0.0", prefix: 8, family: "ipv4" },
      { address: "::1", prefix: 128, family: "ipv6" },
    ]);
    const attempt = await sendEvent(event, { parent: "g", sink: sink.url }, optionsFor({ allowedPrivate }));
    assert.deepEqual(shown(attempt), { status: 403, line: "", isVisible: false });
    assert.deepEqual([attempt.reply?.headers, attempt.reply?.beginning], [[], undefined]);
  });
});
