// Malformed forms at the standard token endpoint have errors of OAuth, which no cache stores, and their tokens are in no log.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { keptLog } from "../harness/kept-log.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type MalformedForm, malformedForms, type WellFormed, wellFormed } from "./malformed-forms.ts";
import { keyPair, signOutside, startIssuer } from "./outside.ts";

const key = keyPair("ES256");
const log = keptLog();
let server: TestServer;
let issuer: Awaited<ReturnType<typeof startIssuer>>;
let values: WellFormed;

/** The error codes of RFC 6749 §5.2 and RFC 8707 §2, and their statuses. Forms that are too long or of another type have their own statuses. */
const statuses: Readonly<Record<string, readonly number[]>> = {
  invalid_request: [400, 413, 415],
  invalid_client: [401],
  invalid_grant: [400],
  invalid_scope: [400],
  invalid_target: [400],
  unsupported_grant_type: [400],
};

function send({ body, headers, query }: Omit<MalformedForm, "what">): Promise<Response> {
  return fetch(`${server.url}/sts/token${query}`, { method: "POST", headers: { ...headers }, body });
}

/** Returns what is wrong with the response to a malformed form; undefined if nothing is. */
async function problemOf(form: MalformedForm): Promise<string | undefined> {
  const response = await send(form);
  const text = await response.text();
  const fail = (problem: string) => `${form.what}: ${problem}: ${response.status} ${text.slice(0, 300)}`;
  if (response.headers.get("content-type") !== "application/json") return fail("the response is not JSON");
  if (response.headers.get("cache-control") !== "no-store") return fail("a cache may store the response");
  const isChallenged = response.headers.get("www-authenticate")?.startsWith("Basic ") === true;
  if (isChallenged !== (response.status === 401)) return fail("RFC 6749 §5.2 wants the challenge of clients for 401");
  if (form.query.includes(values.token) && response.status !== 400) return fail("a token in the query is 400");
  const body = JSON.parse(text);
  if (!statuses[body.error]?.includes(response.status)) return fail("this is not an error of OAuth");
  if (Object.keys(body).join() !== "error,error_description") return fail("it has other members");
  if (!/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(body.error_description))
    return fail("RFC 6749 §5.2 allows other characters");
  return text.includes(values.token) ? fail("the response repeats the token") : undefined;
}

describe("the standard token endpoint with malformed forms", () => {
  before(async () => {
    server = await startTestServer({ log: log.stream });
    issuer = await startIssuer(key);
    const claimMatch = { issuer: issuer.url, subject: "job" };
    const path = `/iam/v2beta1/identities/${server.groupUid}`;
    const { body } = await rest(server.url, server.ownerToken, "POST", path, { name: "job", claimMatch });
    const audience = server.config.baseUrl;
    const claims = { iss: issuer.url, sub: "job", aud: audience, exp: Math.floor(Date.now() / 1000) + 600 };
    values = { audience, identity: body.uid, token: await signOutside(key, claims) };
  });
  after(async () => {
    await issuer[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  it("the forms that are made malformed are accepted as they are", async () => {
    for (const fields of wellFormed(values)) {
      const response = await send({
        body: new URLSearchParams(fields).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
        query: "",
      });
      assert.equal(response.status, 200, await response.text());
    }
  });

  it("more than 200 malformed forms have errors of OAuth, without a fault of the server, and no cache stores them", async () => {
    const forms = malformedForms(values);
    assert.ok(new Set(forms.map(({ what }) => what)).size > 200);
    assert.equal(new Set(forms.map((form) => JSON.stringify({ ...form, what: "" }))).size, forms.length);
    const problems: string[] = [];
    for (const form of forms) {
      const problem = await problemOf(form);
      if (problem !== undefined) problems.push(problem);
    }
    assert.deepEqual(problems, []);
  });

  it("X14: a token is in no log, wherever the form or the query has it", () => {
    log.assertNone(values.token);
  });
});
