// Pictures of the identities: what an organization might have, the wizard, and a check of a token.
import type { Page } from "playwright-core";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { rest } from "../harness/rest.ts";
import { keyPair, keySetText, signOutside } from "../sts/outside.ts";

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
    name: "scanner",
    staticKeys: {
      issuer: "https://keys.acme.example",
      subject: "scanner",
      issuerKeys: keySetText(key),
      expirationTime: new Date(Date.now() + 9 * dayMs).toISOString(),
    },
    roles: ["viewer"],
  },
];

/** Creates the identities in a group, the last of which has exchanged a token. Returns its uid. */
export async function addExampleIdentities(url: string, token: string, group: string): Promise<string> {
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
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: "https://keys.acme.example", sub: "scanner", aud: url, iat: now, exp: now + 600 };
  await rest(url, await signOutside(key, claims), "POST", `/sts/exchange?aud=${url}&identity=${uid}`);
  return uid;
}

/** Takes the pictures. `address` is that of the view, `uid` the identity from `addExampleIdentities`. */
export async function identityPictures(
  page: Page,
  shoot: (view: string) => Promise<void>,
  address: string,
  uid: string,
): Promise<void> {
  await page.goto(`${address}/`);
  await page.getByRole("link", { name: "payments" }).waitFor();
  await shoot("identities");
  await page.goto(`${address}/?dialog=new`);
  await page.getByRole("button", { name: "GitHub Actions" }).click();
  await page.getByLabel("Name", { exact: true }).fill("release");
  await page.getByLabel("Owner and repository").fill("acme/app");
  await page.getByLabel("Environment; empty for none").fill("production");
  await shoot("identity-wizard");
  await page.goto(`${address}/${uid}`);
  await page.getByText("Try a token").click();
  const now = Math.floor(Date.now() / 1000);
  const token = await signOutside(key, {
    ...{ iss: "https://keys.acme.example", sub: "builder", aud: new URL(address).origin },
    ...{ iat: now, exp: now + 600 },
  });
  await page.getByLabel("Token", { exact: true }).fill(token);
  await page.getByRole("button", { name: "Check token" }).click();
  const denied = page.getByText("This token would be denied.");
  await denied.waitFor();
  await denied.scrollIntoViewIfNeeded();
  await shoot("identity-token");
}
