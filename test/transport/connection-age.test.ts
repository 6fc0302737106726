// A connection that has reached its age is closed as its client expects it, and no request is lost.
import assert from "node:assert/strict";
import { once } from "node:events";
import { constants } from "node:http2";
import { test } from "node:test";
import { certificate, certificateKey } from "./certificate.ts";
import { echo, gate, get2, listen, rawClient, session } from "./harness.ts";

const farOff = 2 ** 30;
/** No connection goes by itself, unless by its age. */
const limits = {
  maxConnectionAgeMs: 50,
  prefaceTimeoutMs: farOff,
  keepAliveTimeoutMs: farOff,
  http2IdleTimeoutMs: farOff,
};

test("age: an HTTP/1 client is told to close with the response to its next request", async (t) => {
  const listener = await listen(t, { limits });
  const client = rawClient(t, listener);
  let received = "";
  for (let i = 0; !/Connection: close/i.test(received); i++) {
    client.socket.write(`GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
    received = await client.until(new RegExp(`"url":"/${i}"[^}]*\\}`));
  }
  assert.match(await client.ended, /Connection: close(?:(?!HTTP\/1\.1).)*\}$/is);
});

test("age: an HTTP/1 request that is in flight gets a response", async (t) => {
  const [arrived, answer] = [gate(), gate()];
  const listener = await listen(t, {
    limits,
    handler: async (request, response) => {
      arrived.resolve();
      await answer.promise;
      return echo(request, response);
    },
  });
  const client = rawClient(t, listener);
  client.socket.write("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  await arrived.promise;
  // It has the same age, and is closed at it: 10 % more or less of that are over then, too.
  await rawClient(t, listener).ended;
  await rawClient(t, listener).ended;
  answer.resolve();
  assert.match(await client.ended, /^HTTP\/1\.1 200 .*Connection: close.*"url":"\/wait".*\}$/is);
});

for (const tls of [undefined, { cert: certificate, key: certificateKey }]) {
  const over = tls ? "HTTP/2 with TLS" : "HTTP/2";
  test(`age: ${over}: a client gets GOAWAY, and the response that it waits for`, async (t) => {
    const [arrived, answer] = [gate(), gate()];
    const listener = await listen(t, {
      limits,
      ...(tls && { tls }),
      handler: async (request, response) => {
        arrived.resolve();
        await answer.promise;
        return echo(request, response);
      },
    });
    const client = session(t, listener, { ca: certificate });
    const reply = get2(client, "/wait");
    const goaway = once(client, "goaway");
    await arrived.promise;
    assert.equal((await goaway)[0], constants.NGHTTP2_NO_ERROR);
    answer.resolve();
    assert.equal((await reply).status, 200);
    if (!client.destroyed) await once(client, "close");
  });
}

test("age: an idle HTTP/2 client gets GOAWAY, and its connection is closed", async (t) => {
  const client = session(t, await listen(t, { limits }));
  assert.equal((await once(client, "goaway"))[0], constants.NGHTTP2_NO_ERROR);
  if (!client.destroyed) await once(client, "close");
});

test("age: a connection that has sent nothing is closed", async (t) => {
  const listener = await listen(t, { limits });
  assert.equal(await rawClient(t, listener).ended, "");
});
