// The hosts of a PostgreSQL URL. Like libpq, it accepts several: postgres://user@host1:5432,host2:5432/database.

/** One host of a database. */
export interface PostgresHost {
  /** The host and the port, if the URL has one. */
  readonly name: string;
  /** The URL of the database on this host. */
  readonly url: string;
}

/** The scheme with the user, the hosts, and the rest. A valid URL has no other `@`. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)(.*)$/s;

/** Returns the hosts of a PostgreSQL URL, in its order. */
export function hostsOf(url: string): readonly PostgresHost[] {
  const [, before = "", hosts = "", after = ""] = parts.exec(url) ?? [];
  return hosts.split(",").map((name) => ({ name, url: `${before}${name}${after}` }));
}
