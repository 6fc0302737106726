// Commands on a terminal, which script(1) of util-linux makes.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { type Caller, homeEnvironment } from "./caller.ts";
import { dataDirectory, environmentOf, launcher } from "./process.ts";

/** The reason why there is no terminal here; false if there is one. */
export const noTerminal =
  (process.platform !== "linux" || spawnSync("script", ["--version"]).status !== 0) &&
  "there is no program script of util-linux";

/** The result of a command on a terminal. */
export interface TerminalRun {
  readonly code: number | null;
  /** The contents of the terminal. */
  readonly shown: string;
  /** Whether the modes of the terminal are those from before. */
  readonly restored: boolean;
}

/** A question, and the keys that answer it. */
export interface Dialog {
  readonly question: RegExp;
  readonly keys: string;
  /** Happens while the user thinks. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Runs a command as the owner on a terminal. Without a dialog nobody types anything. */
export async function runOnTerminal(
  caller: Caller,
  args: readonly string[],
  { dialog, variables = {} }: { dialog?: Dialog; variables?: Record<string, string> } = {},
): Promise<TerminalRun> {
  using folder = dataDirectory();
  const [before, after] = ["before", "after"].map((name) => path.join(folder.path, name));
  const command = [process.execPath, launcher, ...args].map((word) => `'${word}'`).join(" ");
  const line = `stty -g >${before}; ${command}; code=$?; stty -g >${after}; exit $code`;
  const env = environmentOf({
    ...homeEnvironment(folder.path),
    GATEHOUSE_URL: caller.server.url,
    GATEHOUSE_TOKEN: caller.server.ownerToken,
    TERM: "xterm",
    ...variables,
  });
  // The server is in this process, which must not block.
  const child = spawn("script", ["-qec", line, "/dev/null"], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
    timeout: 60_000,
  });
  let shown = "";
  let isAnswered = false;
  child.stdout.on("data", (text) => {
    shown += text;
    // readline moves the cursor around the question.
    if (isAnswered || !dialog?.question.test(stripVTControlCharacters(shown))) return;
    isAnswered = true;
    void Promise.resolve(dialog.meanwhile?.()).then(() => child.stdin.write(dialog.keys));
  });
  if (!dialog) child.stdin.end();
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const restored = readFileSync(before!, "utf8") === readFileSync(after!, "utf8");
  return { code, shown: shown.replaceAll("\r\n", "\n"), restored };
}
