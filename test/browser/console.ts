// The console for the tests of its views: a server with people who hold roles, and a browser that notes what must not happen.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { once } from "../../src/base/lazy.ts";
import { userUid } from "../../src/services/iam/users/user-uid.ts";
import { insertMembership } from "../../src/storage/iam/memberships.ts";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";
import { arrange } from "../security/tree.ts";
import { noteRequests } from "./quiet.ts";

/** A page of the console, and what went wrong there. */
export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the console, violations of the content security policy, denied calls. Empty if all is well. */
  readonly complaints: string[];
}

/** Builds the console unless it is there. */
export function buildConsole(): void {
  if (existsSync("dist/console/index.html")) return;
  const { status, stderr } = spawnSync(process.execPath, ["console/build.js"], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** Binds a built-in role of the organization to a person of the development provider, who has joined it unless `isPending`. */
export async function bindRole(server: TestServer, name: string, role: string, isPending = false): Promise<void> {
  const identityUid = userUid(`${server.config.baseUrl}/development/login`, name);
  const roleUid = builtInRoles.find((one) => one.name === role)!.uid;
  const bound = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
    identityUid,
    roleUid,
  });
  if (bound.status !== 200) throw new Error(JSON.stringify(bound.body));
  const membership = { identityUid, groupUid: server.groupUid };
  if (!isPending) await arrange(server, (tx) => insertMembership(tx, membership));
}

/** Creates a resource by REST as the first owner, and returns its uid. */
export async function createResource(server: TestServer, path: string, body: unknown): Promise<string> {
  const response = await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/${path}`, body);
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return response.body.uid;
}

/** Returns the uid of a built-in role. */
export function builtInRoleUid(name: string): string {
  return builtInRoles.find((one) => one.name === name)!.uid;
}

/** Creates a group, and returns its uid. */
export async function createGroup(server: TestServer, name: string, parent: string, description = ""): Promise<string> {
  const path = `/iam/v2beta1/groups/${parent}`;
  const { status, body } = await rest(server.url, server.ownerToken, "POST", path, { name, description });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.uid;
}

/** Opens a page of the console in a profile of its own. */
export async function openConsole(
  browser: Browser,
  server: TestServer,
  options: { readonly path?: string; readonly width?: number; readonly dark?: boolean; readonly locale?: string } = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1280, height: 800 },
    colorScheme: options.dark ? "dark" : "light",
    locale: options.locale ?? "en",
    // A menu that is still fading in has too little contrast.
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  noteRequests(page);
  const complaints = complaintsOf(page);
  await page.goto(server.url + (options.path ?? "/"));
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

/** Opens a path of the console, and signs in as the person with a name. */
export async function openConsoleAs(
  browser: Browser,
  server: TestServer,
  name: string,
  options: Parameters<typeof openConsole>[2],
): Promise<ConsolePage> {
  const console = await openConsole(browser, server, options);
  await signIn(console.page, name);
  return console;
}

/** Notes what must not happen on a page. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    // Chromium logs each 401; the page asks for a token before it knows whether there is a session.
    const isExpected = message.location().url.includes("/oauth/session/");
    if (message.type() === "error" && !isExpected) complaints.push(`${message.text()}: ${message.location().url}`);
  });
  page.on("response", (response) => {
    if (response.status() === 403) complaints.push(`denied: ${response.url()}`);
  });
  page.on("request", (request) => {
    if (/eyJ[\w-]+\./.test(request.url())) complaints.push(`a token in an address: ${request.url()}`);
    if (/eyJ[\w-]+\./.test(request.headers().referer ?? "")) complaints.push("a token in a referrer");
  });
  return complaints;
}

/** Signs in on the page: one click there, one on the page of the development provider. */
export async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Sign in" }).click();
  if (name === "owner" || name === "viewer") return await page.getByRole("link", { name, exact: true }).click();
  await page.getByLabel(/Another person/).fill(name);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** The script of axe-core, which is evaluated, since the policy of the page allows no other script. */
const axe = once(() => readFileSync("node_modules/axe-core/axe.min.js", "utf8"));

/**
 * Finds texts with a uid, whole or shortened. It may stand where an object is described in detail, in commands and code, and where a
 * name may not be known: of a person who has not joined, of an organization that is not verified.
 */
const findUids = `(() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data;
    const isPlain = !walker.currentNode.parentElement.closest("dl.facts, pre, [data-command], script, style, input, textarea");
    const isUid = /\\b[0-9a-f]{4}…[0-9a-f]{4}\\b|\\b[0-9a-f]{40}\\b/.test(text);
    const around = walker.currentNode.parentElement.closest(".lines, .who, header, li, tr")?.textContent ?? text;
    if (isPlain && isUid && !/Not joined yet|Noch nicht beigetreten|No name|Ohne Namen|not verified|nicht geprüft/.test(around)) found.push("a uid: " + text);
  }
  return found;
})()`;

/**
 * Best practices are on by default, the size of targets (WCAG 2.5.8) is not. With forced colours the browser chooses them, and axe
 * reads those that it does not show (`-webkit-text-fill-color`).
 */
const rules = `{
  "target-size": { enabled: true },
  "color-contrast": { enabled: !matchMedia("(forced-colors: active)").matches },
}`;

/** Returns what axe-core finds in the page, or in what a selector names; texts with a uid; and whether the page scrolls sideways. */
export async function findProblems(page: Page, within = ":root"): Promise<string[]> {
  // A target that the sticky header covers would be too small.
  await page.evaluate("scrollTo(0, 0)");
  await page.evaluate(axe());
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(within)}, { rules: ${rules} })`)) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  };
  const isWide = await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth");
  return [
    ...((await page.evaluate(findUids)) as string[]),
    ...violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`),
    ...(isWide ? ["scrolls sideways"] : []),
  ];
}
