// Pictures of the identities: what an organization might have, the wizard, and a check of a token.
import type { Page } from "playwright-core";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { rest } from "../harness/rest.ts";
import { keyPair, keySetText, signOutside } from "../sts/outside.ts";
import type { Stage } from "./access-pictures.ts";

const key = keyPair("ES256");
const dayMs = 24 * 3_600_000;
const github = "https://token.actions.githubusercontent.com";
const main = "repo:acme(@[0-9]+)?/app(@[0-9]+)?:ref:refs/heads/main";

const examples = [
  {
    name: "deploy",
    description: "Publishes the images of the product",
    claimMatch: { issuer: github, subjectPattern: main, claims: { repository: "acme/app", ref: "refs/heads/main" } },
    roles: ["editor", "registry.push"],
  },
  {
    name: "docs",
    claimMatch: { issuer: "https://gitlab.com", subject: "project_path:acme/docs:ref_type:branch:ref:main" },
    roles: ["viewer"],
  },
  {
    name: "payments",
    claimMatch: {
      issuer: "https://oidc.eks.eu-west-1.amazonaws.com/id/0A1B",
      subject: "system:serviceaccount:payments:api",
    },
    roles: ["registry.pull"],
  },
  {
    name: "nightly",
    awsIdentity: {
      awsAccount: "123456789012",
      arnPattern: "arn:aws:sts::123456789012:assumed-role/build/.*",
      userIdPattern: "AROA[A-Z0-9]+:.*",
    },
    roles: [],
  },
  {
    name: "backup",
    staticKeys: {
      issuer: "https://keys.acme.example",
      subject: "backup",
      issuerKeys: keySetText(key),
      expirationTime: new Date(Date.now() + 9 * dayMs).toISOString(),
    },
    roles: ["viewer"],
  },
];

/** Adds the identities with their roles. The last of them exchanges a token. */
export async function addIdentityExamples({ url, token }: Stage): Promise<void> {
  // Not where the pictures of the view Access are made.
  const { body } = await rest(url, token, "GET", "/iam/v2beta1/groups?name=security");
  const group = body.groups[0].uid;
  const call = async (path: string, body: object) => {
    const made = await rest(url, token, "POST", path, body);
    if (made.status !== 200) throw new Error(JSON.stringify(made.body));
    return made.body.uid as string;
  };
  let uid = "";
  for (const { roles, ...identity } of examples) {
    uid = await call(`/iam/v2beta1/identities/${group}`, identity);
    for (const name of roles) {
      const roleUid = builtInRoles.find((role) => role.name === name)!.uid;
      await call(`/iam/v2beta1/roleBindings/${group}`, { identityUid: uid, roleUid });
    }
  }
  await rest(url, await tokenOf("backup", url), "POST", `/sts/exchange?aud=${url}&identity=${uid}`);
}

function tokenOf(sub: string, aud: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return signOutside(key, { iss: "https://keys.acme.example", sub, aud, iat: now, exp: now + 600 });
}

/** Makes the pictures. */
export async function identityPictures(
  page: Page,
  stage: Stage,
  shoot: (view: string) => Promise<void>,
): Promise<void> {
  const { url, token, org } = stage;
  const address = `${url}/console/o/${org}/identities`;
  await page.goto(`${address}/`);
  await page.getByRole("link", { name: "payments" }).waitFor();
  await shoot("identities");
  await page.goto(`${address}/?dialog=new`);
  await page.getByRole("button", { name: "GitHub Actions" }).click();
  await page.getByLabel("Name", { exact: true }).fill("release");
  await page.getByLabel("Owner and repository").fill("acme/app");
  await page.getByLabel("Branch", { exact: true }).fill("main");
  await page.getByLabel("Environment; empty for none").fill("production");
  await shoot("identity-wizard");
  const { body } = await rest(url, token, "GET", "/gatehouse/iam/v1/identities:search?query=backup");
  await page.goto(`${address}/${body.identities[0].uid}?dialog=try`);
  await page.getByLabel("Token", { exact: true }).fill(await tokenOf("builder", url));
  await page.getByRole("button", { name: "Check token" }).click();
  await page.getByText("This token would be denied.").waitFor();
  await page.getByRole("cell", { name: "aud", exact: true }).scrollIntoViewIfNeeded();
  await shoot("identity-token");
  const deploy = await rest(url, token, "GET", "/gatehouse/iam/v1/identities:search?query=deploy");
  await page.goto(`${address}/${deploy.body.identities[0].uid}?dialog=claims`);
  await page.getByLabel("Audience (aud)", { exact: true }).fill("https://gatehouse.acme.example");
  await page.getByRole("button", { name: "Remove ref" }).click();
  await page.getByRole("button", { name: "Add claim" }).click();
  await page.getByLabel("Claim 2").fill("environment");
  await page.getByLabel("Value 2").fill("production");
  await page.getByText("A token that is accepted gets these roles").scrollIntoViewIfNeeded();
  await shoot("identity-claims");
}
