// A server of one version as a process, one of several on the same database.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { environmentOf } from "../cli/process.ts";
import { otherAudience } from "./exchanges.ts";
import type { Version } from "./versions.ts";

const startTimeoutMs = 60_000;

/** The database and addresses by which the servers of a test find each other. */
export interface Installation {
  readonly databaseUrl: string;
  readonly baseUrl: string;
  /** The key of encryption at rest. */
  readonly secretsKey: string;
}

/** A running server. Disposing of it ends it without draining. */
export interface Replica extends Disposable {
  readonly address: string;
  /** Returns a token of the owner of the sample organization, for any server of the database. */
  ownerToken(): string;
  /** Drains the server by SIGTERM, and returns its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a server at an address, and waits until it is ready. */
export async function startReplica(version: Version, place: Installation, address: string): Promise<Replica> {
  const dataDir = mkdtempSync(path.join(tmpdir(), "gatehouse-upgrade-"));
  const settings = [
    ["database-url", place.databaseUrl],
    ["base-url", place.baseUrl],
    ["data-dir", dataDir],
    ["listen", address],
    ["event-delivery", "off"],
    ["audiences", otherAudience],
    ["log-level", "warn"],
  ].flatMap(([name, value]) => [`--${name}`, value!]);
  const program = path.join(version.folder, "src/gatehouse.js");
  const child = spawn(process.execPath, [program, "serve", "--dev", ...settings], {
    stdio: ["ignore", "ignore", "pipe"],
    env: environmentOf({ GATEHOUSE_SECRETS_KEY: place.secretsKey }),
  });
  let log = "";
  child.stderr.on("data", (chunk) => {
    log += chunk;
  });
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const end = () => {
    child.kill("SIGKILL");
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await Promise.race([
      waitUntilReady(address),
      ended.then((code) => Promise.reject(new Error(`it ended with ${code}`))),
    ]);
  } catch (error) {
    end();
    throw new Error(`${version.name} did not start; its log: ${log}`, { cause: error });
  }
  return {
    address,
    ownerToken: () => readFileSync(path.join(dataDir, "owner-token"), "utf8").trim(),
    stop() {
      child.kill("SIGTERM");
      return ended;
    },
    [Symbol.dispose]: end,
  };
}

async function waitUntilReady(address: string): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (performance.now() < deadline) {
    try {
      if ((await fetch(`http://${address}/readyz`)).ok) return;
    } catch {
      // It does not listen yet.
    }
    await setTimeout(50);
  }
  throw new Error(`no server was ready at ${address} within ${startTimeoutMs} ms`);
}
