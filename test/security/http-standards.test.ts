// Tests of what clients of HTTP and OAuth expect beyond the API: challenges, expectations, methods, paths and parameters.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { startTestServer, type TestServer } from "../harness/server.ts";

let server: TestServer;
describe("HTTP and OAuth beyond the API", () => {
  before(async () => {
    server = await startTestServer();
  });
  after(() => server[Symbol.asyncDispose]());

  const groups = "/iam/v2beta1/groups";
  const listGroups = "/chainguard.platform.iam.v2beta1.GroupsService/ListGroups";

  /** Sends text over HTTP/1.1, and the rest once the server has said so. Returns everything that came. */
  async function converse(head: string, rest?: { readonly after: RegExp; readonly body: string }): Promise<string> {
    const socket = connect(server.config.port, "127.0.0.1");
    let received = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      received += chunk;
      if (rest?.after.test(received)) socket.write(rest.body);
    });
    socket.on("error", () => {});
    socket.write(head);
    await once(socket, "close");
    return received;
  }

  const expecting = (path: string, token: string, length: number, more = "") =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${length}\r\nExpect: 100-continue\r\n${more}\r\n`;

  describe("the challenge of an error (RFC 6750 §3)", () => {
    const invalid = 'Bearer error="invalid_token"';
    const cases: [name: string, authorization: string | undefined, challenge: string][] = [
      ["no token", undefined, "Bearer"],
      ["another scheme", "Basic YTpi", "Bearer"],
      ["a token that nobody issued", "Bearer nope", invalid],
      ["a bad token without scheme", "a.b.c", invalid],
    ];
    const requests: [name: string, method: string, path: string][] = [
      ["REST", "GET", groups],
      ["Connect", "POST", listGroups],
      ["SCIM", "GET", "/scim/v2/x/Users"],
    ];
    for (const [what, method, path] of requests)
      for (const [name, authorization, challenge] of cases)
        it(`is ${challenge} for ${what} with ${name}`, async () => {
          const headers = { "content-type": "application/json", ...(authorization && { authorization }) };
          const response = await fetch(server.url + path, {
            method,
            headers,
            ...(method === "POST" && { body: "{}" }),
          });
          assert.deepEqual([response.status, response.headers.get("www-authenticate")], [401, challenge]);
        });

    it("is insufficient_scope if a narrowed token lacks a capability, and absent if the identity does", async () => {
      const token = await server.tokenOf(server.ownerUid, { scopes: [`${server.groupUid}/0123456789abcdef`] });
      const body = JSON.stringify({ name: "x" });
      const create = (bearer: string, group: string) =>
        fetch(`${server.url}${groups}/${group}`, {
          method: "POST",
          body,
          headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json" },
        });
      const narrowed = await create(token, server.groupUid);
      const challenge = 'Bearer error="insufficient_scope"';
      assert.deepEqual([narrowed.status, narrowed.headers.get("www-authenticate")], [403, challenge]);
      const foreign = await create(server.ownerToken, "0".repeat(40));
      assert.deepEqual([foreign.status, foreign.headers.get("www-authenticate")], [403, null]);
    });
  });

  describe("Expect: 100-continue (RFC 9110 §10.1.1)", () => {
    for (const path of [groups, listGroups])
      it(`asks for the body of ${path} after the token was checked`, async () => {
        const target = path === groups ? `${groups}/${server.groupUid}` : path;
        const body = path === groups ? '{"name":"awaited"}' : "{}";
        const rejected = await converse(expecting(target, "nope", 10));
        assert.match(rejected, /^HTTP\/1\.1 401 /);
        assert.match(rejected, /^connection: close/im);
        const close = "Connection: close\r\n";
        const after = /^HTTP\/1\.1 100 Continue\r\n\r\n$/;
        const accepted = await converse(expecting(target, server.ownerToken, body.length, close), { after, body });
        assert.match(accepted, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
      });

    it("asks for no body over HTTP/2 before the token was checked", async () => {
      const session = connectHttp2(server.url);
      const seen: string[] = [];
      try {
        for (const token of ["nope", server.ownerToken]) {
          const stream = session.request({
            ":method": "POST",
            ":path": `${groups}/${server.groupUid}`,
            expect: "100-continue",
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
          });
          stream.on("continue", () => {
            seen.push("continue");
            stream.end('{"name":"streamed"}');
          });
          const [{ ":status": status }] = await once(stream, "response");
          seen.push(String(status));
          stream.resume().close();
        }
      } finally {
        session.destroy();
      }
      assert.deepEqual(seen, ["401", "continue", "200"]);
    });
  });

  describe("a method that no path has (RFC 9110 §9.1)", () => {
    for (const method of ["FOO", "PROPFIND"]) {
      it(`${method} is 501 over HTTP/1.1`, async () => {
        const reply = await converse(`${method} ${groups} HTTP/1.1\r\nHost: a\r\n\r\n`);
        assert.match(reply, /^HTTP\/1\.1 501 Not Implemented\r\n.*the method is not implemented; DELETE, GET,/s);
      });

      it(`${method} is 501 over HTTP/2`, async () => {
        const session = connectHttp2(server.url);
        const stream = session.request({ ":method": method, ":path": groups });
        const [{ ":status": status }] = await once(stream, "response");
        session.destroy();
        assert.equal(status, 501);
      });
    }

    it("PUT, which this path does not have, stays 405 with Allow", async () => {
      const response = await fetch(server.url + groups, { method: "PUT" });
      assert.deepEqual([response.status, response.headers.get("allow")?.includes("GET")], [405, true]);
    });

    it("bytes that are not a request stay 400", async () => {
      assert.match(await converse("\x16\x03\x01 nonsense\r\n\r\n"), /^HTTP\/1\.1 400 /);
    });
  });

  describe("a final slash and system parameters over REST", () => {
    const get = async (target: string) => {
      const response = await fetch(server.url + target.replace("ROOT", server.groupUid), {
        headers: { authorization: `Bearer ${server.ownerToken}` },
      });
      const { message } = (await response.json()) as { message?: string };
      return { status: response.status, message };
    };
    const cases: [target: string, status: number, message: string | undefined][] = [
      [`${groups}/`, 400, "Invalid argument: uid: is empty: the path must not end with a slash"],
      [`${groups}/ROOT/`, 404, "Not Found: the path must not end with a slash"],
      ["/auth/v1/ok/", 404, "Not Found: the path must not end with a slash"],
      ["/nowhere/", 404, "Not Found"],
      [`${groups}?alt=json&$alt=json&prettyPrint=false&$prettyPrint=true`, 200, undefined],
      [`${groups}?alt=proto`, 400, "Invalid argument: alt: must be json: responses have no other form"],
      [`${groups}?$prettyPrint=x`, 400, "Invalid argument: $prettyPrint: must be true or false"],
      [`${groups}?$fields=a`, 400, "Invalid argument: $fields: is not supported: a response always has all fields"],
      [`${groups}?key=a`, 400, "Invalid argument: key: is not supported: send a token in the Authorization header"],
      [`${groups}?pretty=1`, 400, "Invalid argument: pretty: is not a parameter of this method"],
    ];
    for (const [target, status, message] of cases)
      it(`GET ${target} is ${status}${message === undefined ? "" : ` and says: ${message}`}`, async () =>
        assert.deepEqual(await get(target), { status, message }));
  });

  it("a token that is followed by a space is the same token over HTTP/1.1, HTTP/2 and gRPC", async () => {
    const authorization = `Bearer ${server.ownerToken} `;
    const head = `GET ${groups} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: ${authorization}\r\n\r\n`;
    assert.match(await converse(head), /^HTTP\/1\.1 200 /);
    const session = connectHttp2(server.url);
    try {
      const plain = session.request({ ":path": groups, authorization });
      assert.equal((await once(plain, "response"))[0][":status"], 200);
      plain.resume();
      const path = { ":method": "POST", ":path": listGroups, "content-type": "application/grpc", te: "trailers" };
      const call = session.request({ ...path, authorization });
      call.end(Buffer.alloc(5));
      call.resume();
      assert.equal((await once(call, "trailers"))[0]["grpc-status"], "0");
    } finally {
      session.destroy();
    }
  });
});
