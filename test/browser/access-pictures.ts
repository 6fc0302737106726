// The pictures of the views Access and Roles, with identities that make an example.
import type { Page } from "playwright-core";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { rest } from "../harness/rest.ts";

/** The server, a token for it and the organization that the pictures show. */
export interface Stage {
  readonly url: string;
  readonly token: string;
  /** The uid of the organization. */
  readonly org: string;
}

const github = "https://token.actions.githubusercontent.com";

/** Adds identities with roles. */
export async function addAccessExamples(stage: Stage): Promise<void> {
  const { org } = stage;
  const [engineering, security] = [await findGroup(stage, "engineering"), await findGroup(stage, "security")];
  const platform = await findGroup(stage, "platform");
  const ci = await addIdentity(stage, org, "ci", github, "repo:example/app:ref:refs/heads/main");
  const release = await addIdentity(stage, org, "release", github, "repo:example/app:environment:production");
  const scanner = await addIdentity(stage, org, "scanner", "https://gitlab.example.org", "project_path:tools/scanner");
  const bot = await addIdentity(stage, security, "former-bot", "https://gitlab.example.org", "project_path:old/bot");
  for (const [group, identity, role] of [
    [engineering, ci, "registry.push"],
    [engineering, release, "viewer"],
    [platform, release, "registry.editor"],
    [org, scanner, "viewer"],
    [org, bot, "editor"],
  ] as const)
    await post(stage, `roleBindings/${group}`, { identityUid: identity, roleUid: roleUid(role) });
}

/** Makes the pictures. */
export async function accessPictures(page: Page, stage: Stage, shoot: (view: string) => Promise<void>): Promise<void> {
  const { url, org } = stage;
  const engineering = await findGroup(stage, "engineering");
  const access = `${url}/console/o/${org}/access`;
  await page.goto(`${access}?group=${engineering}&confined=yes`);
  await page.getByText("registry.push here").waitFor();
  await shoot("access");
  await page.getByRole("button", { name: /^ci, Registry/ }).click();
  await page.getByRole("dialog").getByText("Create repos").waitFor();
  await shoot("why");
  const { body } = await rest(url, stage.token, "GET", `/iam/v2beta1/roleBindings?group=${engineering}`);
  const binding = body.roleBindings.find((one: { identity: { name: string } }) => one.identity.name === "ci");
  await page.goto(`${access}?dialog=revoke&binding=${binding.uid}&group=${engineering}`);
  await page.getByText("− Loses").waitFor();
  await shoot("revoke");
  await page.goto(`${url}/console/o/${org}/roles/${roleUid("editor")}?compare=${roleUid("viewer")}`);
  await page.getByText("+ only here").first().waitFor();
  await shoot("roles");
}

function roleUid(name: string): string {
  return builtInRoles.find((one) => one.name === name)!.uid;
}

async function addIdentity(stage: Stage, parent: string, name: string, issuer: string, subject: string) {
  return (await post(stage, `identities/${parent}`, { name, claimMatch: { issuer, subject } })).uid;
}

async function post({ url, token }: Stage, path: string, body: unknown) {
  const response = await rest(url, token, "POST", `/iam/v2beta1/${path}`, body);
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body;
}

async function findGroup({ url, token }: Stage, name: string): Promise<string> {
  const { body } = await rest(url, token, "GET", `/iam/v2beta1/groups?name=${name}`);
  return body.groups[0].uid;
}
