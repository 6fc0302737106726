// The credential helper of container tools (https://github.com/docker/docker-credential-helpers). The action is an
// argument, and its input is standard input. Container tools display what a failed helper printed on standard output.

import { tokenUser } from "../../authn/basic.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { Credential } from "../client/credential.ts";
import type { Session } from "../client/session.ts";
import { openTokenCache } from "../client/token-cache.ts";
import { CommandFailure, failureText, wrongUsage } from "../failure.ts";

/** Runs an action, and returns its output. */
type Action = (session: Session, audience: string | undefined) => Promise<string>;

const actions: Readonly<Record<string, Action>> = { get, store, erase, list, version: async () => versionText };

const versionText = `docker-credential-gatehouse (gatehouse) v${version}`;

/** Runs one action of the helper, for the registry of the session's server only. */
export async function answerDocker(session: Session, action: string, audience: string | undefined): Promise<void> {
  const run = Object.hasOwn(actions, action) ? actions[action] : undefined;
  if (!run) throw wrongUsage(`a credential helper knows ${Object.keys(actions).join(", ")}, not ${action}`);
  const { stdout } = session.shell;
  try {
    const text = await run(session, audience);
    if (text !== "") stdout.write(`${text}\n`);
  } catch (error) {
    if (error instanceof UnknownRegistry) stdout.write("credentials not found in native keychain\n");
    else if (error instanceof CommandFailure) stdout.write(`${failureText(error)}\n`);
    throw error;
  }
}

/** A registry that the helper has no credentials for. Container tools recognize the text that answerDocker prints. */
class UnknownRegistry extends CommandFailure {}

async function get(session: Session, audience: string | undefined): Promise<string> {
  const server = await readServer(session);
  const { token } = await session.credentialFor(audienceOf(session, server, audience));
  return JSON.stringify({ ServerURL: server, Username: tokenUser, Secret: token });
}

/**
 * `docker login` stores the credentials it used, which may be the token that `get` returned. The helper stores nothing
 * else.
 */
async function store(session: Session, audience: string | undefined): Promise<string> {
  const { server, user, secret } = parseCredentials(await readInput(session));
  const name = audienceOf(session, server, audience);
  if (user === tokenUser && secret === (await findKept(session, name))?.token) return "";
  throw new CommandFailure(`the credential helper cannot store a password for ${server}`, {
    hint: `Sign in with \`gatehouse auth login --audience ${name}\`. The helper then gives container tools the token.`,
  });
}

/** `docker logout`: removes the token from the token cache. */
async function erase(session: Session, audience: string | undefined): Promise<string> {
  const server = await readServer(session);
  const name = audienceOf(session, server, audience);
  const kept = await findKept(session, name);
  if (!kept) return "";
  const cache = openTokenCache(session.shell, name);
  if (kept.source !== cache.pathOf("oidc-token"))
    throw new CommandFailure(`the credential helper cannot remove the token for ${server}, which is in ${kept.source}`);
  cache.clear();
  return "";
}

async function list(session: Session, audience: string | undefined): Promise<string> {
  const registry = session.config["platform.registry"];
  const kept = registry === undefined ? undefined : await findKept(session, audience ?? registry);
  return JSON.stringify(registry === undefined || kept === undefined ? {} : { [registry]: tokenUser });
}

/** Returns the unexpired token for an audience, or undefined. */
async function findKept(session: Session, audience: string): Promise<Credential | undefined> {
  return await session.credentialFor(audience).catch((error) => {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  });
}

/**
 * Returns the audience of the token for a registry. Fails for another registry: the caller must not send the token
 * there.
 */
function audienceOf({ config }: Session, server: string, audience: string | undefined): string {
  const host = URL.parse(server.includes("://") ? server : `https://${server}`)?.host;
  const registry = config["platform.registry"];
  if (host === undefined || registry === undefined || !isPartOf(host, registry))
    throw new UnknownRegistry(`${server} is not the registry of this server`);
  return audience ?? registry;
}

/** Subdomains of a registry accept the registry's tokens. */
function isPartOf(host: string, registry: string): boolean {
  return host === registry || host.endsWith(`.${registry}`);
}

async function readServer(session: Session): Promise<string> {
  return (await readInput(session)).trim();
}

async function readInput({ shell }: Session): Promise<string> {
  let input = "";
  for await (const chunk of shell.stdin) input += chunk;
  return input;
}

function parseCredentials(text: string): { readonly server: string; readonly user: string; readonly secret: string } {
  const { ServerURL, Username, Secret } = parseObject(text);
  if (typeof ServerURL === "string" && typeof Username === "string" && typeof Secret === "string")
    return { server: ServerURL, user: Username, secret: Secret };
  throw new CommandFailure("standard input must be a JSON object with ServerURL, Username and Secret");
}

function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
