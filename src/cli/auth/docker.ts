// Container tools sign in with this machine's token: they ask a helper, and the helper asks us.
import { homedir } from "node:os";
import path from "node:path";
import { tokenUser } from "../../registry/token-user.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, wrongUsage } from "../failure.ts";
import { note } from "../shell.ts";
import { saveHelper, writeHelper } from "./docker-config.ts";
import { noRegistry } from "./pull-token.ts";

/** Installs the helper and names it in the configuration of container tools. */
export function configureDocker(session: Session, { helperDir }: { readonly helperDir?: string }): void {
  const { shell, config } = session;
  const host = config["platform.registry"];
  if (host === undefined) throw noRegistry();
  const folder = path.resolve(helperDir ?? path.join(shell.environment.HOME || homedir(), ".local", "bin"));
  const program = writeHelper(folder, session);
  const file = saveHelper(shell, host);
  note(shell, `${file} names the credential helper ${program} for ${host}.`);
  if (!(shell.environment.PATH ?? "").split(path.delimiter).includes(folder)) {
    note(shell, `${folder} is not on the PATH: add it, or container tools will not find the helper.`);
  }
}

/** The credential helper itself: the action is an argument, the registry comes on standard input. */
export async function answerDocker(session: Session, action: string): Promise<void> {
  const { stdin, stdout } = session.shell;
  let input = "";
  for await (const chunk of stdin) input += chunk;
  if (action === "list") stdout.write("{}\n");
  // Signing in and out is for `gatehouse auth`.
  if (action === "store" || action === "erase" || action === "list") return;
  if (action !== "get") throw wrongUsage(`a credential helper knows get, store, erase and list, not ${action}`);
  const server = input.trim();
  const host = URL.parse(server.includes("://") ? server : `https://${server}`)?.host;
  // The token is for this one registry: whoever can start the helper must not have it sent elsewhere.
  if (host === undefined || host !== session.config["platform.registry"]) {
    // The words by which container tools know that there is nothing here.
    stdout.write("credentials not found in native keychain\n");
    throw new CommandFailure(`${server} is not the registry of this server`);
  }
  const { token } = await session.credential();
  stdout.write(`${JSON.stringify({ ServerURL: server, Username: tokenUser, Secret: token })}\n`);
}
