// The address of the database. Errors never repeat it, because it may contain a password.
import { isDecodable } from "../base/percent-encoding.ts";
import { ConfigError } from "./settings.ts";

/** Returns the URL of a PostgreSQL database or the path of a SQLite file. Throws a ConfigError for anything else. */
export function toDatabaseUrl(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  // The driver requires lower-case schemes.
  if (scheme !== undefined && !/^postgres(ql)?$/.test(scheme))
    throw new ConfigError(`database-url: ${scheme}:// is not postgres://, and no path of a SQLite file.`);
  // As a file path it would be printed and created.
  if (scheme === undefined && /^[\s"']*postgres(ql)?(:|\/\/)/i.test(text))
    throw new ConfigError("database-url: must begin with postgres:// if it is not the path of a SQLite file.");
  if (scheme !== undefined && !isUnambiguous(text)) {
    throw new ConfigError(
      "database-url: is not a valid URL; percent-encode special characters in the user name and password: " +
        "@ as %40, / as %2F, # as %23, ? as %3F, % as %25.",
    );
  }
  return text;
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
