// Periodic work of a server.
import type { Logger } from "pino";
import type { KeyRing } from "../authn/key-ring.ts";
import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/config.ts";
import { registryLimits } from "../registry/limits.ts";
import type { Database } from "../storage/database.ts";
import { type RetentionPolicy, sweep } from "../storage/sweep.ts";
import { limits } from "./limits.ts";

/** Starts to reload the signing keys and to delete expired rows periodically, until the server stops. */
export function startMaintenance(
  database: Database,
  keys: KeyRing,
  keeping: RetentionPolicy,
  { clock, log, draining }: { clock: Clock; log: Logger; draining: AbortSignal },
): void {
  // Logged once per failure, not at every attempt.
  let isUnread = false;
  const refresher = setInterval(async () => {
    try {
      await keys.refresh();
      isUnread = false;
    } catch (error) {
      if (!isUnread) log.warn({ err: error }, "signing keys could not be read");
      isUnread = true;
    }
  }, limits.keyRefreshMs);
  // One sweep at a time: after a pause, a sweep may take longer than the interval.
  let isSweeping = false;
  const sweeper = setInterval(async () => {
    if (isSweeping) return;
    isSweeping = true;
    try {
      const context = { actor: "", method: "sweep", requestId: "", time: clock() };
      await sweep(database, context, keeping, draining);
    } catch (error) {
      log.warn({ err: error }, "what has expired could not be removed");
    }
    isSweeping = false;
  }, limits.sweepMs);
  draining.addEventListener("abort", () => {
    clearInterval(refresher);
    clearInterval(sweeper);
  });
}

/** Returns the retention of rows by the configuration. */
export function keepingOf({ changesKeptMs, accessLogKeptMs }: Config): RetentionPolicy {
  return {
    registryEventMs: registryLimits.notificationMemoryMs,
    eventMs: limits.eventMemoryMs,
    retiredKeyMs: limits.retiredKeyMemoryMs,
    changeMs: changesKeptMs,
    accessMs: accessLogKeptMs,
  };
}
