// The user's home directory. A container that runs with an arbitrary uid has none.
import { homedir } from "node:os";
import { CommandFailure } from "../failure.ts";
import type { Shell } from "../shell.ts";

/** Returns the home directory; undefined without HOME and without an entry of the user in the system's list of users. */
export function findHome({ environment }: Pick<Shell, "environment">): string | undefined {
  if (environment.HOME) return environment.HOME;
  try {
    return homedir() || undefined;
  } catch {
    return undefined;
  }
}

/** Returns the home directory, or fails. `variables` are those that name the place without one. */
export function requireHome(shell: Pick<Shell, "environment">, variables: string): string {
  const home = findHome(shell);
  if (home !== undefined) return home;
  throw new CommandFailure("you have no home directory", { hint: `Set ${variables}.` });
}
