import {
  driverCode,
  StorageUnavailable,
  type Translation,
  translateWith,
  translations,
  withoutQuery,
} from "../errors.ts";

const { unique, reference, unavailable, readOnly, damaged } = translations;

/** The code of a statement that waited too long for a lock. */
export const lockTimeout = "55P03";

/** By code or class of codes of PostgreSQL (appendix A of its manual), or by code of the operating system. */
const byCode: Readonly<Record<string, Translation>> = {
  "23505": unique,
  "23503": reference,
  "25006": readOnly,
  "25P03": unavailable,
  "26000": pooled,
  "42P05": pooled,
  [lockTimeout]: unavailable,
  "08": unavailable,
  "40": unavailable,
  "53": unavailable,
  "57": unavailable,
  "58030": unavailable,
  XX001: damaged,
  XX002: damaged,
  ECONNREFUSED: unavailable,
  ECONNRESET: unavailable,
  EPIPE: unavailable,
  ECONNABORTED: unavailable,
  ETIMEDOUT: unavailable,
  EHOSTUNREACH: unavailable,
  EHOSTDOWN: unavailable,
  ENETUNREACH: unavailable,
  ENETDOWN: unavailable,
  ENOTFOUND: unavailable,
  EAI_AGAIN: unavailable,
};

/** Messages of node-postgres, which have no code, about a connection that broke or timed out. */
const lostConnection =
  /^(?:Connection terminated|timeout exceeded|Query read timeout|Client (?:has encountered a connection error|was closed))/;

/** Translates an error of node-postgres. Returns an unknown error unchanged. */
export const translatePostgresError = translateWith((code, error) => {
  if (code === undefined) return isLostConnection(error) ? unavailable : undefined;
  if (isChangedPlan(error)) return unavailable;
  return byCode[code] ?? byCode[code.slice(0, 2)];
});

/** Returns whether the connection of this error, translated or not, is unusable. */
export function isLostConnection(error: unknown): boolean {
  const inner = error instanceof StorageUnavailable ? error.cause : withoutQuery(error);
  return inner instanceof Error && lostConnection.test(inner.message);
}

/**
 * Returns whether a prepared statement of the connection cannot run any more: the type of a column changed since it was prepared, or
 * the connection has another session now. It had no effect, and succeeds on a new connection.
 */
export function isStaleStatement(error: unknown): boolean {
  const inner = error instanceof StorageUnavailable ? error.cause : withoutQuery(error);
  return isChangedPlan(inner) || ["26000", "42P05"].includes(driverCode(inner) ?? "");
}

/** PostgreSQL has no code of its own for it (0A000 is any feature that is not supported). */
function isChangedPlan(error: unknown): boolean {
  return (
    error instanceof Error && driverCode(error) === "0A000" && error.message.startsWith("cached plan must not change")
  );
}

/** A prepared statement is missing, or exists already: the pooler gave the transaction another session. */
function pooled(cause: unknown): Error {
  return new StorageUnavailable(
    "the connection pooler shares sessions among transactions: set database-pooling to transaction",
    { cause },
  );
}
