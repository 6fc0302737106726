// Pins of names through the wire: what gets in after names were recycled, renamed and transferred.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { basic, getToken } from "../../registry/sign-in.ts";
import { ownerRole } from "../../security/tree.ts";
import {
  bitbucket,
  buildkite,
  cluster,
  forgeToken,
  gitHub,
  gitHubJob,
  gitHubRule,
  gitLab,
  ownGitLab,
  startForges,
  terraform,
} from "../forges.ts";

after(stopPostgres);

type Claims = Readonly<Record<string, unknown>>;

const project = (iss: string, path: string, ids: readonly [namespace?: string, project?: string]): Claims => ({
  iss,
  sub: `project_path:${path}:ref_type:branch:ref:main`,
  namespace_path: path.slice(0, path.lastIndexOf("/")),
  project_path: path,
  ...(ids[0] && { namespace_id: ids[0] }),
  ...(ids[1] && { project_id: ids[1] }),
});
const run = (organization: string, workspace: string, ids: readonly [string, string]): Claims => ({
  iss: terraform,
  sub: `organization:${organization}:project:p:workspace:${workspace}:run_phase:apply`,
  terraform_organization_name: organization,
  terraform_organization_id: ids[0],
  terraform_workspace_name: workspace,
  terraform_workspace_id: ids[1],
});
const build = (
  organization: string,
  pipeline: string,
  ids: readonly [organization?: string, pipeline?: string],
): Claims => ({
  iss: buildkite,
  sub: `organization:${organization}:pipeline:${pipeline}:ref:refs/heads/main:commit:abc:step:s`,
  organization_slug: organization,
  pipeline_slug: pipeline,
  ...(ids[0] && { organization_id: ids[0] }),
  ...(ids[1] && { pipeline_id: ids[1] }),
});
const step = (workspaceUuid: string): Claims => ({
  iss: bitbucket,
  sub: "{1}:{2}",
  workspaceUuid,
  repositoryUuid: "{1}",
});
const pod = (uid: string): Claims => ({
  iss: cluster,
  sub: "system:serviceaccount:ns:app",
  "kubernetes.io": { namespace: "ns", serviceaccount: { name: "app", uid } },
});

const any = (issuer: string) => ({ issuer, subjectPattern: ".*" });
const app = gitHubRule("acme", "app");
const first = gitHubJob("acme", "app", ["12", "74"]);

/** A rule, the tokens that come first and get in, one more, and the reason for which it is denied; `invalid` is the rule itself. */
const cases: readonly (readonly [
  title: string,
  rule: object,
  earlier: readonly Claims[],
  token: Claims,
  outcome: "in" | "rule" | readonly [reason: string, kind: string],
])[] = [
  ["the same repository", app, [first], first, "in"],
  [
    "the same repository with numbers in its subject",
    app,
    [first],
    gitHubJob("acme", "app", ["12", "74"], { isNumbered: true }),
    "in",
  ],
  ["the same repository in other case", any(gitHub), [first], gitHubJob("Acme", "App", ["12", "74"]), "in"],
  [
    "another owner who took both names",
    app,
    [first],
    gitHubJob("acme", "app", ["999", "888"]),
    ["NAME_REUSED", "owner"],
  ],
  [
    "another owner who took both names, with numbers in the subject",
    app,
    [first],
    gitHubJob("acme", "app", ["999", "888"], { isNumbered: true }),
    ["NAME_REUSED", "owner"],
  ],
  [
    "a repository that its owner created again",
    app,
    [first],
    gitHubJob("acme", "app", ["12", "75"]),
    ["NAME_REUSED", "repository"],
  ],
  [
    "a recycled name in other case",
    any(gitHub),
    [first],
    gitHubJob("ACME", "APP", ["999", "888"]),
    ["NAME_REUSED", "owner"],
  ],
  ["a renamed repository that the rule lets in", any(gitHub), [first], gitHubJob("acme", "app2", ["12", "74"]), "in"],
  ["a renamed repository that the rule does not let in", app, [first], gitHubJob("acme", "app2", ["12", "74"]), "rule"],
  [
    "the old name of a renamed repository, taken by another",
    any(gitHub),
    [first, gitHubJob("acme", "app2", ["12", "74"])],
    gitHubJob("acme", "app", ["12", "76"]),
    ["NAME_REUSED", "repository"],
  ],
  [
    "a transferred repository that the rule lets in",
    any(gitHub),
    [first],
    gitHubJob("other", "app", ["13", "74"]),
    "in",
  ],
  [
    "the name of a transferred repository, taken by its old owner",
    any(gitHub),
    [first, gitHubJob("other", "app", ["13", "74"])],
    gitHubJob("acme", "app", ["12", "77"]),
    ["NAME_REUSED", "repository"],
  ],
  [
    "a token that lacks the id of the repository",
    app,
    [first],
    gitHubJob("acme", "app", ["12", undefined]),
    ["ID_MISSING", "repository"],
  ],
  [
    "a token that lacks both ids",
    app,
    [first],
    gitHubJob("acme", "app", [undefined, undefined]),
    ["ID_MISSING", "owner"],
  ],
  ["a token that lacks names and ids", app, [first], { iss: gitHub, sub: first.sub }, ["ID_MISSING", "owner"]],
  [
    "a subject whose numbers differ from the claims",
    app,
    [],
    {
      ...gitHubJob("acme", "app", ["999", "888"], { isNumbered: true }),
      repository_owner_id: "12",
      repository_id: "74",
    },
    "rule",
  ],
  [
    "numbers that are only in the subject",
    app,
    [first],
    { iss: gitHub, sub: "repo:acme@999/app@888:ref:refs/heads/main", repository: "acme/app", repository_owner: "acme" },
    ["NAME_REUSED", "owner"],
  ],
  ["a name with a hyphen that begins the same", app, [first], gitHubJob("acme-ci", "app", ["999", "888"]), "rule"],
  ["a name that ends the same", app, [first], gitHubJob("ci-acme", "app", ["999", "888"]), "rule"],
  ["a job of another forge", app, [first], { ...project(gitLab, "acme/app", ["12", "74"]), sub: first.sub }, "rule"],
  [
    "a recycled namespace of GitLab",
    any(gitLab),
    [project(gitLab, "acme/app", ["1", "2"])],
    project(gitLab, "acme/app", ["3", "4"]),
    ["NAME_REUSED", "namespace"],
  ],
  [
    "a project of GitLab that was created again",
    any(gitLab),
    [project(gitLab, "acme/app", ["1", "2"])],
    project(gitLab, "acme/app", ["1", "4"]),
    ["NAME_REUSED", "project"],
  ],
  [
    "a project of GitLab without its id",
    any(gitLab),
    [project(gitLab, "acme/app", ["1", "2"])],
    project(gitLab, "acme/app", ["1"]),
    ["ID_MISSING", "project"],
  ],
  [
    "a project of a GitLab server that was restored",
    any(ownGitLab),
    [project(ownGitLab, "acme/app", ["1", "2"])],
    project(ownGitLab, "acme/app", ["1", "3"]),
    "in",
  ],
  [
    "a recycled organization of HCP Terraform",
    any(terraform),
    [run("acme", "app", ["o1", "w1"])],
    run("acme", "app", ["o2", "w2"]),
    ["NAME_REUSED", "organization"],
  ],
  [
    "a workspace of the same name in another organization",
    any(terraform),
    [run("acme", "app", ["o1", "w1"])],
    run("other", "app", ["o2", "w2"]),
    "in",
  ],
  [
    "a recycled pipeline of Buildkite",
    any(buildkite),
    [build("acme", "app", ["o1", "p1"])],
    build("acme", "app", ["o1", "p2"]),
    ["NAME_REUSED", "pipeline"],
  ],
  [
    "a job of Buildkite that does not ask for ids any more",
    any(buildkite),
    [build("acme", "app", ["o1", "p1"])],
    build("acme", "app", []),
    ["ID_MISSING", "organization"],
  ],
  [
    "a job of Buildkite that never asked for ids",
    any(buildkite),
    [build("acme", "app", [])],
    build("acme", "app", []),
    "in",
  ],
  ["a recycled workspace of Bitbucket", any(bitbucket), [step("{a}")], step("{b}"), ["NAME_REUSED", "workspace"]],
  ["a service account that was created again", any(cluster), [pod("u1")], pod("u2"), "in"],
];

for (const database of databases) {
  describe(`pins of names on ${database}`, () => {
    let forges: Awaited<ReturnType<typeof startForges>>;
    let server: TestServer;
    let now = Date.now();
    before(async () => {
      forges = await startForges();
      server = await startTestServer({ database, settings: forges.settings, clock: () => now });
    });
    after(async () => {
      await server[Symbol.asyncDispose]();
      await forges[Symbol.asyncDispose]();
    });

    const call = (method: string, path: string, body?: object) =>
      rest(server.url, server.ownerToken, method, path, body);

    async function add(rule: object, name = "ci"): Promise<string> {
      const { status, body } = await call("POST", `/iam/v2beta1/identities/${server.groupUid}`, {
        name,
        claimMatch: rule,
      });
      assert.equal(status, 200, JSON.stringify(body));
      return body.uid;
    }

    async function exchange(identity: string, claims: Claims) {
      const query = new URLSearchParams({ aud: server.config.baseUrl, identity });
      return await rest(
        server.url,
        await forgeToken(server.config.baseUrl, claims, now),
        "GET",
        `/sts/exchange?${query}`,
      );
    }

    // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
    const infoOf = (body: any) =>
      body.details?.find((each: { "@type": string }) => each["@type"].endsWith("ErrorInfo"));
    const trustOf = async (uid: string) => (await call("GET", `/gatehouse/iam/v1/trust/${uid}`)).body;

    for (const [title, rule, earlier, token, outcome] of cases)
      it(`${title}: ${typeof outcome === "string" ? outcome : outcome.join(" ")}`, async () => {
        const uid = await add(rule);
        for (const each of earlier) assert.equal((await exchange(uid, each)).status, 200);
        const before = await trustOf(uid);
        const { status, body } = await exchange(uid, token);
        if (outcome === "in") return assert.equal(status, 200, JSON.stringify(body));
        assert.equal(status, 403, JSON.stringify(body));
        if (outcome === "rule") {
          assert.match(body.message, /invalid "(iss|sub)"/);
          return assert.deepEqual(await trustOf(uid), before);
        }
        const [reason, kind] = outcome;
        const info = infoOf(body);
        assert.deepEqual(
          [info.reason, info.metadata.kind, Object.keys(info.metadata).sort()],
          [reason, kind, ["kind", "name", "presented"]],
        );
        assert.match(body.message, /gatehouse iam trust accept/);
        for (const { id } of before.pinnedNames ?? [])
          if (id !== info.metadata.presented)
            assert.ok(!JSON.stringify(body).includes(`"${id}"`), `it names the pinned id ${id}`);
        const { refusedNames, pinnedNames } = await trustOf(uid);
        assert.ok(refusedNames.some((each: Claims) => each.reason === reason && each.kind === kind));
        assert.deepEqual(pinnedNames, before.pinnedNames);
      });

    it("a first use pins names, changes no time of the identity, and is in the audit log", async () => {
      const uid = await add(app);
      const { body: before } = await call("GET", `/iam/v2beta1/identities/${uid}`);
      now += 120_000;
      assert.equal((await exchange(uid, first)).status, 200);
      const { body: after } = await call("GET", `/iam/v2beta1/identities/${uid}`);
      assert.deepEqual({ ...after, lastSeenTime: "" }, { ...before, lastSeenTime: "" });
      const { pinnedNames } = await trustOf(uid);
      assert.deepEqual(
        pinnedNames.map(({ kind, name, id, source }: Claims) => [kind, name, id, source]),
        [
          ["owner", "acme", "12", "PIN_SOURCE_FIRST_USE"],
          ["repository", "acme/app", "74", "PIN_SOURCE_FIRST_USE"],
        ],
      );
      const query = new URLSearchParams({ parent: server.groupUid, resource_uid: uid, page_size: "100" });
      const { body } = await call("GET", `/gatehouse/changes/v1/changes?${query}`);
      const learned = body.changes.filter(({ method }: Claims) => method === "LearnName");
      assert.deepEqual(
        learned.map(
          ({
            kind,
            actorUid,
            after: { pinnedNames: pins },
          }: {
            kind: string;
            actorUid: string;
            after: { pinnedNames: unknown[] };
          }) => [kind, actorUid, pins.length],
        ),
        [["identity_trust", uid, 2]],
      );
    });

    it("a refused name is written once a minute, with how often, and a change of pins is not needed for it", async () => {
      const uid = await add(app);
      await exchange(uid, first);
      const refused = async () =>
        (await trustOf(uid)).refusedNames.map(({ name, id, count }: Claims) => [name, id, count]);
      const stranger = gitHubJob("acme", "app", ["12", "75"]);
      for (let i = 0; i < 3; i++) await exchange(uid, stranger);
      assert.deepEqual(await refused(), [["acme/app", "75", "1"]]);
      now += 60_000;
      await exchange(uid, stranger);
      assert.deepEqual(await refused(), [["acme/app", "75", "4"]]);
      for (let i = 0; i < 12; i++) await exchange(uid, gitHubJob("acme", "app", ["12", `8${i}`]));
      assert.deepEqual((await refused()).length, 8);
      assert.deepEqual((await refused())[0], ["acme/app", "811", "1"]);
    });

    it("accepting a refused name pins its id, and the id before gets in no more", async () => {
      const uid = await add(app);
      await exchange(uid, first);
      const again = gitHubJob("acme", "app", ["12", "75"]);
      await exchange(uid, again);
      const names = [{ kind: "repository", name: "acme/app", id: "75" }];
      const { status, body } = await call("POST", `/gatehouse/iam/v1/trust/${uid}:acceptNames`, {
        refusedNames: names,
      });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body.refusedNames, []);
      assert.deepEqual([(await exchange(uid, again)).status, (await exchange(uid, first)).status], [200, 403]);
    });

    it("accepting a name that was refused without an id removes its pin", async () => {
      const uid = await add(any(buildkite));
      await exchange(uid, build("acme", "app", ["o1", "p1"]));
      const without = build("acme", "app", []);
      assert.equal((await exchange(uid, without)).status, 403);
      const { refusedNames } = await trustOf(uid);
      const names = refusedNames.map(({ kind, name, id }: Claims) => ({ kind, name, id }));
      assert.equal(
        (await call("POST", `/gatehouse/iam/v1/trust/${uid}:acceptNames`, { refusedNames: names })).status,
        200,
      );
      assert.equal((await exchange(uid, without)).status, 200);
    });

    it("the policy of an identity lets in only pinned names, or compares nothing", async () => {
      const uid = await add(any(gitHub));
      const set = async (trust: object) => {
        const mask = Object.keys(trust).join(",");
        const { status, body } = await call("PATCH", `/gatehouse/iam/v1/trust/${uid}?update_mask=${mask}`, trust);
        assert.equal(status, 200, JSON.stringify(body));
      };
      await set({ namePolicy: "NAME_POLICY_EXPLICIT" });
      const unknown = await exchange(uid, first);
      assert.deepEqual([unknown.status, infoOf(unknown.body).reason], [403, "NAME_UNKNOWN"]);
      const owner = { kind: "owner", name: "acme", id: "12" };
      await set({ pinnedNames: [owner, { kind: "repository", name: "acme/app", id: "74" }] });
      const outcomes = [];
      for (const claims of [first, gitHubJob("acme", "app2", ["12", "74"]), gitHubJob("acme", "app2", ["12", "75"])])
        outcomes.push((await exchange(uid, claims)).status);
      assert.deepEqual(outcomes, [200, 200, 403]);
      await set({ namePolicy: "NAME_POLICY_OFF" });
      assert.equal((await exchange(uid, gitHubJob("acme", "app", ["999", "888"]))).status, 200);
    });

    it("beyond 32 names of a kind others get in without a pin", async () => {
      const uid = await add(any(gitHub));
      for (let i = 0; i < 33; i++)
        assert.equal((await exchange(uid, gitHubJob("acme", `r${i}`, ["12", `${100 + i}`]))).status, 200);
      const { pinnedNames } = await trustOf(uid);
      assert.equal(pinnedNames.filter(({ kind }: Claims) => kind === "repository").length, 32);
    });

    it("an explanation compares each name with its pin, and pins nothing", async () => {
      const uid = await add(app);
      const explain = async (claims: Claims) => {
        const token = await forgeToken(server.config.baseUrl, claims, now);
        const { body } = await call("POST", `/access/v1/identities/${uid}:explainExchange`, { token });
        const names = body.checks.filter(({ name }: { name: string }) => name.startsWith("name:"));
        return [
          body.allowed,
          ...names.map(({ name, outcome, presented, expected }: Claims) => [name, outcome, presented, expected]),
        ];
      };
      const passed = "CHECK_OUTCOME_PASSED";
      assert.deepEqual(await explain(first), [
        true,
        ["name:owner", passed, "12", undefined],
        ["name:repository", passed, "74", undefined],
      ]);
      assert.deepEqual((await trustOf(uid)).pinnedNames, []);
      await exchange(uid, first);
      assert.deepEqual(await explain(gitHubJob("acme", "app", ["12", "75"])), [
        false,
        ["name:owner", passed, "12", "12"],
        ["name:repository", "CHECK_OUTCOME_FAILED", "75", "74"],
      ]);
      assert.deepEqual((await trustOf(uid)).refusedNames, []);
    });

    it("reused names and names without ids are findings, and a search finds identities without pins", async () => {
      const group = (await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: "findings" })).body.uid;
      const made = async (name: string, claimMatch: object) =>
        (await call("POST", `/iam/v2beta1/identities/${group}`, { name, claimMatch })).body.uid;
      const uids = [await made("reused", app), await made("unpinned", any(buildkite)), await made("fine", app)];
      const [reused, unpinned, fine] = uids as [string, string, string];
      await exchange(reused, first);
      await exchange(reused, gitHubJob("acme", "app", ["12", "75"]));
      await exchange(unpinned, build("acme", "app", []));
      await exchange(fine, first);
      const query = new URLSearchParams({ parent: group });
      for (const kind of ["REUSED_NAME", "UNPINNED_NAME"]) query.append("kinds", `FINDING_KIND_${kind}`);
      const { body } = await call("GET", `/gatehouse/organizations/v1/findings?${query}`);
      assert.deepEqual(
        body.findings.map(({ kind, resourceUid, time }: Claims) => [kind, resourceUid, time]),
        [
          ["FINDING_KIND_REUSED_NAME", reused, new Date(now).toISOString()],
          ["FINDING_KIND_UNPINNED_NAME", unpinned, undefined],
        ],
      );
      const found = await call("GET", `/gatehouse/iam/v1/identities:search?parent=${group}&unpinned=true`);
      assert.deepEqual(
        found.body.identities.map(({ uid }: Claims) => uid),
        [unpinned],
      );
    });

    it("every endpoint that takes a workload's token compares its names, and pins nothing for an ambiguous group", async () => {
      const group = (await call("POST", `/iam/v2beta1/groups/${server.groupUid}`, { name: `g${now}` })).body.uid;
      const rule = { issuer: gitHub, subject: first.sub };
      const made = async (name: string) =>
        (await call("POST", `/iam/v2beta1/identities/${group}`, { name, claimMatch: rule })).body.uid;
      const uid = await made("one");
      const form = async (claims: Claims, client: string) =>
        (
          await fetch(`${server.url}/sts/token`, {
            method: "POST",
            body: new URLSearchParams({
              grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
              assertion: await forgeToken(server.config.baseUrl, claims, now),
              client_id: client,
            }),
          })
        ).status;
      const registry = async (claims: Claims, user: string) => {
        const token = await forgeToken(server.config.baseUrl, claims, now);
        return (await getToken(server.url, basic(user, token), [])).status;
      };
      const other = await made("other");
      assert.equal(await form(first, group), 400);
      assert.deepEqual([(await trustOf(uid)).pinnedNames, (await trustOf(other)).pinnedNames], [[], []]);
      await call("DELETE", `/iam/v2beta1/identities/${other}`);
      const stranger = gitHubJob("acme", "app", ["999", "888"]);
      assert.equal(await form(first, group), 200);
      assert.equal((await trustOf(uid)).pinnedNames.length, 2);
      assert.deepEqual(
        [await form(stranger, uid), await form(stranger, group), await form(first, uid)],
        [400, 400, 200],
      );
      assert.deepEqual(
        [
          await registry(stranger, uid),
          await registry(stranger, group),
          await registry(first, uid),
          await registry(first, group),
        ],
        [401, 401, 200, 200],
      );
    });

    it("the pins of an identity of another organization are like those of one that does not exist", async () => {
      const uid = await add(app);
      await exchange(uid, first);
      const { body: stranger } = await call("POST", "/iam/v2beta1/groups", { name: "stranger.example" });
      const own = await call("POST", `/iam/v2beta1/identities/${stranger.uid}`, {
        name: "s",
        claimMatch: { issuer: gitHub, subject: "x" },
      });
      await call("POST", `/iam/v2beta1/roleBindings/${stranger.uid}`, {
        identityUid: own.body.uid,
        roleUid: ownerRole.uid,
      });
      const token = await server.tokenOf(own.body.uid);
      const absent = `${uid.slice(0, -4)}0000`;
      const requests = [
        ["GET", "", undefined],
        ["PATCH", "?update_mask=namePolicy", { namePolicy: "NAME_POLICY_OFF" }],
        ["POST", ":acceptNames", { refusedNames: [{ kind: "owner", name: "acme", id: "1" }] }],
      ] as const;
      for (const [method, suffix, body] of requests) {
        const replies = [];
        for (const each of [uid, absent]) {
          const reply = await rest(server.url, token, method, `/gatehouse/iam/v1/trust/${each}${suffix}`, body);
          replies.push(JSON.stringify([reply.status, reply.body]).replaceAll(each, "UID"));
        }
        assert.equal(replies[0], replies[1]);
        assert.match(replies[0]!, /^\[403/);
      }
    });

    it("claims that say who started a job are nowhere in identities, whether it gets in or not", async () => {
      const uid = await add(any(gitHub));
      const marked = {
        actor: "marker-1",
        email: "marker-2@example.org",
        sha: "marker-3",
        odd: "marker-4",
        user_login: "marker-5",
      };
      await exchange(uid, { ...first, ...marked });
      await exchange(uid, { ...gitHubJob("acme", "app", ["999", "888"]), ...marked });
      const rows = await server.server.database.read(async (session) =>
        session.prepared("test.identities", (db, { identities }) => db.select().from(identities)).execute({}),
      );
      assert.doesNotMatch(JSON.stringify(rows), /marker/);
      assert.match(JSON.stringify(rows), /acme\/app/);
    });
  });
}
