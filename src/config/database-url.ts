// The address of the database. Errors never repeat it, because it may contain a password.
import { isDecodable } from "../base/percent-encoding.ts";
import { hostsOf } from "../base/postgres-url.ts";
import { ConfigError } from "./settings.ts";

/** How many hosts a URL may name. */
const maxHosts = 10;

/** The accepted values of `target_session_attrs`, by the setting. The driver ignores it. */
const sessionAttributes = {
  // A standby may not know yet of a revocation.
  "database-url": ["read-write", "primary"],
  "database-replica-url": ["standby"],
} as const;

type UrlSetting = keyof typeof sessionAttributes;

/** The accepted values of `sslmode`; the driver would misunderstand others. */
const sslModes = ["disable", "require", "verify-ca", "verify-full", "no-verify"];

/** Returns the URL of a PostgreSQL database or the path of a SQLite file. Throws a ConfigError for anything else. */
export function toDatabaseUrl(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  // The driver requires lower-case schemes.
  if (scheme !== undefined && !/^postgres(ql)?$/.test(scheme))
    throw new ConfigError(`database-url: ${scheme}:// is not postgres://, and no path of a SQLite file.`);
  // As a file path it would be printed and created.
  if (scheme === undefined && /^[\s"']*postgres(ql)?(:|\/\/)/i.test(text))
    throw new ConfigError("database-url: must begin with postgres:// if it is not the path of a SQLite file.");
  if (scheme !== undefined) checkPostgresUrl("database-url", text);
  return text;
}

/** Returns the URL of the replicas of a PostgreSQL database, or undefined for an empty text. */
export function toReplicaUrl(text: string, databaseUrl: string): string | undefined {
  if (text === "") return undefined;
  if (!isPostgresUrl(databaseUrl))
    throw new ConfigError("database-replica-url: needs PostgreSQL: set database-url to a postgres:// URL.");
  if (!isPostgresUrl(text)) throw new ConfigError("database-replica-url: must begin with postgres://.");
  checkPostgresUrl("database-replica-url", text);
  return text;
}

function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

function checkPostgresUrl(setting: UrlSetting, text: string): void {
  const hosts = hostsOf(text);
  const names = hosts.map(({ name }) => name);
  if (hosts.length > 1 && names.includes(""))
    throw new ConfigError(`${setting}: a host in the list is empty; write host1:5432,host2:5432.`);
  if (!hosts.every(({ url }) => isUnambiguous(url))) {
    throw new ConfigError(
      `${setting}: is not a valid URL; percent-encode special characters in the user name and password: ` +
        "@ as %40, / as %2F, # as %23, ? as %3F, % as %25.",
    );
  }
  if (hosts.length > maxHosts) throw new ConfigError(`${setting}: names more than ${maxHosts} hosts.`);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new ConfigError(`${setting}: names the host ${duplicate} more than once.`);
  checkParameters(setting, new URL(hosts[0]!.url).searchParams, hosts.length > 1);
}

function checkParameters(setting: UrlSetting, parameters: URLSearchParams, hasHosts: boolean): void {
  const acceptedValues = { target_session_attrs: sessionAttributes[setting], sslmode: sslModes };
  for (const [name, accepted] of Object.entries(acceptedValues)) {
    const wrong = parameters.getAll(name).find((value) => !(accepted as readonly string[]).includes(value));
    if (wrong !== undefined)
      throw new ConfigError(`${setting}: ${name}: ${JSON.stringify(wrong)} is not one of ${accepted.join(", ")}.`);
  }
  for (const name of ["host", "port"]) {
    if (parameters.has(name) && (hasHosts || parameters.get(name)?.includes(",")))
      throw new ConfigError(`${setting}: the parameter ${name} cannot be used with several hosts.`);
  }
}

/**
 * Reports whether all parsers agree where the password ends (RFC 3986 §3.2.1). With an unencoded slash, question mark
 * or hash in it, the rest would be taken for the host, port or database, which messages and logs contain.
 */
function isUnambiguous(text: string): boolean {
  const url = URL.parse(text);
  if (!url || text.includes("#") || `${url.pathname}${url.search}`.includes("@")) return false;
  return isDecodable(url.username) && isDecodable(url.password) && isDecodable(url.pathname);
}
