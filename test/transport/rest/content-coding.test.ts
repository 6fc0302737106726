// Content codings and media types: large responses are compressed, and bodies in another form are 415 at every path (RFC 9110 §15.5.16).
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as http1Request, type OutgoingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { acceptsCoding } from "../../../src/transport/http/content-coding.ts";
import { rest } from "../../harness/rest.ts";
import type { TestServer } from "../../harness/server.ts";
import { createProvider, enableScim, startProvisionedServer } from "../../scim/provisioning.ts";

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: Buffer;
}

type Send = (method: string, target: string, headers: OutgoingHttpHeaders, body?: Buffer) => Promise<Reply>;

let server: TestServer;
let scim: { readonly path: string; readonly token: string };

const overHttp1: Send = async (method, target, headers, body) => {
  const request = http1Request(server.url + target, { method, headers, agent: false }).end(body);
  const [response] = await once(request, "response");
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
};

const overHttp2: Send = async (method, target, headers, body) => {
  const session = connect(server.url);
  try {
    const stream = session.request({ ":method": method, ":path": target, ...headers });
    stream.end(body);
    const [received] = await once(stream, "response");
    return { status: received[":status"], headers: received, body: await buffer(stream) };
  } finally {
    session.destroy();
  }
};

const versions: [name: string, send: Send][] = [
  ["HTTP/1.1", overHttp1],
  ["HTTP/2", overHttp2],
];

const small = "/iam/v2beta1/roles?page_size=1";
const large = "/iam/v2beta1/roles?page_size=200";
const bearer = () => ({ authorization: `Bearer ${server.ownerToken}` });

/** Creates roles with every capability of the owner: together their list is longer than 64 kB. */
async function createRoles(): Promise<void> {
  const listed = await rest(server.url, server.ownerToken, "GET", `${large}&name=owner`);
  const { capabilities } = listed.body.roles[0];
  const path = `/iam/v2beta1/roles/${server.groupUid}`;
  for (let i = 0; i < 24; i++)
    assert.equal(
      (await rest(server.url, server.ownerToken, "POST", path, { name: `role ${i}`, capabilities })).status,
      200,
    );
}

describe("content codings and media types", () => {
  before(async () => {
    server = await startProvisionedServer();
    await createRoles();
    const { endpoint, token } = await enableScim(server, await createProvider(server));
    scim = { path: endpoint.slice(server.url.length), token };
  });
  after(() => server[Symbol.asyncDispose]());

  for (const [version, send] of versions)
    describe(`a response over ${version}`, () => {
      it("a response of 64 kB or more is compressed for a client that accepts gzip", async () => {
        const plain = await send("GET", large, bearer());
        assert.ok(plain.body.length > 64 * 1024, `${plain.body.length} bytes`);
        assert.equal(plain.headers["content-encoding"], undefined);
        const packed = await send("GET", large, { ...bearer(), "accept-encoding": "br, gzip;q=0.5" });
        assert.deepEqual([packed.status, packed.headers["content-encoding"]], [200, "gzip"]);
        assert.equal(Number(packed.headers["content-length"]), packed.body.length);
        assert.ok(packed.body.length < plain.body.length / 4, `${packed.body.length} bytes`);
        assert.deepEqual(gunzipSync(packed.body), plain.body);
        for (const { headers } of [plain, packed]) assert.match(String(headers.vary), /(^|, )Accept-Encoding$/);
      });

      it("the response to HEAD has the headers of the compressed content, without content", async () => {
        const packed = await send("HEAD", large, { ...bearer(), "accept-encoding": "gzip" });
        assert.deepEqual([packed.status, packed.headers["content-encoding"], packed.body.length], [200, "gzip", 0]);
      });

      it("a shorter response is not compressed, nor one for a client that forbids gzip", async () => {
        const replies = [
          await send("GET", small, { ...bearer(), "accept-encoding": "gzip" }),
          await send("GET", large, { ...bearer(), "accept-encoding": "gzip;q=0, *" }),
          await send("GET", large, { ...bearer(), "accept-encoding": "br" }),
        ];
        for (const { status, headers, body } of replies) {
          assert.deepEqual([status, headers["content-encoding"]], [200, undefined]);
          JSON.parse(body.toString());
        }
      });

      const uncompressed: [name: string, method: string, path: () => string, token: () => string, type: string][] = [
        ["REST", "POST", () => `/iam/v2beta1/groups/${server.groupUid}`, () => server.ownerToken, "application/json"],
        ["OSV", "POST", () => "/gatehouse/osv/v1/query", () => server.ownerToken, "text/plain"],
        ["SCIM", "POST", () => `${scim.path}/Users`, () => scim.token, "application/scim+json"],
        ["the sign-in of a registry", "POST", () => "/token", () => "", "application/x-www-form-urlencoded"],
        ["the token exchange", "POST", () => "/sts/exchange", () => "", "application/x-www-form-urlencoded"],
      ];
      for (const [name, method, path, token, type] of uncompressed)
        it(`a request to ${name} with a compressed body gets 415 with Accept-Encoding`, async () => {
          const sent = { authorization: `Bearer ${token()}`, "content-type": type, "content-encoding": "gzip" };
          const { status, headers, body } = await send(method, path(), sent, gzipSync("{}"));
          assert.deepEqual([status, headers["accept-encoding"]], [415, "identity"], body.toString());
          assert.match(body.toString(), /content-encoding: must be identity/);
        });

      const typed: [name: string, path: () => string, token: () => string, accept: string][] = [
        ["REST", () => `/iam/v2beta1/groups/${server.groupUid}`, () => server.ownerToken, "application/json"],
        ["SCIM", () => `${scim.path}/Users`, () => scim.token, "application/scim+json, application/json"],
        ["the sign-in of a registry", () => "/token", () => "", "application/x-www-form-urlencoded"],
        ["the token exchange", () => "/sts/exchange", () => "", "application/x-www-form-urlencoded"],
      ];
      for (const [name, path, token, accept] of typed)
        it(`a request to ${name} with a body of another type gets 415 with Accept`, async () => {
          const sent = { authorization: `Bearer ${token()}`, "content-type": "text/plain" };
          const { status, headers, body } = await send("POST", path(), sent, Buffer.from("{}"));
          assert.deepEqual([status, headers.accept], [415, accept], body.toString());
          assert.match(body.toString(), /content-type: must be /);
        });
    });

  describe("Accept-Encoding", () => {
    const table: [header: string, accepted: boolean][] = [
      ["", false],
      ["gzip", true],
      ["GZIP", true],
      ["br, gzip", true],
      ["gzip;q=0", false],
      ["gzip; q=0.000", false],
      ["gzip;q=0.001", true],
      ["gzip;q=1", true],
      ["gzip ; q=0.5 , br", true],
      ["*", true],
      ["*;q=0", false],
      ["gzip;q=0, *", false],
      ["*;q=0, gzip", true],
      ["identity", false],
      ["xgzip", false],
      ["gzip;q=abc", false],
    ];
    for (const [header, accepted] of table)
      it(`"${header}" ${accepted ? "accepts" : "does not accept"} gzip`, () =>
        assert.equal(acceptsCoding(header, "gzip"), accepted));
  });
});
