// Reasons of failed attempts to deliver. A silent host takes ten seconds, hence not a part of `npm test`.
import assert from "node:assert/strict";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { after, describe, it } from "node:test";
import { databases } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { otherCertificate, otherCertificateKey } from "../transport/certificate.ts";
import { type Body, callAsOwner, stateAt, subscribe } from "./owner-calls.ts";
import { openSink, sending, startSendingServer } from "./sink.ts";

after(stopPostgres);

/** Listens on a free port of this machine. Returns the port, and how to end it. */
async function listen(server: Server) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { port, close: () => new Promise((resolve) => server.close(resolve)) };
}

/** Opens sinks that fail: a closed port, a silent host, a bad certificate and a 500. */
async function openFailingSinks() {
  const closing = new AsyncDisposableStack();
  const closed = await listen(createServer());
  await closed.close();
  const silent = await listen(createServer((socket) => void closing.defer(() => void socket.destroy())));
  const untrusted = await listen(createHttpsServer({ cert: otherCertificate, key: otherCertificateKey }));
  const failing = closing.use(await openSink());
  failing.answer = (_received, response) => void response.writeHead(500, { "x-queue": "full" }).end("out of order");
  for (const { close } of [silent, untrusted]) closing.defer(() => void close());
  const sinks = {
    CONNECT: `https://localhost:${closed.port}`,
    TIMEOUT: `https://localhost:${silent.port}`,
    TLS: `https://localhost:${untrusted.port}`,
    STATUS: failing.url,
    NO_PUBLIC_ADDRESS: "https://dead.invalid/",
  };
  return { sinks, [Symbol.asyncDispose]: () => closing.disposeAsync() };
}

for (const database of databases) {
  describe(`failed attempts to deliver (${database})`, () => {
    it("a failed test event has one of five reasons", { timeout: 60_000 }, async () => {
      await using failing = await openFailingSinks();
      await using server = await startSendingServer({ database, settings: { eventDelivery: "off" } });
      const call = callAsOwner(server);
      // One after the other, since an organization sends four at once; the silent host takes ten seconds.
      for (const [reason, sink] of Object.entries(failing.sinks)) {
        const uid = await subscribe(server, sink);
        const attempt = await call("POST", `${stateAt(uid)}:sendTestEvent`, {});
        assert.equal(attempt.failureReason, `DELIVERY_FAILURE_${reason}`, JSON.stringify(attempt));
        assert.equal(attempt.eventType, "gatehouse.events.test.v1");
        const { recentAttempts, waiting = 0 } = await call("GET", stateAt(uid));
        assert.deepEqual(recentAttempts, [attempt], "it is among the latest attempts");
        assert.equal(waiting, 0, "nothing is tried again");
        const details = await call("GET", `/gatehouse/events/v1/attempts/${attempt.uid}`);
        assert.equal(details.payloadState, "PAYLOAD_STATE_SHOWN");
        assert.equal(JSON.parse(details.requestBody).body.subscriptionUid, uid);
        if (reason !== "STATUS") continue;
        assert.equal(details.responseBody, "out of order");
        assert.ok(details.responseHeaders.some(({ name, value }: Body) => name === "x-queue" && value === "full"));
      }
    });

    it("a failed attempt in a private network has one reason and one duration, as that for an absent name", {
      timeout: 60_000,
    }, async () => {
      await using failing = await openFailingSinks();
      const settings = { ...sending, dev: "false", baseUrl: "http://127.0.0.1", eventDelivery: "off" };
      await using server = await startSendingServer({ database, settings });
      const { STATUS, ...silent } = failing.sinks;
      const attempts = await Promise.all(
        Object.values(silent).map(async (sink) => {
          const uid = await subscribe(server, sink);
          const began = performance.now();
          const { failureReason, duration, failure, ...rest } = await callAsOwner(server)(
            "POST",
            `${stateAt(uid)}:sendTestEvent`,
            {},
          );
          assert.ok(performance.now() - began > 9_900, "the response does not come sooner either");
          assert.deepEqual([rest.httpStatus ?? 0, rest.responseLine ?? ""], [0, ""]);
          return { failureReason, duration, failure };
        }),
      );
      const one = {
        failureReason: "DELIVERY_FAILURE_NO_PUBLIC_ADDRESS",
        duration: "10s",
        failure: "the host has no public address, or there was no answer at its private one",
      };
      assert.deepEqual(attempts, [one, one, one, one]);
      const uid = await subscribe(server, STATUS);
      const attempt = await callAsOwner(server)("POST", `${stateAt(uid)}:sendTestEvent`, {});
      assert.deepEqual([attempt.failureReason, attempt.duration], [one.failureReason, one.duration]);
      const details = await callAsOwner(server)("GET", `/gatehouse/events/v1/attempts/${attempt.uid}`);
      assert.equal(details.payloadState, "PAYLOAD_STATE_NOT_STORED", "this server has no key to encrypt it with");
      assert.deepEqual([details.responseHeaders ?? [], details.responseBody ?? ""], [[], ""]);
    });
  });
}
