// Explains the result of an exchange, check by check, to callers who may read the identity.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { rest } from "../harness/rest.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { addIdentity } from "../security/tree.ts";
import { signAwsRequest, startAwsSts } from "./aws-sts.ts";
import { keyPair, keySetText, signOutside, startIssuer } from "./outside.ts";

type Checks = Record<string, string>;

describe("the explanation of an exchange", () => {
  let server: TestServer;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let sts: Awaited<ReturnType<typeof startAwsSts>>;
  const key = keyPair("ES256");
  before(async () => {
    issuer = await startIssuer(key);
    sts = await startAwsSts({ account: "123456789012", arn: "arn:aws:iam::123456789012:role/a", userId: "AROA:a" });
    server = await startTestServer({ settings: { awsStsEndpoint: sts.url } });
  });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await issuer[Symbol.asyncDispose]();
    await sts[Symbol.asyncDispose]();
  });

  async function create(relationship: object): Promise<string> {
    const path = `/iam/v2beta1/identities/${server.groupUid}`;
    return (await rest(server.url, server.ownerToken, "POST", path, { name: "ci", ...relationship })).body.uid;
  }
  const now = () => Math.floor(Date.now() / 1000);
  const claims = (changes: object) => ({
    iss: issuer.url,
    sub: "repo:acme/app",
    aud: server.url,
    ref: "refs/heads/main",
    iat: now(),
    exp: now() + 600,
    ...changes,
  });
  const match = () => ({
    claimMatch: { issuer: issuer.url, subjectPattern: "repo:acme/.+", claims: { ref: "refs/heads/main" } },
  });

  /** Returns the outcomes by the names of the checks, and whether the exchange itself says the same. */
  async function explain(uid: string, token: string): Promise<Checks & { details: string }> {
    const path = `/access/v1/identities/${uid}:explainExchange`;
    const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { token });
    assert.equal(status, 200, JSON.stringify(body));
    const exchanged = await rest(server.url, token, "POST", `/sts/exchange?aud=${server.url}&identity=${uid}`);
    assert.equal(body.allowed, exchanged.status === 200, JSON.stringify([body, exchanged.body]));
    const outcomes = body.checks.map(({ name, outcome }: Record<string, string>) => [
      name,
      (outcome ?? "").replace("CHECK_OUTCOME_", "").toLowerCase(),
    ]);
    return { ...Object.fromEntries(outcomes), details: JSON.stringify(body.checks) };
  }

  it("explains the checks after the signature of a token that has none", async () => {
    const signed = await signOutside(key, claims({ ref: "refs/heads/x" }));
    const checks = await explain(await create(match()), signed.replace(/[^.]*$/, ""));
    assert.deepEqual([checks.signature, checks.sub, checks.ref], ["failed", "passed", "failed"]);
    assert.match(checks.details, /"the token has no signature"/);
  });

  it("explains each passed check of a matching token", async () => {
    const { details, ...checks } = await explain(await create(match()), await signOutside(key, claims({})));
    assert.deepEqual(Object.keys(checks), [
      "token",
      "relationship",
      "iss",
      "typ",
      "alg",
      "exp",
      "nbf",
      "iat",
      "keys",
      "signature",
      "sub",
      "aud",
      "ref",
    ]);
    assert.deepEqual(new Set(Object.values(checks)), new Set(["passed"]));
    assert.match(details, /presented repo:acme\/app; the identity asks for the pattern repo:acme\/\.\+/);
    assert.match(details, /"presented":"repo:acme\/app","expected":"the pattern repo:acme\/\.\+"/);
  });

  const failures: Record<string, [changes: object, failed: string[], skipped?: string[]]> = {
    "another issuer, whose keys are then not asked for": [
      { iss: "http://127.0.0.1:1" },
      ["iss"],
      ["keys", "signature"],
    ],
    "another subject and another branch: both are told": [{ sub: "repo:evil/app", ref: "x" }, ["sub", "ref"]],
    "another audience": [{ aud: "https://elsewhere.example" }, ["aud"]],
    "an end that has passed": [{ exp: now() - 10 }, ["exp"]],
    "a beginning that is yet to come": [{ nbf: now() + 3600 }, ["nbf"]],
    "a claim that is not there": [{ ref: undefined }, ["ref"]],
  };
  for (const [what, [changes, failed, skipped = []]] of Object.entries(failures)) {
    it(`explains a token with ${what}`, async () => {
      const { details: _, ...checks } = await explain(await create(match()), await signOutside(key, claims(changes)));
      const named = (outcome: string) => Object.keys(checks).filter((name) => checks[name] === outcome);
      assert.deepEqual(named("failed"), failed);
      for (const name of skipped) assert.equal(checks[name], "skipped", name);
    });
  }

  it("M4: explains stored patterns above the present limits, which are denied for their steps", async () => {
    const names = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const claimPatterns = Object.fromEntries(names.map((name) => [name, "(.*a){0,90}.*x"]));
    const value = { issuer: issuer.url, subject: "heavy", claimPatterns };
    const uid = await addIdentity(server, server.groupUid, {
      relationshipType: 1,
      relationship: { case: "claimMatch", value },
    });
    const read = await rest(server.url, server.ownerToken, "GET", `/iam/v2beta1/identities/${uid}`);
    assert.deepEqual(read.body.claimMatch.claimPatterns, claimPatterns);
    const renamed = await rest(server.url, server.ownerToken, "PATCH", `/iam/v2beta1/identities/${uid}`, {
      name: "old",
    });
    assert.equal(renamed.status, 200);
    const long = Object.fromEntries(names.map((name) => [name, `${"a".repeat(100)}x`]));
    const checks = await explain(uid, await signOutside(key, claims({ sub: "heavy", ...long })));
    assert.deepEqual([checks.signature, checks.c0, checks.c49], ["passed", "passed", "failed"]);
    assert.match(checks.details, /takes too many steps/);
  });

  it("explains a token that another key has signed", async () => {
    const forged = { ...keyPair("ES256", "other"), kid: key.kid };
    const checks = await explain(await create(match()), await signOutside(forged, claims({})));
    assert.deepEqual([checks.keys, checks.signature, checks.sub], ["passed", "failed", "passed"]);
  });

  it("explains expired static keys, and a service principal, which no token can assume", async () => {
    const staticKeys = { issuer: "https://robot.example", subject: "r", issuerKeys: keySetText(key), audiences: [] };
    const uid = await create({ staticKeys });
    const token = await signOutside(key, claims({ iss: "https://robot.example", sub: "r" }));
    assert.equal((await explain(uid, token)).signature, "passed");
    const long = { createTime: Date.now() - 366 * 24 * 60 * 60_000, relationshipType: 2 };
    const value = { ...staticKeys, issuer: "https://robot.example" };
    const expired = await addIdentity(server, server.groupUid, {
      ...long,
      relationship: { case: "staticKeys", value },
    });
    const checks = await explain(expired, token);
    assert.deepEqual([checks.signature, checks.expiration_time], ["passed", "failed"]);
    const service = await create({ servicePrincipal: "SERVICE_PRINCIPAL_INGESTER" });
    const none = await explain(service, token);
    assert.equal(none.relationship, "failed");
    assert.match(none.details, /a service principal/);
  });

  it("explains tokens up to the maximum length of an exchange, and no longer ones", async () => {
    const uid = await create(match());
    const groups = Array.from({ length: 300 }, (_, i) => `engineering/group-${i}`);
    assert.equal((await explain(uid, await signOutside(key, claims({ groups })))).signature, "passed");
    const path = `/access/v1/identities/${uid}:explainExchange`;
    const long = await rest(server.url, server.ownerToken, "POST", path, { token: "a".repeat(16_385) });
    assert.equal(long.status, 400);
  });

  it("explains one of our own tokens for its own identity only", async () => {
    const uid = await create(match());
    const own = await server.tokenOf(uid);
    assert.equal((await explain(uid, own)).token, "passed");
    assert.equal((await explain(await create(match()), own)).sub, "failed");
  });

  it("explains a signed AWS request by the response of AWS, which is not asked if the request is invalid", async () => {
    const awsIdentity = {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:iam::123456789012:role/.+",
      userId: "AROA:b",
    };
    const uid = await create({ awsIdentity });
    const checks = await explain(uid, signAwsRequest(sts.host, server.url, uid));
    assert.deepEqual(
      [checks.signature, checks.aws_account, checks.arn, checks.user_id],
      ["passed", "passed", "passed", "failed"],
    );
    const asked = sts.requests.length;
    const stale = await explain(uid, signAwsRequest(sts.host, server.url, uid, { date: "20200101T000000Z" }));
    assert.deepEqual([stale.date, stale.signature, stale.arn], ["failed", "skipped", "skipped"]);
    assert.equal(sts.requests.length, asked);
  });

  it("L4: an explanation is for callers who may read the identity, and does not reveal to others whether it exists", async () => {
    const nobody = await server.tokenOf(await create(match()));
    const uids = [await create(match()), `${server.groupUid}/${"f".repeat(16)}`];
    const answers = await Promise.all(
      uids.map((uid) =>
        rest(server.url, nobody, "POST", `/access/v1/identities/${uid}:explainExchange`, { token: "x" }),
      ),
    );
    const texts = answers.map(
      ({ status, body }, i) => `${status} ${JSON.stringify(body).replaceAll(uids[i] ?? "", "")}`,
    );
    assert.match(texts[0] ?? "", /^403 /);
    assert.equal(texts[0], texts[1]);
  });

  it("explains a text that is not a token", async () => {
    assert.deepEqual((await explain(await create(match()), "hello")).token, "failed");
  });
});
