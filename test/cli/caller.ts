// The program as a client of a server of the tests, with a home of its own: it reads no file of the developer.
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startTestServer, type TestServer, type TestServerOptions } from "../harness/server.ts";
import { dataDirectory, type Finished } from "./process.ts";
import { runInTurn } from "./resident.ts";

/** A server, and a person with a shell. */
export interface Caller extends AsyncDisposable {
  readonly server: TestServer;
  /** The home directory. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command as the owner. */
  run(...args: readonly string[]): Promise<Finished>;
  /** Runs a command with other variables; an empty one counts as unset. */
  runWith(environment: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Finished>;
  /** Runs a command as the owner and answers its JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the test is about
  json(...args: readonly string[]): Promise<any>;
}

/** Starts both. */
export async function startCaller(options: TestServerOptions = {}): Promise<Caller> {
  const server = await startTestServer(options);
  const folder = dataDirectory();
  const home = folder.path;
  const environment = {
    ...homeEnvironment(home),
    GATEHOUSE_URL: server.url,
    GATEHOUSE_TOKEN: server.ownerToken,
  };
  const runWith = (other: Readonly<Record<string, string>>, ...args: readonly string[]) =>
    runInTurn(args, { ...environment, ...other });
  return {
    server,
    home,
    environment,
    runWith,
    run: (...args) => runWith({}, ...args),
    async json(...args) {
      const { code, stdout, stderr } = await runWith({}, ...args, "-o", "json");
      if (code !== 0) throw new Error(`gatehouse ${args.join(" ")} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Creates the identity of a workload `ci` with the role viewer, whose tokens this issuer signs, and returns its uid. */
export async function createWorkload(caller: Caller, issuer: string): Promise<string> {
  const place = ["--parent", "example.org", "--role", "viewer"];
  const claims = ["--identity-issuer", issuer, "--subject", "ci"];
  return (await caller.json("iam", "identities", "create", "ci", ...place, ...claims)).uid;
}

/** Returns the variables of a home directory without anything in it. */
export function homeEnvironment(home: string): Record<string, string> {
  return {
    HOME: home,
    XDG_CACHE_HOME: path.join(home, "cache"),
    XDG_CONFIG_HOME: path.join(home, "config"),
    GATEHOUSE_DATA_DIR: path.join(home, "data"),
  };
}

/** Returns the path at which the token cache keeps a token for an audience. */
export function cachePath(home: string, audience: string, kind = "oidc-token"): string {
  return path.join(home, "cache", "chainguard", audience.replaceAll("/", "-"), kind);
}

/** Puts a token where the platform's SDK would. */
export function writeCache(home: string, audience: string, token: string, kind = "oidc-token"): void {
  const file = cachePath(home, audience, kind);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, token);
}

/** Returns a token that says what is given and that nobody signed. */
export function unsigned(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256", kid: "x" })}.${part(claims)}.AAAA`;
}
