// The pages "Let your first workload in": they have one form, and their rules let in the workload that they are for, and no other.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "../harness/postgres.ts";
import { signAwsRequest } from "../sts/aws-sts.ts";
import { blocksOf, shownCommands } from "./blocks.ts";
import { startDevelopmentServer } from "./development-server.ts";
import { awsMachine, type Platforms, startPlatforms } from "./platforms.ts";
import { openSession } from "./session.ts";

type Claims = Readonly<Record<string, unknown>>;

/** A page, and tokens that its rule is for and against. */
interface Page {
  readonly file: string;
  readonly kind: string;
  /** The audience that the rule asks for, if it asks for one. */
  readonly audience?: string;
  /** Changes of claims, by the workload that has them. */
  readonly allowed: Readonly<Record<string, Claims>>;
  readonly denied: Readonly<Record<string, Claims>>;
}

const buildkiteIds = {
  organization_id: "0184990a-477b-4fa8-9968-000000000012",
  pipeline_id: "0184990a-477b-4fa8-9968-000000000074",
};
const buildkiteSubject = (organization: string, pipeline: string, ref: string) =>
  `organization:${organization}:pipeline:${pipeline}:ref:${ref}:commit:9f31:step:`;

const pages: readonly Page[] = [
  {
    file: "github-actions.md",
    kind: "GitHub Actions",
    allowed: { "an older repository": {}, "a newer repository": { sub: "repo:acme@12/app@74:ref:refs/heads/main" } },
    denied: {
      "an owner who took the name": { repository_id: "888", repository_owner_id: "999" },
      "an owner who took the name, with a newer repository": {
        sub: "repo:acme@999/app@888:ref:refs/heads/main",
        repository_id: "888",
        repository_owner_id: "999",
      },
      "a repository that took the name": { sub: "repo:acme@12/app@888:ref:refs/heads/main", repository_id: "888" },
      "an owner with a similar name": { sub: "repo:acme-mallory/app:ref:refs/heads/main", repository_owner_id: "999" },
      "a pull request": { sub: "repo:acme/app:pull_request" },
      "another branch": { sub: "repo:acme@12/app@74:ref:refs/heads/main-2" },
      "a tag": { sub: "repo:acme/app:ref:refs/tags/main" },
      "a token without numbers": { repository_id: undefined, repository_owner_id: undefined },
    },
  },
  {
    file: "gitlab-ci.md",
    kind: "GitLab",
    allowed: { "the project": {} },
    denied: {
      "a namespace that took the name": { namespace_id: "999", project_id: "888" },
      "a project that took the name": { project_id: "888" },
      "another namespace": { sub: "project_path:acme-2/app:ref_type:branch:ref:main", namespace_id: "999" },
      "an unprotected branch": { ref_protected: "false" },
      "another branch": { sub: "project_path:acme/app:ref_type:branch:ref:patch-1" },
      "a tag": { sub: "project_path:acme/app:ref_type:tag:ref:main" },
    },
  },
  {
    file: "kubernetes.md",
    kind: "Kubernetes at oidc.eks.eu-west-1.amazonaws.com",
    allowed: { "the service account": {} },
    denied: {
      "another namespace": { sub: "system:serviceaccount:other:deployer" },
      "another service account": { sub: "system:serviceaccount:ns:deployer-2" },
      "another cluster": { iss: "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1C" },
    },
  },
  {
    file: "aws.md",
    kind: "AWS outbound federation",
    allowed: { "the role": {} },
    denied: {
      "another role": { sub: "arn:aws:iam::123456789012:role/other" },
      "another account": {
        iss: "https://0a1b2c3d-0000-4000-8000-0000000000ff.tokens.sts.global.api.aws",
        sub: "arn:aws:iam::999999999999:role/deployer",
      },
      "an account that claims the role": {
        iss: "https://0a1b2c3d-0000-4000-8000-0000000000ff.tokens.sts.global.api.aws",
      },
    },
  },
  {
    file: "google-cloud.md",
    kind: "a Google service account",
    allowed: { "the service account": {}, "without claims of a machine": { google: undefined } },
    denied: { "an account that took the address": { sub: "999999999999999999999", azp: "999999999999999999999" } },
  },
  {
    file: "azure.md",
    kind: "Azure, version 1",
    audience: "api://0a1b2c3d-0000-4000-8000-000000000005",
    allowed: { "the managed identity": {} },
    denied: {
      "another managed identity": { sub: "0a1b2c3d-0000-4000-8000-0000000000ff" },
      "another tenant": { iss: "https://sts.windows.net/0a1b2c3d-0000-4000-8000-0000000000fe/" },
      "a token for Azure's own management": { aud: "https://management.azure.com/" },
    },
  },
  {
    file: "buildkite.md",
    kind: "Buildkite",
    allowed: {
      "the pipeline": buildkiteIds,
      "a step without a key": { ...buildkiteIds, sub: buildkiteSubject("acme", "app", "refs/heads/main") },
    },
    denied: {
      "an organization that took the name": {
        ...buildkiteIds,
        organization_id: "0184990a-477b-4fa8-9968-000000000999",
        pipeline_id: "0184990b",
      },
      "a pipeline that took the name": { ...buildkiteIds, pipeline_id: "0184990b" },
      "another organization": { ...buildkiteIds, sub: buildkiteSubject("acme-2", "app", "refs/heads/main") },
      "another pipeline": { ...buildkiteIds, sub: buildkiteSubject("acme", "app-2", "refs/heads/main") },
      "another branch": { ...buildkiteIds, sub: buildkiteSubject("acme", "app", "refs/heads/main-2") },
      "a tag": { ...buildkiteIds, sub: buildkiteSubject("acme", "app", "refs/tags/main") },
      "a job that asked for no ids": {},
    },
  },
  {
    file: "oidc-issuer.md",
    kind: "Jenkins",
    allowed: { "the job": {} },
    denied: {
      "another job": { sub: "https://ci.acme.example/job/other/" },
      "a job below it": { sub: "https://ci.acme.example/job/app/job/x/" },
      "another issuer": { iss: "https://ci.other.example/oidc" },
    },
  },
];

/** The words of the steps, without blocks: two minutes of reading. */
const maxWords = 400;

describe("the pages that let a first workload in", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-first-"));
  const running = new AsyncDisposableStack();
  let platforms: Platforms;
  let url = "";
  let session: ReturnType<typeof openSession>;
  before(async () => {
    platforms = running.use(await startPlatforms());
    const address = `127.0.0.1:${await freePort()}`;
    url = `http://${address}`;
    running.use(await startDevelopmentServer(path.join(folder, "data"), address, platforms.settings));
    session = running.use(openSession({ GATEHOUSE_URL: url }));
    symlinkSync(path.join(folder, "data"), path.join(session.folder, "data"));
  });
  after(async () => {
    await running.disposeAsync();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs the commands of a page that create an identity with a flag, and returns the uid. */
  async function createAsShown(text: string, flag: RegExp): Promise<string> {
    const commands = blocksOf(text).flatMap((block) => (block.language === "console" ? shownCommands(block.text) : []));
    const create = commands.find(
      ({ command }) => /^gatehouse iam identities create /.test(command) && flag.test(command),
    );
    assert.ok(create, `there is no identity with ${flag}`);
    const { code, output } = await session.run(`${create.command} -o id`);
    assert.equal(code, 0, output);
    return output.trim();
  }

  async function exchange(
    identity: string,
    token: string,
  ): Promise<{ readonly status: number; readonly message: string }> {
    const query = new URLSearchParams({ aud: url, identity });
    const response = await fetch(`${url}/sts/exchange?${query}`, { headers: { authorization: `Bearer ${token}` } });
    const { message = "" } = (await response.json()) as { readonly message?: string };
    return { status: response.status, message };
  }

  for (const { file, kind, audience, allowed, denied } of pages)
    describe(file, () => {
      const text = readFileSync(`docs/integrations/${file}`, "utf8");
      const messages: string[] = [];
      let identity = "";
      before(async () => {
        identity = await createAsShown(text, /--(?:identity-issuer|github|gitlab) /);
      });

      it(`${file} has the title and the steps of all first pages, in two minutes of reading`, () => {
        assert.match(text, /^# Let your first workload in: \S/);
        const steps = [...text.matchAll(/^## (\d\..*)$/gm)].map(([, step]) => step);
        const thing = /^3\. Run a (job|pod|program)$/;
        assert.deepEqual(
          steps.map((step) => (thing.test(step!) ? "3. Run it" : step)),
          ["1. Create an identity", "2. Check it", "3. Run it", "4. See it", "5. If it is denied"],
        );
        const [guide] = text.replace(/^( *)```[\s\S]*?^\1```$/gm, "").split(/^(?:## (?!\d)|[-|] )/m);
        const words = guide!.split(/\s+/).length;
        assert.ok(words <= maxWords, `${words} words`);
        for (const list of ["docs/README.md", "docs/workloads.md", "docs/integrations/README.md"])
          assert.ok(readFileSync(list, "utf8").includes(`${file})`), `${list} does not name it`);
      });

      for (const [who, claims] of Object.entries(allowed))
        it(`its rule lets in ${who}`, async () => {
          const { status } = await exchange(identity, await platforms.issue(kind, audience ?? url, claims));
          assert.equal(status, 200);
        });

      const strangers = { ...denied, "a token for another server": { aud: "https://gatehouse.other.example" } };
      for (const [who, claims] of Object.entries(strangers))
        it(`its rule denies ${who}`, async () => {
          const { status, message } = await exchange(identity, await platforms.issue(kind, audience ?? url, claims));
          assert.equal(status, 403);
          messages.push(message);
        });

      it("shows what one of them is told", () => {
        const shown = blocksOf(text).filter((block) => block.text.startsWith("Permission denied: "));
        assert.equal(shown.length, 1);
        assert.ok(messages.includes(shown[0]!.text.trim()), messages.join("\n"));
      });
    });

  for (const [file, flags] of [
    ["github-actions.md", "--identity-issuer https://token.actions.githubusercontent.com --claim repository_id=74"],
    ["gitlab-ci.md", "--identity-issuer https://gitlab.com --claim project_id=74 --claim namespace_id=12"],
  ] as const)
    it(`the linter finds no error in the rules for other jobs in ${file}`, async () => {
      const text = readFileSync(`docs/integrations/${file}`, "utf8");
      const rows = [...text.matchAll(/^\| of a.* \| (.*) \|$/gm)].map(([, cell]) => cell!);
      assert.ok(rows.length >= 3);
      for (const [i, cell] of rows.entries()) {
        const parts = [...cell.matchAll(/`([^`]+)`/g)].map(([, part]) => part!);
        const rule = parts.map((part) => (part.startsWith("--") ? part : `--subject-pattern '${part}'`)).join(" ");
        const name = `${path.basename(file, ".md")}-${i}`;
        const commands = `gatehouse iam identities create ${name} --parent example.org/engineering ${flags} ${rule} && gatehouse iam trust lint ${name}`;
        const { code, output } = await session.run(commands);
        assert.equal(code, 0, `${rule}\n${output}`);
      }
    });

  it("the rule for callers of AWS lets in the role, and no other role or account", async () => {
    const uid = await createAsShown(readFileSync("docs/integrations/aws.md", "utf8"), /--aws-account /);
    const { role, session: sessionToken } = awsMachine;
    const strangers = [
      { ...role, userId: "AROAANOTHERID:i-0123456789abcdef0" },
      { ...role, arn: role.arn.replace("deployer", "deployer-2") },
      { ...role, account: "999999999999", arn: role.arn.replace("123456789012", "999999999999") },
    ];
    const headers = { "x-amz-security-token": sessionToken };
    const statuses: number[] = [];
    for (const caller of [role, ...strangers]) {
      awsMachine.role = caller;
      statuses.push((await exchange(uid, signAwsRequest("sts.amazonaws.com", url, uid, { headers }))).status);
    }
    awsMachine.role = role;
    assert.deepEqual(statuses, [200, 403, 403, 403]);
  });
});
