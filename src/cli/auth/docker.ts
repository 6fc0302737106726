// Sets up container tools to sign in with the user's token: they call a credential helper, which runs `auth docker-
// credential`.
import path from "node:path";
import { requireHome } from "../client/home.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure, failureText } from "../failure.ts";
import { note } from "../shell.ts";
import { saveHelper, writeHelper } from "./docker-config.ts";
import { noRegistry } from "./pull-token.ts";

/** The flags of the command that installs the helper. */
export interface DockerFlags {
  readonly helperDir?: string;
  /** The registry's service name. Defaults to its host. */
  readonly audience?: string;
}

/** Installs the helper and configures container tools. Prints a hint if no user is signed in for the registry. */
export async function configureDocker(session: Session, { helperDir, audience }: DockerFlags): Promise<void> {
  const { shell, config, url } = session;
  const host = config["platform.registry"];
  if (host === undefined) throw noRegistry();
  const folder = path.resolve(
    helperDir ?? path.join(requireHome(shell, "HOME, or name a directory with --helper-dir"), ".local", "bin"),
  );
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
