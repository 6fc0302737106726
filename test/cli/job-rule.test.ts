// The rules that `gatehouse iam identities create` writes for jobs of GitHub Actions and GitLab CI.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Caller, startCaller } from "./caller.ts";

let caller: Caller;
let count = 0;

const create = () => ["iam", "identities", "create", `job-${count++}`, "--parent", "example.org"];

const gitHub = "https://token.actions.githubusercontent.com";
const ids = ["--repository-id", "74", "--owner-id", "12"];
const elsewhere = [
  "--identity-issuer",
  "https://github.acme.example/_services/token",
  "--claim",
  "event_name=push",
  "--audience-claim",
  "registry.example.com",
];
const rules: readonly (readonly [sentence: string, flags: readonly string[], claimMatch: object])[] = [
  [
    "a branch of a repository with ids accepts both forms of subjects",
    ["--github", "acme/app", "--branch", "main", ...ids],
    {
      issuer: gitHub,
      subjectPattern: "repo:acme(@12)?/app(@74)?:ref:refs/heads/main",
      claims: { ref: "refs/heads/main", repository_id: "74", repository_owner_id: "12" },
    },
  ],
  [
    "a repository without ids is asked for by its name, and its characters are taken literally",
    ["--github", "acme/app.js", "--any-ref"],
    {
      issuer: gitHub,
      subjectPattern: "repo:acme(@[0-9]+)?/app\\.js(@[0-9]+)?:ref:refs/(heads|tags)/.*",
      claims: { repository: "acme/app.js" },
    },
  ],
  [
    "an environment of a GitHub Enterprise Server, with a claim and an audience besides",
    ["--github", "acme/app", "--environment", "eu:1", ...ids, ...elsewhere],
    {
      issuer: "https://github.acme.example/_services/token",
      subjectPattern: "repo:acme(@12)?/app(@74)?:environment:eu%3A1",
      audience: "registry.example.com",
      claims: { event_name: "push", repository_id: "74", repository_owner_id: "12" },
    },
  ],
  [
    "a protected branch of a project in a nested namespace",
    ["--gitlab", "acme/team/app", "--branch", "main", "--project-id", "74", "--namespace-id", "12"],
    {
      issuer: "https://gitlab.com",
      subject: "project_path:acme/team/app:ref_type:branch:ref:main",
      claims: { namespace_id: "12", project_id: "74", ref_protected: "true" },
    },
  ],
  [
    "an environment of a project on its own GitLab",
    ["--gitlab", "acme/app", "--environment", "production", "--identity-issuer", "https://gitlab.acme.example"],
    {
      issuer: "https://gitlab.acme.example",
      subjectPattern: "project_path:acme/app:ref_type:.*",
      claims: { environment: "production", ref_protected: "true" },
    },
  ],
];

const wrong: readonly (readonly [sentence: string, flags: readonly string[], message: RegExp])[] = [
  [
    "jobs of every branch must be meant",
    ["--github", "acme/app"],
    /which jobs .*\n.*--branch, --environment or --any-ref/,
  ],
  ["a branch has a repository or a project", ["--branch", "main"], /--branch is for --github or --gitlab/],
  ["an address is not a repository", ["--github", "https://github.com/acme/app", "--any-ref"], /is not OWNER\/REPO/],
  ["a project has a namespace", ["--gitlab", "app", "--any-ref"], /"app" is not the path of a project/],
  [
    "an id is a number",
    ["--github", "acme/app", "--any-ref", "--owner-id", "acme"],
    /--owner-id: "acme" is not a number/,
  ],
  ["a repository has no id of a project", ["--github", "acme/app", "--project-id", "1"], /cannot be used with/],
  ["the rule of a job has a subject already", ["--gitlab", "acme/app", "--subject", "s"], /cannot be used with/],
  ["a job is on one platform", ["--github", "acme/app", "--gitlab", "acme/app"], /cannot be used with/],
];

describe("gatehouse iam identities create for a job", () => {
  before(async () => {
    caller = await startCaller();
  });
  after(async () => {
    await caller[Symbol.asyncDispose]();
  });

  for (const [sentence, flags, claimMatch] of rules)
    it(sentence, async () => {
      assert.deepEqual((await caller.json(...create(), ...flags)).claimMatch, claimMatch);
    });

  for (const [sentence, flags, message] of wrong)
    it(`${sentence}: others are rejected as wrong usage`, async () => {
      const { code, stderr } = await caller.run(...create(), ...flags);
      assert.match(stderr, message);
      assert.equal(code, 2);
    });

  it("the rule of a protected branch with ids has no finding", async () => {
    for (const flags of [rules[0]![1], rules[3]![1]]) {
      const { name } = await caller.json(...create(), ...flags);
      assert.deepEqual((await caller.json("iam", "trust", "lint", name)).items, []);
    }
  });
});
