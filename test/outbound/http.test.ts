import assert from "node:assert/strict";
import { BlockList, createServer } from "node:net";
import { describe, it, mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { OutboundError, type OutboundFailure } from "../../src/outbound/error.ts";
import {
  fetchJson,
  nameCheckMs,
  type OutboundOptions,
  outboundLimits,
  outboundProblem,
} from "../../src/outbound/http.ts";
import { type Answer, fetchLoopback, startServer } from "../sts/outside.ts";

const production: OutboundOptions = { allowLoopbackHttp: false, ...outboundLimits };

function failsAs(failure: OutboundFailure, message: RegExp) {
  return (error: unknown) => error instanceof OutboundError && error.failure === failure && message.test(error.message);
}

/** Returns a resolver that gives the answers one after the other, and counts. */
function resolver(...answers: readonly (readonly string[])[]) {
  const asked: string[] = [];
  const resolve = async (hostname: string) => {
    asked.push(hostname);
    const answer = answers[Math.min(asked.length, answers.length) - 1] ?? [];
    return answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, resolve };
}

describe("a URL is rejected before anything is resolved", () => {
  const table: readonly (readonly [rule: string, url: string])[] = [
    ["J2: plain http", "http://issuer.example/"],
    ["J2: http on loopback in production", "http://127.0.0.1/"],
    ["J2: loopback", "https://127.0.0.1/"],
    ["J2: loopback in decimal", "https://2130706433/"],
    ["J2: loopback in hexadecimal", "https://0x7f.1/"],
    ["J2: link-local", "https://169.254.169.254/latest/meta-data"],
    ["J2: RFC 1918", "https://10.0.0.1/"],
    ["J2: IPv6 loopback", "https://[::1]/"],
    ["J2: IPv4-mapped IPv6", "https://[::ffff:10.0.0.1]/"],
    ["J2: IPv4-mapped IPv6 of a public address", "https://[::ffff:8.8.8.8]/"],
    ["another scheme", "ftp://issuer.example/"],
    ["another scheme without a host", "data:application/json,{}"],
    ["no URL", "issuer.example"],
    ["credentials", "https://user:password@issuer.example/"],
  ];
  for (const [rule, url] of table) {
    it(rule, async () => {
      const { asked, resolve } = resolver(["8.8.8.8"]);
      await assert.rejects(fetchJson(url, { ...production, resolve }), failsAs("refused", /./));
      assert.deepEqual(asked, []);
    });
  }

  it("another machine, by a server that contacts none", async () => {
    for (const options of [production, { ...production, isOwn: true }])
      for (const url of ["https://issuer.example/", "https://8.8.8.8/"]) {
        const { asked, resolve } = resolver(["8.8.8.8"]);
        const local = { ...options, resolve, staysLocal: true };
        await assert.rejects(fetchJson(url, local), failsAs("refused", /no other machine/));
        assert.deepEqual(asked, []);
      }
  });

  it("J2: http in development is denied for a host that only begins like loopback", async () => {
    for (const url of ["http://localhost.example/", "http://127.0.0.1.example/", "http://[::ffff:127.0.0.1]/"]) {
      const options = { ...production, allowLoopbackHttp: true, resolve: resolver(["127.0.0.1"]).resolve };
      await assert.rejects(fetchJson(url, options), failsAs("refused", /not https/), url);
    }
  });
});

describe("the addresses of a name are checked", () => {
  const table: readonly (readonly [rule: string, addresses: readonly string[]])[] = [
    ["J3: a private address", ["192.168.0.1"]],
    ["J4: a public and a loopback address", ["8.8.8.8", "127.0.0.1"]],
    ["J4: a public and an IPv4-mapped address", ["8.8.8.8", "::ffff:127.0.0.1"]],
    ["J4: an address with a zone", ["fe80::1%lo"]],
    ["no address", []],
  ];
  for (const [rule, addresses] of table) {
    it(`a name with ${rule} fails as a name that does not exist`, async () => {
      const { resolve } = resolver(addresses);
      const promise = fetchJson("https://issuer.example/", { ...production, resolve });
      await assert.rejects(promise, failsAs("unavailable", /^the host has no public address$/));
    });
  }

  it("a name that does not exist has the error of a private one", async () => {
    const resolve = () => Promise.reject(Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND" }));
    const promise = fetchJson("https://issuer.example/", { ...production, resolve });
    await assert.rejects(promise, failsAs("unavailable", /^the host has no public address$/));
  });

  it("a check rejects private, absent and silent names with the same text at the same time", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const answers: Record<string, () => Promise<{ address: string; family: number }[]>> = {
        "private.example": async () => [{ address: "10.0.0.1", family: 4 }],
        "absent.example": () => Promise.reject(new Error("queryA ENOTFOUND")),
        "silent.example": () => new Promise(() => {}),
      };
      const rejected: (string | undefined)[] = [];
      const resolve = (hostname: string) => answers[hostname]!();
      const checks = Object.keys(answers).map(async (name) => {
        rejected.push(await outboundProblem(`https://${name}/`, { ...production, resolve }));
      });
      mock.timers.tick(nameCheckMs - 1);
      await setImmediate();
      assert.deepEqual(rejected, []);
      mock.timers.tick(1);
      await Promise.all(checks);
      assert.deepEqual(rejected, Array(3).fill("the host has no public address"));
    } finally {
      mock.timers.reset();
    }
  });

  it("J4: the connection goes to the checked address, and the name is resolved once", async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as { port: number };
    const allowedPrivate = new BlockList();
    allowedPrivate.addAddress("127.0.0.1");
    const { asked, resolve } = resolver(["127.0.0.1"], ["192.168.0.1"]);
    const promise = fetchJson(`https://issuer.invalid:${port}/`, { ...production, allowedPrivate, resolve });
    await assert.rejects(promise, failsAs("unavailable", /./));
    server.close();
    assert.deepEqual([connections, asked], [1, ["issuer.invalid"]]);
  });

  it("a name that resolves elsewhere than to loopback gets no plain http", async () => {
    const options = { ...production, allowLoopbackHttp: true, resolve: resolver(["8.8.8.8"]).resolve };
    await assert.rejects(fetchJson("http://localhost:1/", options), failsAs("refused", /not public/));
  });

  it("J5: a resolver that never responds is unavailable in time", async () => {
    const options = { ...production, timeoutMs: 100, resolve: () => new Promise<never>(() => {}) };
    await assert.rejects(fetchJson("https://issuer.example/", options), failsAs("unavailable", /in time/));
  });
});

describe("an answer", () => {
  it("is parsed, and was asked for without credentials or compression", async () => {
    let headers: object = {};
    await using server = await startServer({
      "/": (request, response) => {
        headers = request.headers;
        response.end('{"a": [1]}');
      },
    });
    assert.deepEqual(await fetchLoopback()(`${server.url}/`), { a: [1] });
    const { host, ...others } = headers as Record<string, string>;
    assert.deepEqual(others, {
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": "gatehouse",
      connection: "close",
    });
  });

  const endless: Answer = (_request, response) => {
    const write = () => {
      while (response.write("x".repeat(65536)));
    };
    response.on("drain", write);
    write();
  };
  const drip: Answer = (_request, response) => {
    const timer = setInterval(() => response.write(" "), 20);
    response.on("close", () => clearInterval(timer));
  };
  const switching = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n";
  const table: readonly (readonly [rule: string, answer: Answer, failure: OutboundFailure, message: RegExp])[] = [
    ["J3: a redirect", (_, r) => r.writeHead(302, { location: "/other" }).end(), "refused", /redirect/],
    ["J3: a permanent redirect", (_, r) => r.writeHead(308, { location: "/other" }).end(), "refused", /redirect/],
    ["no such document", (_, r) => r.writeHead(404).end("{}"), "refused", /no such document/],
    ["no content", (_, r) => r.writeHead(204).end(), "refused", /no such document/],
    ["a failure of the server", (_, r) => r.writeHead(503).end("{}"), "unavailable", /failure/],
    ["too many requests", (_, r) => r.writeHead(429).end("{}"), "unavailable", /failure/],
    ["text that is not JSON", (_, r) => r.end("<html>"), "refused", /not JSON/],
    ["an empty body", (_, r) => r.end(), "refused", /not JSON/],
    ["J5: one byte over the limit", (_, r) => r.end(" ".repeat(outboundLimits.maxBytes + 1)), "refused", /longer/],
    ["J5: a body without end", endless, "refused", /longer/],
    ["J5: a byte now and then", drip, "unavailable", /in time/],
    ["J5: nothing at all", () => {}, "unavailable", /in time/],
    ["J5: another protocol", (_, r) => r.socket?.write(switching), "unavailable", /complete/],
    [
      "J5: a compressed bomb",
      (_, r) => r.setHeader("content-encoding", "gzip").end(gzipSync(Buffer.alloc(1 << 20))),
      ...(["refused", /compressed/] as const),
    ],
    [
      "a connection cut short",
      (_, r) => r.writeHead(200, { "content-length": 9 }).write("{", () => r.destroy()),
      "unavailable",
      /./,
    ],
  ];
  for (const [rule, answer, failure, message] of table) {
    it(`${rule} is ${failure}`, async () => {
      await using server = await startServer({ "/": answer, "/other": { followed: true } });
      const fetch = fetchLoopback({ timeoutMs: failure === "unavailable" ? 300 : outboundLimits.timeoutMs });
      await assert.rejects(fetch(`${server.url}/`), failsAs(failure, message));
      assert.deepEqual(server.requests, ["/"]);
    });
  }

  it("a response of exactly the limit is read", async () => {
    const text = `"${"x".repeat(outboundLimits.maxBytes - 2)}"`;
    await using server = await startServer({ "/": (_, response) => response.end(text) });
    assert.equal(await fetchLoopback()(`${server.url}/`), text.slice(1, -1));
  });

  it("a port without a listener is unavailable", async () => {
    const server = await startServer();
    await server[Symbol.asyncDispose]();
    await assert.rejects(fetchLoopback()(`${server.url}/`), failsAs("unavailable", /./));
  });
});
