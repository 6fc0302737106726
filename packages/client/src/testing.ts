// Emulators for tests. Each is a server of its own, with its own keys, data and clock.
import type { GatehouseClient } from "./client.ts";
import { type EmulatorAddress, startProcess } from "./emulator-process.ts";
import { type NodeClientOptions, openClient } from "./node.ts";
import { type Clock, cachedToken, type TokenSource } from "./tokens.ts";

export type { EmulatorAddress } from "./emulator-process.ts";

/** The options of an emulator. */
export interface EmulatorOptions {
  /** The program and its first arguments; `gatehouse` on the PATH by default. */
  readonly command?: readonly string[];
}

/** The options of a client of an emulator. */
export type EmulatorClientOptions = Omit<NodeClientOptions, "url" | "clock">;

/** A running emulator. Disposing stops it, and closes its clients. */
export interface Emulator extends EmulatorAddress, AsyncDisposable {
  /** The clock of the emulator. */
  readonly clock: Clock;
  /** Makes a tenant: an organization that knows of no other. `client` has the options of the owner's client. */
  tenant(options?: {
    readonly name?: string;
    readonly client?: Omit<EmulatorClientOptions, "tokens">;
  }): Promise<Tenant>;
  /** Opens a client by whose clock tokens expire when they do on the emulator. */
  openClient(options?: EmulatorClientOptions): GatehouseClient;
  /** Moves the clock of the emulator forward, and deletes what has expired by then. */
  advance(byMs: number): Promise<void>;
  stop(): Promise<void>;
}

/** The kinds of issuers of a tenant. */
export type IssuerKind = "github" | "gitlab" | "kubernetes" | "generic";

/** A tenant of an emulator. */
export interface Tenant {
  readonly groupUid: string;
  /** The identity that owns the organization. */
  readonly ownerUid: string;
  /** The addresses of its issuers, for the trust of identities. */
  readonly issuers: Readonly<Record<IssuerKind, string>>;
  /** A client of the owner. */
  readonly client: GatehouseClient;
  /** API tokens of the owner. */
  readonly ownerToken: TokenSource;
  /** Returns tokens of an issuer, as the `subject` of `exchangedToken`. The claims replace those of a usual job or pod; null removes one. */
  issuedToken(kind: IssuerKind, claims?: Readonly<Record<string, unknown>>): TokenSource;
  /** Adds a fault, which the next calls of the tenant meet. */
  addFault(fault: Fault): Promise<void>;
  /** Returns the faults that still wait for calls. */
  faults(): Promise<readonly Required<Pick<Fault, "method" | "effect" | "times">>[]>;
  clearFaults(): Promise<void>;
}

/** A fault. */
export interface Fault {
  /** The full name of a method, such as chainguard.platform.iam.v2beta1.GroupsService/CreateGroup; `*` for all. */
  readonly method: string;
  /** Rejects a call with UNAVAILABLE before or after it is executed, cuts its connection afterwards, or delays it. */
  readonly effect: "unavailable_before" | "unavailable_after" | "drop_after" | "delay";
  /** How many calls meet it; 1 by default. */
  readonly times?: number;
  /** The delay; a second by default. */
  readonly delayMs?: number;
}

/** Starts an emulator: `await using emulator = await startEmulator();` */
export async function startEmulator({ command = ["gatehouse"] }: EmulatorOptions = {}): Promise<Emulator> {
  const { address, stop: stopProcess } = await startProcess(command);
  const control = newControl(address);
  const clients: GatehouseClient[] = [];
  let aheadMs = 0;
  const clock = () => Date.now() + aheadMs;
  const open = (options: EmulatorClientOptions = {}) => {
    const client = openClient({ ...options, url: address.url, clock });
    clients.push(client);
    return client;
  };
  const stop = async () => {
    for (const client of clients.splice(0)) client.close();
    await stopProcess();
  };
  return {
    ...address,
    clock,
    async tenant({ name, client = {} } = {}) {
      const made: MadeTenant = await control("POST", "/emulator/v1/tenants", { name });
      const ownerToken = ownerTokenOf(control, made.tenant, clock);
      return { ...tenantOf(control, made), ownerToken, client: open({ ...client, tokens: ownerToken }) };
    },
    openClient: open,
    async advance(byMs) {
      const { ahead } = await control("POST", "/emulator/v1/clock", { advance: durationOf(byMs) });
      aheadMs = Number.parseFloat(ahead) * 1000;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Sends a request to the control API, and returns the response. */
// biome-ignore lint/suspicious/noExplicitAny: responses are JSON of an emulator of the same version
type Control = (method: string, path: string, body?: object) => Promise<any>;

type MadeTenant = Pick<Tenant, "groupUid" | "ownerUid" | "issuers"> & { readonly tenant: string };

function newControl({ url, adminToken }: EmulatorAddress): Control {
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  return async (method, path, body) => {
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    const result = (await response.json()) as { readonly message?: string };
    if (!response.ok) throw new Error(`the emulator rejected ${method} ${path}: ${result.message}`);
    return result;
  };
}

function ownerTokenOf(control: Control, tenant: string, clock: Clock): TokenSource {
  return cachedToken(async () => {
    const { token, expireTime } = await control("POST", `/emulator/v1/tenants/${tenant}:token`);
    return { token, expiresAt: Date.parse(expireTime) };
  }, clock);
}

function tenantOf(
  control: Control,
  { tenant, groupUid, ownerUid, issuers }: MadeTenant,
): Omit<Tenant, "client" | "ownerToken"> {
  const faultsPath = `/emulator/v1/tenants/${tenant}/faults`;
  return {
    groupUid,
    ownerUid,
    issuers,
    issuedToken(kind, claims = {}) {
      const issue = async (): Promise<string> =>
        (await control("POST", `/emulator/issuers/${tenant}/${kind}:token`, { claims })).token;
      return { current: issue, renewed: issue };
    },
    async addFault({ delayMs, ...fault }) {
      await control("POST", faultsPath, { ...fault, ...(delayMs !== undefined && { delay: durationOf(delayMs) }) });
    },
    faults: async () => (await control("GET", faultsPath)).faults,
    clearFaults: async () => void (await control("DELETE", faultsPath)),
  };
}

/** Writes a duration as Protobuf does. */
function durationOf(ms: number): string {
  return `${ms / 1000}s`;
}
