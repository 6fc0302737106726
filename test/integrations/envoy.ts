// `npm run suites -- envoy`: the configuration of docs/integrations/envoy.md in a real Envoy, before a server, for clients of every protocol. Not a
// part of `npm test`: Envoy comes from PyPI, and has 110 MB.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { LookupFunction } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { parse, stringify } from "yaml";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { limits } from "../../src/server/limits.ts";
import { blocksOf } from "../documentation/blocks.ts";
import { missingPrograms } from "../documentation/missing-programs.ts";
import { newAuthority } from "../harness/authority.ts";
import { freePort } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { openVenv } from "../openapi/venv.ts";
import { stoppedClock } from "../security/ground.ts";

const programs = await openVenv(path.join(import.meta.dirname, "envoy-requirements.txt"));
const missing = [...(programs === undefined ? ["python3 with venv"] : []), ...missingPrograms(["curl"])];
if (missing.length > 0) {
  console.error(`suite envoy is skipped: it needs programs that are not here: ${missing.join(", ")}`);
  process.exit(0);
}

const page = "docs/integrations/envoy.md";
const host = "gatehouse.example.com";
const run = promisify(execFile);

describe("Envoy in front", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-envoy-"));
  const file = (name: string) => path.join(folder, name);
  const authority = newAuthority();
  const running = new AsyncDisposableStack();
  let server: TestServer;
  let port: number;
  before(async () => {
    server = await startTestServer({ clock: stoppedClock().read, settings: { trustedProxies: "127.0.0.1/32" } });
    running.use(server);
    port = await freePort();
    const { cert, key } = authority.issue(host);
    writeFileSync(file("authority.pem"), authority.cert);
    writeFileSync(file("chain.pem"), cert);
    writeFileSync(file("key.pem"), key);
    writeFileSync(file("envoy.yaml"), configuration());
    running.defer(await startEnvoy());
  });
  after(async () => {
    await running.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the configuration of the page, with the files and ports of this test. */
  function configuration(): string {
    const block = blocksOf(readFileSync(page, "utf8")).find(({ language }) => language === "yaml")!;
    const upstream = new URL(server.url).port;
    const config = parse(
      block.text
        .replace("address: 0.0.0.0, port_value: 443", `address: 127.0.0.1, port_value: ${port}`)
        .replace("port_value: 8080", `port_value: ${upstream}`)
        .replaceAll("/etc/envoy", folder),
    );
    // A stream that says nothing ends after five minutes, unless the page says otherwise. A test cannot wait for that.
    const [{ typed_config: manager }] = config.static_resources.listeners[0].filter_chains[0].filters;
    manager.stream_idle_timeout = "1s";
    return stringify(config);
  }

  /** Returns what ends it. */
  async function startEnvoy(): Promise<() => Promise<void>> {
    const log = createWriteStream(file("log"));
    const args = ["-c", file("envoy.yaml"), "--base-id", `${port}`, "--concurrency", "1"];
    const child = spawn(path.join(programs!, "envoy"), args, { stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    const ended = once(child, "exit");
    const end = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    for (let tries = 0; (await curl("/readyz").catch(() => "")) !== "ready\n200"; tries++) {
      if (child.exitCode === null && tries < 200) await sleep(50);
      else {
        await end();
        assert.fail(`Envoy does not serve: ${readFileSync(file("log"), "utf8").slice(-2000)}`);
      }
    }
    return end;
  }

  /** Returns the body and the status of a response. */
  async function curl(target: string, ...options: readonly string[]): Promise<string> {
    const connect = ["--cacert", file("authority.pem"), "--connect-to", `::127.0.0.1:${port}`];
    const shown = ["-sS", "-m", "20", "--path-as-is", "-w", "%{http_code}"];
    return (await run("curl", [...shown, ...connect, ...options, `https://${host}${target}`])).stdout;
  }
  const own = () => ["-H", `authorization: Bearer ${server.ownerToken}`];

  for (const version of ["--http1.1", "--http2"]) {
    it(`passes on REST and its errors with curl ${version}`, async () => {
      assert.match(await curl("/iam/v2beta1/groups", version, ...own()), /"name":\s?"example.org".*200$/s);
      assert.match(await curl("/iam/v2beta1/groups", version), /UNAUTHENTICATED.*401$/s);
      const created = await curl(
        `/iam/v2beta1/groups/${server.groupUid}`,
        version,
        ...own(),
        "--json",
        JSON.stringify({ name: version.slice(2) }),
      );
      const { uid } = JSON.parse(created.slice(0, -3));
      for (const written of [uid, encodeURIComponent(uid)])
        assert.match(await curl(`/iam/v2beta1/groups/${written}`, version, ...own()), /200$/);
    });
  }

  it("passes on a refusal before the body is whole", async () => {
    writeFileSync(file("body"), Buffer.alloc(10_000_000, "a"));
    // Over HTTP/2, curl before 8 fails at the RST_STREAM with NO_ERROR that may follow such a response (RFC 9113 §8.1).
    const body = ["--http1.1", "--data-binary", `@${file("body")}`, "-H", "content-type: application/json"];
    assert.match(await curl("/iam/v2beta1/groups", ...body), /401$/);
    assert.match(await curl("/token", ...body), /413$/);
  });

  const openGrpc = (authorityName: string) =>
    new Client(`127.0.0.1:${port}`, credentials.createSsl(Buffer.from(authority.cert)), {
      "grpc.ssl_target_name_override": host,
      "grpc.default_authority": authorityName,
    });
  const [healthArguments, serving] = [
    [(empty: Buffer) => empty, (bytes: Buffer) => bytes, Buffer.alloc(0)] as const,
    [8, 1],
  ];

  // Clients of gRPC may name the port in the authority, even the usual one.
  for (const name of [host, `${host}:443`])
    it(`passes on gRPC for the authority ${name}`, async () => {
      const client = openGrpc(name);
      const status = await new Promise((resolve, reject) =>
        client.makeUnaryRequest("/grpc.health.v1.Health/Check", ...healthArguments, (error, reply) =>
          error ? reject(error) : resolve(reply),
        ),
      );
      client.close();
      assert.deepEqual(status, Buffer.from(serving));
    });

  it("keeps a stream that says nothing open", async () => {
    const client = openGrpc(host);
    const stream = client.makeServerStreamRequest("/grpc.health.v1.Health/Watch", ...healthArguments);
    const [first] = await once(stream, "data");
    assert.deepEqual(first, Buffer.from(serving));
    const ended = Promise.race([once(stream, "end"), once(stream, "error")]).then(() => "ended");
    assert.equal(await Promise.race([ended, sleep(3000, "open")]), "open");
    stream.on("error", () => {});
    stream.cancel();
    client.close();
  });

  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, [{ address: "127.0.0.1", family: 4 }]) : done(null, "127.0.0.1", 4);
  const transportOptions = () => ({
    baseUrl: `https://${host}:${port}`,
    nodeOptions: { ca: authority.cert, lookup },
  });
  const transports = {
    "gRPC-web over HTTP/1.1": () => createGrpcWebTransport({ ...transportOptions(), httpVersion: "1.1" }),
    "gRPC-web over HTTP/2": () => createGrpcWebTransport({ ...transportOptions(), httpVersion: "2" }),
    "Connect over HTTP/1.1": () => createConnectTransport({ ...transportOptions(), httpVersion: "1.1" }),
    "Connect over HTTP/2": () => createConnectTransport({ ...transportOptions(), httpVersion: "2" }),
  } as const;
  for (const [name, open] of Object.entries(transports))
    it(`passes on ${name} and its errors`, async () => {
      const groups = createClient(GroupsService, open());
      const headers = { authorization: `Bearer ${server.ownerToken}` };
      const { groups: found } = await groups.listGroups({}, { headers });
      assert.ok(found.length > 0);
      await assert.rejects(groups.getGroup({ uid: "0".repeat(40) }, { headers }), { code: Code.PermissionDenied });
    });

  it("tells the server the address of the client, and not what the client says of it", async () => {
    const refused = async (client: string, i: number) => {
      const headers = ["-H", "authorization: Bearer bad", "-H", `x-forwarded-for: 192.0.2.${i}`];
      return (await curl("/iam/v2beta1/groups", "--interface", client, ...headers)).slice(-3);
    };
    // The clock stands still, so all bad tokens fall into one second.
    for (let i = 0; i < limits.badTokensPerSecond; i++) assert.equal(await refused("127.0.0.2", i), "401");
    assert.equal(await refused("127.0.0.2", 255), "429");
    assert.equal(await refused("127.0.0.3", 255), "401");
  });
});
