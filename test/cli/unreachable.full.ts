// Tests of the messages for an address where no server of this API listens.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import path from "node:path";
import { describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { startTestServer } from "../harness/server.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";
import { homeEnvironment } from "./caller.ts";
import { dataDirectory, type Finished, run } from "./process.ts";

const tls = { cert: certificate, key: certificateKey };

async function list(url: string, environment: Record<string, string> = {}): Promise<Finished> {
  using home = dataDirectory();
  const trusted = path.join(home.path, "trusted.pem");
  writeFileSync(trusted, certificate);
  const trusting = environment.NODE_EXTRA_CA_CERTS === "trusted" ? { NODE_EXTRA_CA_CERTS: trusted } : {};
  const variables = { ...homeEnvironment(home.path), GATEHOUSE_TOKEN: "x", ...environment, ...trusting };
  return await run(["iam", "groups", "list", "--url", url], variables);
}

/** A listener, the scheme of the URL, whether its certificate is trusted, and the expected message. */
const others: [what: string, listen: () => Server, scheme: string, isTrusted: boolean, said: RegExp][] = [
  [
    "a server of HTTP/1.1",
    () => createHttpServer((_request, response) => response.end("hello")),
    "http",
    false,
    /^gatehouse: http:\/\/\S+ answers, but does not speak HTTP\/2 \(ERR_HTTP2_ERROR\)\n {2}A proxy/,
  ],
  [
    "a server of HTTP/1.1 with TLS",
    () => createHttpsServer(tls, (_request, response) => response.end("hello")),
    "https",
    true,
    /^gatehouse: https:\/\/\S+ answers, but does not speak HTTP\/2 /,
  ],
  [
    "a server that speaks before it is asked",
    () => createServer((socket) => void socket.on("error", () => {}).write("220 mail.test\r\n")),
    "http",
    false,
    /^gatehouse: http:\/\/\S+ answers, but does not speak HTTP\/2 /,
  ],
  [
    "a server that closes at once",
    () => createServer((socket) => void socket.on("error", () => {}).destroy()),
    "http",
    false,
    /^gatehouse: http:\/\/\S+ closes the connection without an answer\n/,
  ],
  [
    "a port with TLS that is called without",
    () => createHttpsServer(tls),
    "http",
    false,
    /^gatehouse: http:\/\/\S+ (closes the connection without an answer|answers, but does not speak HTTP\/2)/,
  ],
  [
    "a port without TLS that is called with it",
    () => createHttpServer(),
    "https",
    false,
    /^gatehouse: https:\/\/\S+ answers, but does not speak TLS \(\w+\)\n/,
  ],
  [
    "a certificate that nobody trusts",
    () => createHttpsServer({ ...tls, ALPNProtocols: ["h2"] }),
    "https",
    false,
    /^gatehouse: the certificate of https:\/\/\S+ is not trusted \(\w+\)\n.*NODE_EXTRA_CA_CERTS=FILE/,
  ],
];

describe("the command line, called on something else", () => {
  for (const [what, listen, scheme, isTrusted, said] of others) {
    it(`says so in a sentence: ${what}`, async () => {
      const server = listen();
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, stderr } = await list(url, isTrusted ? { NODE_EXTRA_CA_CERTS: "trusted" } : {});
      server.close();
      if ("closeAllConnections" in server) (server.closeAllConnections as () => void)();
      assert.match(stderr, said);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.equal(code, 1);
    });
  }

  it("says that nothing listens", async () => {
    const { code, stderr } = await list(`http://127.0.0.1:${await freePort()}`);
    assert.match(stderr, /^gatehouse: no server answers at \S+ \(ECONNREFUSED\)\n/);
    assert.equal(code, 1);
  });

  it("says without a token that a development server would have stored one", async () => {
    const { code, stderr } = await list(`http://127.0.0.1:${await freePort()}`, { GATEHOUSE_TOKEN: "" });
    assert.match(stderr, /^gatehouse: not signed in to .*\n(?:.*\n)*.*development server.*`npm start`/);
    assert.equal(code, 1);
  });

  it("trusts what NODE_EXTRA_CA_CERTS names", async () => {
    using files = dataDirectory();
    const [tlsCert, tlsKey] = [path.join(files.path, "cert.pem"), path.join(files.path, "key.pem")];
    writeFileSync(tlsCert, certificate);
    writeFileSync(tlsKey, certificateKey);
    await using server = await startTestServer({ settings: { tlsCert, tlsKey } });
    const { code, stderr } = await list(server.url, {
      GATEHOUSE_TOKEN: server.ownerToken,
      GATEHOUSE_AUDIENCE: server.config.baseUrl,
      NODE_EXTRA_CA_CERTS: "trusted",
    });
    assert.deepEqual([code, stderr], [0, ""]);
  });
});
