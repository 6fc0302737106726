// The wait for a user who signs in elsewhere.
import { CommandFailure } from "../failure.ts";
import { note, type Shell } from "../shell.ts";

/** How long to wait for the user, in milliseconds. */
const patienceMs = 15 * 60_000;
/** How often a pipe gets a line: only a write shows whether anybody still reads it. */
const signOfLifeMs = 10_000;

/** A wait; its signal aborts with the failure to report. */
export interface Waiting extends Disposable {
  readonly signal: AbortSignal;
}

/** Starts a wait, which ends after 15 minutes, or once nobody reads the address to open (EPIPE), as with `| head -1`. */
export function startWaiting(shell: Shell): Waiting {
  const { stderr } = shell;
  const aborting = new AbortController();
  const end = (message: string) => aborting.abort(new CommandFailure(message));
  const onError = ({ code }: NodeJS.ErrnoException) => {
    if (code === "EPIPE" || code === "ECONNRESET") end("nobody reads the address to sign in at");
  };
  stderr.on("error", onError);
  const until = Date.now() + patienceMs;
  const timer = setTimeout(() => end("nobody signed in within 15 minutes"), patienceMs);
  const sayHowLong = () =>
    note(shell, `Waiting for the sign-in, ${Math.ceil((until - Date.now()) / 60_000)} min more.`);
  const signs = stderr.isTTY ? undefined : setInterval(sayHowLong, signOfLifeMs);
  return {
    signal: aborting.signal,
    [Symbol.dispose]() {
      clearTimeout(timer);
      clearInterval(signs);
      stderr.off("error", onError);
    },
  };
}
