// An emulator: a development server without samples, with a control API, issuers, faults, and a clock that moves forward.
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { systemClock } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import { type Server, startServer } from "../server.ts";
import type { ComposedServer } from "../start-hooks.ts";
import type { MovableClock } from "./clock.ts";
import { emulatorEndpoints } from "./control-api.ts";
import { Faults, withFaults } from "./faults.ts";
import { newIssuers } from "./issuers.ts";
import { newTenants } from "./tenants.ts";

/** A running emulator. */
export interface Emulator extends Pick<Server, "url" | "drain" | typeof Symbol.asyncDispose> {
  /** The token of the control API. */
  readonly adminToken: string;
}

/** Starts an emulator. The configuration must be that of a development server. */
export async function startEmulator(config: Config, log: Logger, clock: MovableClock): Promise<Emulator> {
  const adminToken = randomBytes(32).toString("base64url");
  const { baseUrl, domain } = config;
  const faults = new Faults();
  const issuers = await newIssuers({ baseUrl, clock: systemClock });
  const started = Promise.withResolvers<Server>();
  const endpoints = (composed: ComposedServer) =>
    emulatorEndpoints({
      adminToken,
      domain,
      methods: composed.methods,
      tenants: newTenants({ ...composed, baseUrl, clock: systemClock, issuers }),
      issuers,
      faults,
      clock,
      catchUp: async () => await (await started.promise).catchUp(),
    });
  const hooks = { endpoints, surround: withFaults(faults), opensRegistryKeyLate: true };
  const server = await startServer({ ...config, staysLocal: true }, log, systemClock, hooks);
  started.resolve(server);
  return {
    adminToken,
    url: server.url,
    drain: server.drain,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
