// The address of the database. Nothing here repeats what was given: it may hold a password.
import { ConfigError } from "./settings.ts";

/** The URL of a PostgreSQL database or the path of a SQLite file, as given. Throws a ConfigError for anything else. */
export function toDatabaseUrl(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1];
  // The driver takes the schemes in lower case.
  if (scheme !== undefined && !/^postgres(ql)?$/.test(scheme))
    throw new ConfigError(`database-url: ${scheme}:// is not postgres://, and no path of a SQLite file.`);
  // Taken for the path of a file, it would be printed and made.
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
 * Whether all parsers agree on where the password ends (RFC 3986 §3.2.1). With a slash, a question mark or a hash in it, the rest of the
 * password would be taken for the name of the host, the port or the database, which messages and the log name.
 */
function isUnambiguous(text: string): boolean {
  const url = URL.parse(text);
  if (!url || text.includes("#") || `${url.pathname}${url.search}`.includes("@")) return false;
  return isDecodable(url.username) && isDecodable(url.password) && isDecodable(url.pathname);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
