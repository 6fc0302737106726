// Traces, as a collector receives them from a running server.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { SamplerError, samplerOf } from "../../src/observe/traces/sampling.ts";
import { newRequestId } from "../../src/pipeline/call.ts";
import { type Running, start } from "../cli/process.ts";
import { freePort } from "../harness/postgres.ts";
import { type Collector, startCollector } from "./otlp-collector.ts";

const listGroups = "chainguard.platform.iam.v2beta1.GroupsService/ListGroups";
const updateGroup = "chainguard.platform.iam.v2beta1.GroupsService/UpdateGroup";
/** The part of a response that the tests read. */
interface Listed {
  readonly groups: readonly { readonly uid: string }[];
}

const traceOf = (digit: string, flags: string) => `00-${digit.repeat(32)}-00f067aa0ba902b7-${flags}`;

describe("traces of a server", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-traces-"));
  let collector: Collector;
  let server: Running;
  let url = "";
  let token = "";
  let organization = "";
  before(async () => {
    collector = await startCollector();
    url = `http://127.0.0.1:${await freePort()}`;
    server = start(["serve", "--dev", "--listen", new URL(url).host, "--data-dir", folder], {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    });
    await server.said(/curl/);
    token = readFileSync(path.join(folder, "owner-token"), "utf8").trim();
    const { body } = await call("GET", "/iam/v2beta1/groups?uidp.in_root=true");
    organization = body.groups[0]!.uid;
  });
  after(async () => {
    server.child.kill("SIGTERM");
    await server.finished;
    await collector[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function call(method: string, target: string, headers: Readonly<Record<string, string>> = {}, sent?: object) {
    const response = await fetch(url + target, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(sent && { body: JSON.stringify(sent) }),
    });
    return { requestId: response.headers.get("x-request-id") ?? "", body: (await response.json()) as Listed };
  }

  it("continue the trace of the caller, with the statements of the database", async () => {
    const list = `/iam/v2beta1/groups?uidp.descendants_of=${organization}&name=nothing`;
    await call("GET", list, { traceparent: traceOf("a", "01") });
    const spans = await collector.trace("a".repeat(32), listGroups);
    const span = spans.find(({ name }) => name === listGroups)!;
    assert.equal(span.parentSpanId, "00f067aa0ba902b7");
    assert.equal(span.attributes["rpc.response.status_code"], "OK");
    assert.equal(span.attributes["gatehouse.transport"], "rest");
    assert.equal(span.resource["service.name"], "gatehouse");
    assert.equal(span.resource["deployment.environment.name"], "test");
    const statements = spans.filter(({ name }) => name === "sqlite statement");
    assert.ok(statements.length > 0);
    for (const { parentSpanId } of statements) assert.equal(parentSpanId, span.spanId);
    assert.doesNotMatch(JSON.stringify(spans), /eyJ/);
  });

  it("begin with the request id as trace id, and name organization and code", async () => {
    const paths = { OK: organization, NOT_FOUND: `${organization}/0123456789abcdef` };
    for (const [code, uid] of Object.entries(paths)) {
      const { requestId } = await call("PATCH", `/iam/v2beta1/groups/${uid}`, {}, { description: "traced" });
      const spans = await collector.trace(requestId, updateGroup);
      const span = spans.find(({ name }) => name === updateGroup)!;
      assert.equal(span.attributes["gatehouse.organization"], organization);
      assert.equal(span.attributes["rpc.response.status_code"], code);
    }
  });

  it("lead from the buckets of the histogram to the last recorded call", async () => {
    const accept = "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;q=0.5";
    const metricsOf = async (headers: Record<string, string>) =>
      await (await fetch(`${url}/metrics`, { headers })).text();
    await call("GET", "/iam/v2beta1/groups?name=exemplar", { traceparent: traceOf("e", "01") });
    await call("GET", "/iam/v2beta1/groups?name=exemplar", { traceparent: traceOf("f", "00") });
    const text = await metricsOf({ accept });
    assert.match(text, /_bucket\{.*"ListGroups".*\} \d+ # \{trace_id="e{32}"\} [\d.e-]+ \d+(\.\d+)?$/m);
    assert.doesNotMatch(text, /f{32}/);
    assert.doesNotMatch(await metricsOf({}), /trace_id/);
  });

  it("continue at other servers: at an issuer that a call contacts, and at the sink of an event", async () => {
    const asked: { readonly path: string; readonly traceparent: string }[] = [];
    const other = createServer((request, response) => {
      asked.push({ path: request.url!, traceparent: String(request.headers.traceparent) });
      response.end("{}");
    });
    await using opened = new AsyncDisposableStack();
    opened.defer(() => {
      other.closeAllConnections();
      other.close();
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await call("POST", `/events/v2beta1/subscriptions/${organization}`, {}, { sink: `${address}/sink` });
    const claimMatch = { issuer: address, subject: "workload" };
    const identity = { name: "traced", claimMatch };
    const created = await call("POST", `/iam/v2beta1/identities/${organization}`, {}, identity);
    const subjectToken = [
      { alg: "RS256", kid: "a" },
      { iss: address, sub: "workload", aud: url, exp: 4e9, iat: 1 },
      "x",
    ];
    const jwt = subjectToken.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const form = "application/x-www-form-urlencoded";
    const exchange = `/sts/exchange?identity=${(created.body as unknown as { uid: string }).uid}&aud=${url}`;
    const exchanged = await call("POST", exchange, { authorization: `Bearer ${jwt}`, "content-type": form });
    const traces = [
      ["/sink", created.requestId, "deliver event"],
      [
        "/.well-known/openid-configuration",
        exchanged.requestId,
        "chainguard.platform.oidc.SecurityTokenService/Exchange",
      ],
    ] as const;
    for (const [path, traceId, name] of traces) {
      const spans = await collector.trace(traceId, name);
      const sent = asked.filter((one) => one.path === path).map(({ traceparent }) => traceparent);
      const clients = spans.filter(({ kind }) => kind === 3).map(({ spanId }) => `00-${traceId}-${spanId}-01`);
      assert.ok(
        clients.some((one) => sent.includes(one)),
        `${path}: ${sent}, not one of ${clients}`,
      );
    }
  });

  it("respect the decision of the caller not to record", async () => {
    const list = `/iam/v2beta1/groups?uidp.descendants_of=${organization}&name=other`;
    await call("GET", list, { traceparent: traceOf("b", "00") });
    await call("GET", list, { traceparent: traceOf("d", "01") });
    await collector.trace("d".repeat(32), listGroups);
    assert.equal(collector.spans.filter(({ traceId }) => traceId === "b".repeat(32)).length, 0);
  });
});

describe("the sampler", () => {
  const sampled = traceOf("1", "01");
  const unsampled = traceOf("1", "00");
  const cases: readonly [
    name: string | undefined,
    ratio: string,
    traceparent: string | undefined,
    expected: boolean,
  ][] = [
    [undefined, "", undefined, true],
    [undefined, "", unsampled, false],
    ["parentbased_always_on", "", "malformed", true],
    ["parentbased_always_off", "", `${sampled}-more`, false],
    ["always_on", "", unsampled, true],
    ["always_off", "", sampled, false],
    ["parentbased_always_off", "", sampled, true],
    ["parentbased_always_off", "", undefined, false],
    ["traceidratio", "0.6", undefined, true],
    ["traceidratio", "0.4", sampled, false],
    ["parentbased_traceidratio", "0.4", sampled, true],
    ["parentbased_traceidratio", "0.4", undefined, false],
  ];
  for (const [name, ratio, traceparent, expected] of cases)
    it(`${name ?? "default"} ${ratio}: ${traceparent ?? "no parent"}`, () => {
      const sampler = samplerOf({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: ratio });
      assert.equal(sampler(traceparent, `80${"0".repeat(30)}`), expected);
    });

  it("records about as many calls as the ratio says", () => {
    const sampler = samplerOf({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" });
    const sampled = Array.from({ length: 10_000 }, newRequestId).filter((id) => sampler(undefined, id));
    assert.ok(Math.abs(sampled.length - 1000) < 200, `${sampled.length}`);
  });

  it("rejects what it does not know, and names the variable", () => {
    assert.throws(() => samplerOf({ OTEL_TRACES_SAMPLER: "jaeger_remote" }), /OTEL_TRACES_SAMPLER must be one of/);
    const wrong = { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" };
    assert.throws(() => samplerOf(wrong), SamplerError);
  });
});
