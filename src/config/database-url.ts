// The address of the database. Errors never repeat it, because it may contain a password.
import { isDecodable } from "../base/percent-encoding.ts";
import { countPorts, hostsOf, parsePostgresUrl } from "../base/postgres-url.ts";
import { ConfigError } from "./settings.ts";

/** How many hosts a URL may name. */
const maxHosts = 10;

/** The accepted values of `target_session_attrs`, by the setting. The driver ignores it. */
const sessionAttributes = {
  // A standby may not know yet of a revocation.
  "database-url": ["read-write", "primary"],
  "database-replica-url": ["standby"],
} as const;

/** Parameters of libpq that choose the database or restrict the connection, and what to write in their place. */
const unreadParameters: Readonly<Record<string, string>> = {
  service: "write its host, database and user into the URL",
  servicefile: "write host, database and user into the URL",
  hostaddr: "write the address as the host",
  dbname: "write the database as the path of the URL",
  passfile: "set the variable PGPASSFILE",
  sslcrl: "certificates cannot be revoked by a file",
  sslcrldir: "certificates cannot be revoked by a file",
  sslpassword: "store the key of the client unencrypted",
  requirepeer: "restrict the directory of the socket",
  require_auth: "restrict the methods in pg_hba.conf",
};

/** The form key=value of libpq. */
const keywordForm = /^\s*(?:host|hostaddr|port|dbname|user|password|service|sslmode)\s*=/;

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
  if (scheme === undefined && /^[\s"']*(jdbc:)?postgres(ql)?(:|\/\/)/i.test(text))
    throw new ConfigError("database-url: must begin with postgres:// if it is not the path of a SQLite file.");
  if (scheme === undefined && keywordForm.test(text))
    throw new ConfigError(
      "database-url: has the form key=value of libpq, which is not read; write postgres://USER:PASSWORD@HOST:PORT/DATABASE.",
    );
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
  // Before the host is taken out of the parameters: an unencoded password would be named as a host.
  const hosts = isUnambiguous(text) ? hostsOf(text) : [];
  const names = hosts.map(({ name }) => name);
  if (hosts.length > 1 && names.some((name) => name === "" || name.startsWith(":")))
    throw new ConfigError(`${setting}: a host in the list is empty; write host1:5432,host2:5432.`);
  if (hosts.length === 0 || !hosts.every(({ url }) => isDecodableUrl(url))) {
    throw new ConfigError(
      `${setting}: is not a valid URL; percent-encode special characters in the user name and password: ` +
        "@ as %40, / as %2F, # as %23, ? as %3F, % as %25.",
    );
  }
  if (hosts.length > maxHosts) throw new ConfigError(`${setting}: names more than ${maxHosts} hosts.`);
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new ConfigError(`${setting}: names the host ${duplicate} more than once.`);
  const ports = countPorts(text);
  if (ports > 1 && ports !== hosts.length)
    throw new ConfigError(
      `${setting}: the parameter port must have one port, or one for each of the ${hosts.length} hosts.`,
    );
  checkParameters(setting, parsePostgresUrl(hosts[0]!.url)!.searchParams);
}

function checkParameters(setting: UrlSetting, parameters: URLSearchParams): void {
  const acceptedValues = { target_session_attrs: sessionAttributes[setting], sslmode: sslModes };
  for (const [name, accepted] of Object.entries(acceptedValues)) {
    const wrong = parameters.getAll(name).find((value) => !(accepted as readonly string[]).includes(value));
    if (wrong !== undefined)
      throw new ConfigError(`${setting}: ${name}: ${JSON.stringify(wrong)} is not one of ${accepted.join(", ")}.`);
  }
  for (const [name, remedy] of Object.entries(unreadParameters))
    if (parameters.has(name))
      throw new ConfigError(`${setting}: the parameter ${name} of libpq is not read; ${remedy}.`);
}

/**
 * Reports whether all parsers agree where the password ends (RFC 3986 §3.2.1). With an unencoded slash, question mark
 * or hash in it, the rest would be taken for the host, port or database, which messages and logs contain.
 */
function isUnambiguous(text: string): boolean {
  const [, rest = ""] = /^[a-z]+:\/\/[^/?#]*(.*)$/s.exec(text) ?? [];
  return !text.includes("#") && !rest.includes("@");
}

function isDecodableUrl(text: string): boolean {
  const url = parsePostgresUrl(text);
  return (
    url !== undefined && [url.username, url.password, url.hostname, url.pathname].every((part) => isDecodable(part))
  );
}
