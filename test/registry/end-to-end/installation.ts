// Gatehouse and docker-registry as processes, each the other's service, on free ports and in one folder.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { homeEnvironment } from "../../cli/caller.ts";
import { type Finished, type Running, run, start } from "../../cli/process.ts";
import { sending } from "../../events/sink.ts";
import { freePort } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { certificate } from "../../transport/certificate.ts";

/** The time to wait for something that happens by itself, in milliseconds. */
export const patienceMs = 30_000;

/** The name of the registry in tokens. */
export const service = "registry.example.org";

const secret = "of this test and of nothing else";

/** Returns a program of Debian, or the name of its package when it is not there. */
export function findMissing(): string[] {
  const programs = { "docker-registry": "docker-registry", skopeo: "skopeo" };
  return Object.entries(programs).flatMap(([program, name]) =>
    spawnSync(program, ["--version"], { stdio: "ignore" }).error ? [name] : [],
  );
}

/** Both programs and their users. */
export interface Installation extends AsyncDisposable {
  readonly folder: string;
  readonly url: string;
  /** The host and port of the registry. */
  readonly registry: string;
  /** The group that names in the registry are paths below. */
  readonly group: string;
  /** Returns the owner's token for the API, and the one for the registry. */
  ownerToken(): string;
  registryToken(): string;
  /** Starts or stops one of the two; a registry that is stopped forgets what it had still to tell. */
  startGatehouse(): Promise<void>;
  stopGatehouse(): Promise<void>;
  /** Ends Gatehouse as a crash does. */
  killGatehouse(): Promise<void>;
  startRegistry(): Promise<void>;
  stopRegistry(): Promise<void>;
  /** Calls the API as the owner. */
  // biome-ignore lint/suspicious/noExplicitAny: responses are untyped JSON
  call(method: string, path: string, body?: unknown): Promise<any>;
  /** Runs skopeo in the home of the owner, whose programs are in `bin` of the folder. */
  skopeo(...args: readonly string[]): Finished;
  /** Runs gatehouse as the owner. */
  gatehouse(...args: readonly string[]): Promise<Finished>;
}

/** Starts both. */
export async function startInstallation(): Promise<Installation> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-registry-"));
  const data = path.join(folder, "data");
  const [port, registryPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const registry = `127.0.0.1:${registryPort}`;
  const home = homeEnvironment(folder);
  let gatehouse: Running | undefined;
  let distribution: Distribution | undefined;
  let group = "";

  const installation: Installation = {
    folder,
    url,
    registry,
    get group() {
      return group;
    },
    ownerToken: () => readFileSync(path.join(data, "owner-token"), "utf8"),
    registryToken: () => readFileSync(path.join(data, "owner-registry-token"), "utf8"),
    async startGatehouse() {
      const flags = ["serve", "--dev", "--data-dir", data, "--listen", `127.0.0.1:${port}`, "--log-level", "warn"];
      const settings = {
        GATEHOUSE_REGISTRY_SERVICE: service,
        GATEHOUSE_REGISTRY_GROUP: group,
        GATEHOUSE_REGISTRY_URL: `http://${registry}`,
        GATEHOUSE_REGISTRY_NOTIFICATION_SECRET: secret,
        // Events go to a sink of this machine.
        GATEHOUSE_PRIVATE_SINK_NETWORKS: sending.privateSinkNetworks,
        NODE_EXTRA_CA_CERTS: path.join(folder, "sink.pem"),
      };
      gatehouse = start(flags, settings);
      await gatehouse.said(/owner-token/);
    },
    async stopGatehouse() {
      gatehouse?.child.kill("SIGTERM");
      await gatehouse?.finished;
      gatehouse = undefined;
    },
    async killGatehouse() {
      gatehouse?.child.kill("SIGKILL");
      await gatehouse?.finished;
      gatehouse = undefined;
    },
    async startRegistry() {
      distribution = await startDistribution(path.join(folder, "config.yml"), `http://${registry}/v2/`);
    },
    async stopRegistry() {
      await distribution?.stop();
      distribution = undefined;
    },
    async call(method, target, body) {
      const reply = await rest(url, installation.ownerToken(), method, target, body);
      if (reply.status !== 200) throw new Error(`${method} ${target}: ${JSON.stringify(reply.body)}`);
      return reply.body;
    },
    skopeo(...args) {
      const PATH = [path.join(folder, "bin"), process.env.PATH].join(path.delimiter);
      const env = { ...process.env, ...home, PATH, XDG_RUNTIME_DIR: folder };
      const { status, stdout, stderr } = spawnSync("skopeo", ["--insecure-policy", ...args], { env, encoding: "utf8" });
      return { code: status, stdout, stderr };
    },
    gatehouse: (...args) => run(args, { ...home, GATEHOUSE_URL: url }),
    async [Symbol.asyncDispose]() {
      await installation.stopRegistry();
      await installation.stopGatehouse();
      rmSync(folder, { recursive: true, force: true });
    },
  };

  async function startBoth(): Promise<void> {
    writeFileSync(path.join(folder, "sink.pem"), certificate);
    await installation.startGatehouse();
    const { groups } = await installation.call("GET", "/iam/v2beta1/groups?name=example.org");
    ({ uid: group } = await installation.call("POST", `/iam/v2beta1/groups/${groups[0].uid}`, { name: "registry" }));
    // Names are read below the group from the next start on.
    await installation.stopGatehouse();
    await installation.startGatehouse();
    writeFileSync(path.join(folder, "gatehouse.pem"), await (await fetch(`${url}/token/certificate.pem`)).text());
    writeFileSync(path.join(folder, "jwks.json"), await (await fetch(`${url}/token/jwks.json`)).text());
    writeFileSync(path.join(folder, "config.yml"), registryConfig(folder, url, registry));
    await installation.startRegistry();
  }

  try {
    await startBoth();
  } catch (error) {
    await installation[Symbol.asyncDispose]();
    throw error;
  }
  return installation;
}

/** docker-registry as a process. */
interface Distribution {
  /** Stops it, unless it has ended by itself. */
  stop(): Promise<void>;
}

/** Starts docker-registry. Throws an Error with what it said when it does not come to ask for a sign-in. */
async function startDistribution(config: string, url: string): Promise<Distribution> {
  const child = spawn("docker-registry", ["serve", config], { stdio: ["ignore", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const closed = once(child, "close");
  const stop = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  const patience = AbortSignal.timeout(patienceMs);
  while (child.exitCode === null && child.signalCode === null && !patience.aborted) {
    const reply = await fetch(url, { signal: patience }).catch(() => undefined);
    if (reply?.status === 401) return { stop };
    await setTimeout(50);
  }
  await stop();
  throw new Error(`docker-registry does not ask for a sign-in: ${stderr}`);
}

/** JSON is YAML, too. */
function registryConfig(folder: string, url: string, address: string): string {
  // Under the name that crane and oras want, as the README has it.
  const realm = `${url.replace("127.0.0.1", "localhost")}/token`;
  // Distribution 2 reads the certificate, and Distribution 3 the key set.
  const keys = { rootcertbundle: path.join(folder, "gatehouse.pem"), jwks: path.join(folder, "jwks.json") };
  const token = { realm, service, issuer: url, ...keys };
  const endpoint = {
    name: "gatehouse",
    url: `${url}/registry/notifications`,
    headers: { Authorization: [`Bearer ${secret}`] },
    timeout: "2s",
    threshold: 3,
    backoff: "1s",
    ignoredmediatypes: ["application/octet-stream"],
  };
  return JSON.stringify({
    version: "0.1",
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: path.join(folder, "registry") }, delete: { enabled: true } },
    http: { addr: address, secret: "s" },
    auth: { token },
    notifications: { endpoints: [endpoint] },
  });
}
