// The process of an emulator.
import { type ChildProcess, spawn } from "node:child_process";

/** How long an emulator may take to start, in milliseconds: the first start after an installation compiles the program. */
const startTimeoutMs = 60_000;

/** How long it may take to stop before it is killed, in milliseconds. */
const stopTimeoutMs = 10_000;

/** The line that an emulator prints once it serves. */
export interface EmulatorAddress {
  /** For example http://127.0.0.1:41873. */
  readonly url: string;
  /** The issuer of its tokens. */
  readonly issuer: string;
  /** The token of its control API. */
  readonly adminToken: string;
  readonly pid: number;
}

/** A running emulator. */
export interface EmulatorProcess {
  readonly address: EmulatorAddress;
  /** Stops it, and resolves once it has ended. */
  stop(): Promise<void>;
}

/** Starts an emulator. Rejects if the program is missing or does not start. */
export async function startProcess(command: readonly string[]): Promise<EmulatorProcess> {
  const [program = "", ...args] = command;
  // Its warnings belong to the output of the test.
  const child = spawn(program, [...args, "emulator"], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address: EmulatorAddress = JSON.parse(await readLine(child));
    // A test that does not stop it ends nevertheless, and the emulator after it.
    child.unref();
    (child.stdout as unknown as { unref(): void }).unref();
    return { address, stop: () => stop(child) };
  } catch (error) {
    child.kill("SIGKILL");
    throw startError(error, program);
  }
}

function readLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const timer = setTimeout(() => reject(new Error(`no line within ${startTimeoutMs / 1000} s`)), startTimeoutMs);
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`it ended with ${signal ?? `exit code ${code}`}`)));
    child.once("close", () => clearTimeout(timer));
    child.stdout?.on("data", (chunk) => {
      text += chunk;
      const end = text.indexOf("\n");
      if (end < 0) return;
      clearTimeout(timer);
      resolve(text.slice(0, end));
    });
  });
}

function startError(error: unknown, program: string): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const remedy = 'startEmulator({ command: ["/path/to/gatehouse"] }) names another';
  if (code === "ENOENT") return new Error(`there is no program ${program}; ${remedy}`, { cause: error });
  return new Error(`${program} emulator did not start: ${message}`, { cause: error });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  // The process that waits must not end before.
  child.ref();
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}
