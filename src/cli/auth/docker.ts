// Container tools sign in with this machine's token: they ask a helper, and the helper asks us.
import { homedir } from "node:os";
import path from "node:path";
import { tokenUser } from "../../registry/token-user.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, failureText, wrongUsage } from "../failure.ts";
import { note } from "../shell.ts";
import { saveHelper, writeHelper } from "./docker-config.ts";
import { noRegistry } from "./pull-token.ts";

/** The flags of the command that installs the helper. */
export interface DockerFlags {
  readonly helperDir?: string;
  /** What the registry calls itself; its host when absent. */
  readonly audience?: string;
}

/** Installs the helper and names it in the configuration of container tools; says so when nobody is signed in for it. */
export async function configureDocker(session: Session, { helperDir, audience }: DockerFlags): Promise<void> {
  const { shell, config, url } = session;
  const host = config["platform.registry"];
  if (host === undefined) throw noRegistry();
  const folder = path.resolve(helperDir ?? path.join(shell.environment.HOME || homedir(), ".local", "bin"));
  const program = writeHelper(folder, url, audience ?? host);
  const file = saveHelper(shell, host);
  note(shell, `${file} names the credential helper ${program} for ${host}.`);
  if (!(shell.environment.PATH ?? "").split(path.delimiter).includes(folder)) {
    note(shell, `${folder} is not on the PATH: add it, or container tools will not find the helper.`);
  }
  await session.credentialFor(audience ?? host).catch((error) => {
    if (!(error instanceof CommandFailure)) throw error;
    note(shell, failureText(error));
  });
}

/** The credential helper itself: the action is an argument, the registry comes on standard input. */
export async function answerDocker(session: Session, action: string, audience: string | undefined): Promise<void> {
  const { stdin, stdout } = session.shell;
  let input = "";
  for await (const chunk of stdin) input += chunk;
  if (action === "list") stdout.write("{}\n");
  // Signing in and out is for `gatehouse auth`.
  if (action === "store" || action === "erase" || action === "list") return;
  if (action !== "get") throw wrongUsage(`a credential helper knows get, store, erase and list, not ${action}`);
  const server = input.trim();
  const host = URL.parse(server.includes("://") ? server : `https://${server}`)?.host;
  const registry = session.config["platform.registry"];
  // The token is for this one registry: whoever can start the helper must not have it sent elsewhere.
  if (host === undefined || registry === undefined || !isPartOf(host, registry)) {
    // The words by which container tools know that there is nothing here.
    stdout.write("credentials not found in native keychain\n");
    throw new CommandFailure(`${server} is not the registry of this server`);
  }
  const { token } = await session.credentialFor(audience ?? registry).catch((error) => {
    // What container tools show of a helper that failed is what it printed here.
    if (error instanceof CommandFailure) stdout.write(`${failureText(error)}\n`);
    throw error;
  });
  stdout.write(`${JSON.stringify({ ServerURL: server, Username: tokenUser, Secret: token })}\n`);
}

/** Subdomains of a registry take the tokens of the registry. */
function isPartOf(host: string, registry: string): boolean {
  return host === registry || host.endsWith(`.${registry}`);
}
