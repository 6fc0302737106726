// AWS identities: a signed GetCallerIdentity request is exchanged over the wire, and AWS is asked who has signed it.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { decodeJwt } from "jose";
import { awsNames } from "../../src/sts/aws/assumption.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { type AwsRequestChanges, signAwsRequest, startAwsSts } from "./aws-sts.ts";

const role = {
  account: "123456789012",
  arn: "arn:aws:sts::123456789012:assumed-role/deployer/i-0123",
  userId: "AROAEXAMPLE:i-0123",
};
const exact = { awsAccount: role.account, arn: role.arn, userId: role.userId };
const patterns = {
  awsAccount: role.account,
  arnPattern: "arn:aws:sts::123456789012:assumed-role/deployer/.*",
  userIdPattern: "AROA[A-Z]+:i-\\d+",
};

describe("the exchange of a signed AWS request", () => {
  let server: TestServer;
  let sts: Awaited<ReturnType<typeof startAwsSts>>;
  let identity: string;
  let other: string;
  before(async () => {
    sts = await startAwsSts(role);
    server = await startTestServer({ settings: { awsStsEndpoint: sts.url } });
    identity = await create({ awsIdentity: exact });
    other = await create({ claimMatch: { issuer: "https://issuer.example.org", subject: "x" } });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await sts[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    sts.state.user = role;
    sts.state.status = 200;
    sts.requests.length = 0;
  });

  async function create(relationship: object): Promise<string> {
    const path = `/iam/v2beta1/identities/${server.groupUid}`;
    const { body } = await rest(server.url, server.ownerToken, "POST", path, { name: "aws", ...relationship });
    return body.uid;
  }

  async function exchange(credential: string, wanted = identity) {
    const named = wanted === "" ? "" : `&identity=${wanted}`;
    return await rest(server.url, credential, "POST", `/sts/exchange?aud=${server.url}${named}`);
  }
  const signed = (changes: AwsRequestChanges = {}, audience = server.url, bound = identity) =>
    signAwsRequest(sts.host, audience, bound, changes);

  for (const [mode, relationship] of Object.entries({ exactly: exact, "by patterns": patterns })) {
    it(`is allowed for the caller that the identity names ${mode}`, async () => {
      const uid = await create({ awsIdentity: relationship });
      const { status, body } = await exchange(signed({}, server.url, uid), uid);
      assert.equal(status, 200, JSON.stringify(body));
      const { sub, act } = decodeJwt(body.token);
      assert.equal(sub, uid);
      assert.deepEqual(act, {
        iss: sts.url,
        sub: role.arn,
        aud: server.url,
        "aws-acct": role.account,
        "aws-arn": role.arn,
      });
    });
  }

  it("an exchange without an identity is for the one that the request was signed for", async () => {
    const { status, body } = await exchange(signed(), "");
    assert.deepEqual([status, decodeJwt(body.token).sub], [200, identity]);
  });

  it("sends the request on as it was signed, with the session's token and nothing else", async () => {
    const headers = { "x-amz-security-token": "session", cookie: undefined };
    assert.equal(
      (await exchange(signed({ headers, lines: ["X-Forwarded-For: 10.0.0.1", "Cookie: a=b"] }))).status,
      200,
    );
    const [sent] = sts.requests;
    assert.equal(sent?.url, "/?Action=GetCallerIdentity&Version=2011-06-15");
    assert.equal(sent?.headers["x-amz-security-token"], "session");
    for (const name of ["cookie", "x-forwarded-for"]) assert.equal(sent?.headers[name], undefined);
  });

  const mismatches: Record<string, Partial<typeof role>> = {
    aws_account: { account: "999999999999" },
    arn: { arn: "arn:aws:sts::123456789012:assumed-role/other/i-0123" },
    user_id: { userId: "AROAOTHER:i-0123" },
  };
  for (const [claim, changes] of Object.entries(mismatches)) {
    it(`is denied by ${claim}`, async () => {
      sts.state.user = { ...role, ...changes };
      const { status, body } = await exchange(signed());
      assert.equal(status, 403);
      assert.ok(body.message.includes(`invalid "${claim}": the subject token has "${Object.values(changes)[0]}"`));
    });
  }

  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString().replace(/[-:]|\.\d+/g, "");
  const refused: Record<string, [() => string, RegExp]> = {
    "of another method": [() => signed({ method: "GET" }), /not a POST of GetCallerIdentity/],
    "of another action": [
      () => signed({ target: "/?Action=AssumeRole&Version=2011-06-15" }),
      /not a POST of GetCallerIdentity/,
    ],
    "with a body": [() => signed({ body: "Action=AssumeRole" }), /not a POST of GetCallerIdentity/],
    "for another host": [() => signAwsRequest("sts.amazonaws.com", server.url, identity), /for another host/],
    "for another audience": [() => signed({}, "https://elsewhere.example"), /for another audience/],
    "for another identity": [() => signed({}, server.url, `${identity.slice(0, -1)}x`), /for another identity/],
    "whose date is not signed": [() => signed({ unsigned: ["x-amz-date"] }), /does not cover x-amz-date/],
    "whose audience is not signed": [
      () => signed({ unsigned: ["chainguard-audience"] }),
      /does not cover chainguard-aud/,
    ],
    "whose identity is not signed": [
      () => signed({ unsigned: ["chainguard-identity"] }),
      /does not cover chainguard-id/,
    ],
    "with two audiences": [() => signed({ lines: [`Chainguard-Audience: ${server.url}`] }), /exactly once/],
    "with two lists of signed headers": [
      () => signed({ lines: ["Authorization: AWS4-HMAC-SHA256 SignedHeaders=host"] }),
      /header authorization exactly once/,
    ],
    "that signs a header which comes twice": [
      () => signed({ headers: { "x-amz-security-token": "one" }, lines: ["X-Amz-Security-Token: other"] }),
      /not sent on/,
    ],
    "that signs headers which are not sent on": [() => signed({ headers: { connection: "close" } }), /not sent on/],
    "without a date": [() => signed({ headers: { "x-amz-date": undefined } }), /header x-amz-date exactly once/],
    "with a date of another form": [() => signed({ date: "2030-01-01T00:00:00Z" }), /not of the form/],
    "older than 15 minutes": [() => signed({ date: ago(16) }), /older than 15 minutes/],
    "of the future": [() => signed({ date: ago(-6) }), /of the future/],
  };
  for (const [what, [credential, text]] of Object.entries(refused)) {
    it(`a request ${what} is rejected, and never sent`, async () => {
      const { status, body } = await exchange(credential());
      assert.equal(status, 403, JSON.stringify(body));
      assert.match(body.message, /^verifying token: aws: /);
      assert.match(body.message, text);
      assert.deepEqual(sts.requests, []);
    });
  }

  it("a request for an identity of another kind, or without one, is denied in the same words, and never sent", async () => {
    const absent = `${server.groupUid}/${"f".repeat(16)}`;
    const answers = await Promise.all([other, absent].map((uid) => exchange(signed({}, server.url, uid), uid)));
    assert.deepEqual(answers[0], answers[1]);
    assert.equal(answers[0]?.status, 403);
    assert.deepEqual(sts.requests, []);
  });

  it("a request that AWS does not confirm is denied; if AWS does not respond, it can be retried", async () => {
    const forged = await exchange(signed({ secret: "another" }));
    assert.deepEqual([forged.status, forged.body.code], [403, 7]);
    assert.match(forged.body.message, /AWS does not confirm the signature/);
    sts.state.status = 503;
    const down = await exchange(signed());
    assert.deepEqual([down.status, down.body.code], [503, 14]);
  });

  it("is not a credential of the API itself", async () => {
    assert.equal((await rest(server.url, signed(), "GET", "/iam/v2beta1/groups")).status, 401);
  });
});

it("the name of a role that signed is read from its ARN, and its id from the user id before the colon", () => {
  const nameOf = (arn: string, userId: string) => awsNames({ account: "123456789012", arn, userId }).names;
  const role = "arn:aws:sts::123456789012:assumed-role/build/session";
  assert.deepEqual(nameOf(role, "AROAEXAMPLE:session"), [{ kind: "role", name: "build", id: "AROAEXAMPLE" }]);
  assert.deepEqual(nameOf(role, "session"), [{ kind: "role", name: "build", id: "" }]);
  assert.deepEqual(nameOf("arn:aws:iam::123456789012:user/ada", "AIDAEXAMPLE"), []);
});
