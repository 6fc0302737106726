// A server process, which tests kill, pause and give another clock.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Running, start } from "../cli/process.ts";
import { clockVariable, type PlantedFault, plantVariable } from "./planted-faults.ts";

const preload = new URL("./preload.ts", import.meta.url).href;

/** Options of a server process. */
export interface ReplicaOptions {
  readonly name: string;
  /** The arguments of `gatehouse`. */
  readonly args: readonly string[];
  readonly url: string;
  /** A directory for its clock. */
  readonly directory: string;
  readonly planted: PlantedFault | undefined;
}

/** A server process that can be started again. */
export class Replica implements AsyncDisposable {
  readonly name: string;
  readonly url: string;
  /** Counts the starts: a client must connect again after each. */
  generation = 0;
  readonly #options: ReplicaOptions;
  readonly #clockFile: string;
  #running: Running | undefined;

  constructor(options: ReplicaOptions) {
    this.name = options.name;
    this.url = options.url;
    this.#options = options;
    this.#clockFile = path.join(options.directory, `${options.name}.clock`);
    writeFileSync(this.#clockFile, "0");
  }

  /** Starts the process, and waits until it listens. Tries again while the database cannot be reached. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      this.#running = start(this.#options.args, this.#environment());
      try {
        await this.#running.said(/listens on/);
        this.generation++;
        return;
      } catch (error) {
        if (tries >= 20) throw error;
      }
    }
  }

  /** Ends the process at once. */
  async kill(): Promise<void> {
    this.#running?.child.kill("SIGKILL");
    await this.#running?.finished;
  }

  /** Ends one of its workers at once, which the primary replaces. They are numbered from 0 in the order of their starts. */
  killWorker(index: number): void {
    const worker = this.#workers()[index];
    // It may not be replaced yet.
    if (worker === undefined) return;
    process.kill(worker, "SIGKILL");
    this.generation++;
  }

  /** Stops one of its workers from running for a while. */
  async pauseWorker(index: number, ms: number): Promise<void> {
    const worker = this.#workers()[index];
    if (worker === undefined) return;
    process.kill(worker, "SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, ms));
    process.kill(worker, "SIGCONT");
  }

  /** Stops the process from running for a while, as a virtual machine that is moved. */
  async pause(ms: number): Promise<void> {
    this.#signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#signal("SIGCONT");
  }

  /** Makes the clock of the process differ from that of the machine. It keeps the difference when it is started again. */
  skewClock(ms: number): void {
    writeFileSync(this.#clockFile, String(ms));
    this.#signal("SIGUSR2");
  }

  /** Returns the log of a process that ended by itself; undefined if none did. */
  async logOfCrash(): Promise<string | undefined> {
    const child = this.#running?.child;
    if (!this.#running || child?.signalCode || child?.exitCode === null) return undefined;
    return (await this.#running.finished).stderr.slice(-4000);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#clockFile, { force: true });
  }

  /** Signals all processes of the server. */
  #signal(signal: NodeJS.Signals): void {
    for (const worker of this.#workers()) process.kill(worker, signal);
    this.#running?.child.kill(signal);
  }

  /** Returns the process ids of its workers; none if it is one process. */
  #workers(): readonly number[] {
    const pid = this.#running?.child.pid;
    return (readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").match(/\d+/g) ?? []).map(Number);
  }

  #environment(): Record<string, string> {
    const { planted } = this.#options;
    return {
      NODE_OPTIONS: `--import=${preload}`,
      [clockVariable]: this.#clockFile,
      ...(planted && { [plantVariable]: planted }),
    };
  }
}
