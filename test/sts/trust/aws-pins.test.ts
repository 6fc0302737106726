// Pins of roles of AWS through the wire: AWS is asked who has signed each request, and a role that was created again has another id.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { signAwsRequest, startAwsSts } from "../aws-sts.ts";

after(stopPostgres);

const account = "123456789012";

/** The signer that AWS names for a session of a role. */
const session = (role: string, id: string, name = "i-0123") => ({
  account,
  arn: `arn:aws:sts::${account}:assumed-role/${role}/${name}`,
  userId: `${id}:${name}`,
});
const person = { account, arn: `arn:aws:iam::${account}:user/ada`, userId: "AIDAEXAMPLE" };

const anyRole = { awsAccount: account, arnPattern: "arn:aws:.*", userIdPattern: ".*" };
const deployer = { ...anyRole, arnPattern: `arn:aws:sts::${account}:assumed-role/deployer/.*` };
const first = session("deployer", "AROAFIRST");

type Signer = typeof first;

/** A rule, the signers that come first and get in, one more, and the reason for which it is denied; `rule` is the rule itself. */
const cases: readonly (readonly [
  title: string,
  rule: object,
  earlier: readonly Signer[],
  signer: Signer,
  outcome: string,
])[] = [
  ["another session of the same role", deployer, [first], session("deployer", "AROAFIRST", "i-0456"), "in"],
  ["a role that was created again", deployer, [first], session("deployer", "AROASECOND"), "NAME_REUSED"],
  ["a role that was created again, in other case", anyRole, [first], session("Deployer", "AROASECOND"), "NAME_REUSED"],
  ["a role without its id", deployer, [first], { ...first, userId: "i-0123" }, "ID_MISSING"],
  ["another role that the rule lets in", anyRole, [first], session("builder", "AROATHIRD"), "in"],
  ["another role that the rule does not let in", deployer, [first], session("builder", "AROAFIRST"), "rule"],
  ["a user, who has no role", anyRole, [first], person, "in"],
  [
    "a role that was created again, if the rule has the id",
    { ...deployer, userIdPattern: "AROAFIRST:.*" },
    [first],
    session("deployer", "AROASECOND"),
    "rule",
  ],
];

for (const database of databases) {
  describe(`pins of roles of AWS on ${database}`, () => {
    let server: TestServer;
    let sts: Awaited<ReturnType<typeof startAwsSts>>;
    before(async () => {
      sts = await startAwsSts(first);
      server = await startTestServer({ database, settings: { awsStsEndpoint: sts.url } });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await sts[Symbol.asyncDispose]();
    });

    async function call(method: string, path: string, body?: object) {
      const { status, body: found } = await rest(server.url, server.ownerToken, method, path, body);
      assert.equal(status, 200, `${path}: ${JSON.stringify(found)}`);
      return found;
    }

    const add = async (awsIdentity: object): Promise<string> =>
      (await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, { name: "aws", awsIdentity })).uid;
    const trustOf = (uid: string) => call("GET", `/gatehouse/iam/v1/trust/${uid}`);

    async function exchange(uid: string, signer: Signer) {
      sts.state.user = signer;
      const request = signAwsRequest(sts.host, server.url, uid);
      return await rest(server.url, request, "POST", `/sts/exchange?aud=${server.url}&identity=${uid}`);
    }

    /** Returns the status of an exchange, and the reason of a denial. */
    async function outcomeOf(uid: string, signer: Signer): Promise<string> {
      const { status, body } = await exchange(uid, signer);
      if (status === 200) return "in";
      assert.equal(status, 403, JSON.stringify(body));
      const info = body.details?.find((each: { "@type": string }) => each["@type"].endsWith("ErrorInfo"));
      if (/invalid "(arn|user_id)"/.test(body.message)) return "rule";
      assert.equal(info.metadata.kind, "role");
      assert.ok(!JSON.stringify(body).includes("AROAFIRST"), "it names the pinned id");
      return info.reason;
    }

    for (const [title, rule, earlier, signer, outcome] of cases)
      it(`${title}: ${outcome}`, async () => {
        const uid = await add(rule);
        for (const each of earlier) assert.equal(await outcomeOf(uid, each), "in");
        const before = await trustOf(uid);
        assert.equal(await outcomeOf(uid, signer), outcome);
        const after = await trustOf(uid);
        if (outcome === "in") return;
        assert.deepEqual(after.pinnedNames, before.pinnedNames);
        const reasons = after.refusedNames.map(({ kind, reason }: Record<string, string>) => `${kind} ${reason}`);
        assert.deepEqual(reasons, outcome === "rule" ? [] : [`role ${outcome}`]);
      });

    it("the first use pins the role, is in the audit log, and says so in an explanation", async () => {
      const uid = await add(deployer);
      assert.equal(await outcomeOf(uid, first), "in");
      const { pinnedNames } = await trustOf(uid);
      const shown = pinnedNames.map(({ kind, name, id, source }: Record<string, string>) => [kind, name, id, source]);
      assert.deepEqual(shown, [["role", "deployer", "AROAFIRST", "PIN_SOURCE_FIRST_USE"]]);
      const query = new URLSearchParams({ parent: server.groupUid, resource_uid: uid, page_size: "100" });
      const { changes } = await call("GET", `/gatehouse/changes/v1/changes?${query}`);
      assert.equal(changes.filter(({ method }: { method: string }) => method === "LearnName").length, 1);
      sts.state.user = session("deployer", "AROASECOND");
      const token = signAwsRequest(sts.host, server.url, uid);
      const { allowed, checks } = await call("POST", `/access/v1/identities/${uid}:explainExchange`, { token });
      const check = checks.find(({ name }: { name: string }) => name === "name:role");
      assert.deepEqual([allowed, check.outcome, check.presented], [false, "CHECK_OUTCOME_FAILED", "AROASECOND"]);
    });

    it("an accepted role gets in, and the one before does not", async () => {
      const uid = await add(deployer);
      const again = session("deployer", "AROASECOND");
      assert.deepEqual([await outcomeOf(uid, first), await outcomeOf(uid, again)], ["in", "NAME_REUSED"]);
      const refusedNames = [{ kind: "role", name: "deployer", id: "AROASECOND" }];
      await call("POST", `/gatehouse/iam/v1/trust/${uid}:acceptNames`, { refusedNames });
      assert.equal(await outcomeOf(uid, again), "in");
      assert.equal((await exchange(uid, first)).status, 403);
    });

    it("a policy lets in only pinned roles, and pins of another account are removed", async () => {
      const uid = await add(anyRole);
      const pinned = {
        namePolicy: "NAME_POLICY_EXPLICIT",
        pinnedNames: [{ kind: "role", name: "deployer", id: "AROAFIRST" }],
      };
      await call("PATCH", `/gatehouse/iam/v1/trust/${uid}?update_mask=namePolicy,pinnedNames`, pinned);
      assert.equal(await outcomeOf(uid, first), "in");
      assert.equal(await outcomeOf(uid, session("builder", "AROATHIRD")), "NAME_UNKNOWN");
      const awsIdentity = { ...anyRole, awsAccount: "210987654321" };
      await call("PATCH", `/iam/v2beta1/identities/${uid}?update_mask=awsIdentity`, { awsIdentity });
      const { namePolicy, pinnedNames } = await trustOf(uid);
      assert.deepEqual([namePolicy, pinnedNames], ["NAME_POLICY_EXPLICIT", []]);
    });
  });
}
