// A sign-in that waits for a user while the server, its certificate or the reader of the output is not as it should be.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { homeEnvironment } from "./caller.ts";
import { dataDirectory, type Finished, type Running, start } from "./process.ts";

const tls = { cert: certificate, key: certificateKey };

/** Responds as a server does until a user has signed in. */
const nobodyYet: RequestListener = (_request, response) =>
  response.writeHead(404, { "content-type": "application/json" }).end('{"code":5,"message":"no such session"}');

async function listen(server: Server, port = 0): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function close(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

/** Runs a sign-in at this address, and ends it should the test end before. */
async function signIn(url: string, use: (running: Running) => Promise<Finished>, ...flags: string[]) {
  using home = dataDirectory();
  const running = start(["auth", "login", "--url", url, ...flags], {
    ...homeEnvironment(home.path),
    GATEHOUSE_TOKEN: "",
  });
  try {
    return await use(running);
  } finally {
    running.child.kill();
    await running.finished;
  }
}

describe("gatehouse auth login, waiting for a user", { timeout: 90_000 }, () => {
  it("--headless fails at once at a certificate that is not trusted, and names the problem", async () => {
    const server = createHttpsServer(tls, nobodyYet);
    const url = `https://127.0.0.1:${await listen(server)}`;
    const { code, stderr } = await signIn(url, ({ finished }) => finished, "--headless");
    await close(server);
    assert.match(
      stderr,
      /^gatehouse: the certificate of https:\/\/\S+ is not trusted: it is self-signed \(\w+\)\n.*NODE_EXTRA_CA_CERTS/m,
    );
    assert.equal(code, 1);
  });

  it("--headless fails at once where no server or another one listens", async () => {
    const server = createHttpServer((_request, response) => response.writeHead(404).end("<h1>Not found</h1>"));
    const port = await listen(server);
    const url = `http://127.0.0.1:${port}`;
    const other = await signIn(url, ({ finished }) => finished, "--headless");
    assert.match(other.stderr, /answers, but not as a server of this API does \(HTTP 404\)/);
    await close(server);
    const none = await signIn(url, ({ finished }) => finished, "--headless");
    assert.match(none.stderr, /does not answer \(ECONNREFUSED\)/);
    assert.deepEqual([other.code, none.code], [1, 1]);
  });

  it("--headless says that a server which restarts does not respond, and goes on when it does", async () => {
    const asked = Promise.withResolvers<void>();
    const first = createHttpServer((request, response) => {
      nobodyYet(request, response);
      asked.resolve();
    });
    const port = await listen(first);
    const finished = await signIn(
      `http://127.0.0.1:${port}`,
      async (running) => {
        await asked.promise;
        await close(first);
        await running.logged(/does not answer \(ECONNREFUSED\); the next attempt is in 0\.5 s/);
        const second = createHttpServer((_request, response) =>
          response.writeHead(400, { "content-type": "application/json" }).end('{"message":"the code is not known"}'),
        );
        await listen(second, port);
        const result = await running.finished;
        await close(second);
        return result;
      },
      "--headless",
    );
    assert.match(finished.stderr, /rejects sign-in without a browser: the code is not known/);
    assert.equal(finished.code, 1);
  });

  for (const flag of ["--headless", "--no-browser"])
    it(`${flag} ends when nobody reads the address any more`, async () => {
      const server = createHttpServer(nobodyYet);
      const { code } = await signIn(
        `http://127.0.0.1:${await listen(server)}`,
        async (running) => {
          await running.logged(/^ {2}http:/);
          running.child.stderr?.destroy();
          return await running.finished;
        },
        flag,
      );
      await close(server);
      assert.equal(code, 1);
    });
});
