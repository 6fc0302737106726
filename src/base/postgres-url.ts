// The hosts of a PostgreSQL URL. Like libpq, it accepts several, in the authority or as parameters, and directories of Unix sockets:
// postgres://user@host1:5432,host2:5432/database, postgres://user@/database?host=/run/postgresql.
import { isDecodable } from "./percent-encoding.ts";

/** One host of a database. */
export interface PostgresHost {
  /** The host and the port, if the URL has one. */
  readonly name: string;
  /** The URL of the database on this host, which is in the authority. */
  readonly url: string;
}

/** The scheme with the user, the hosts, the path, and the rest. A valid URL has no other `@`. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*)([^?]*)(?:\?(.*))?$/s;

/** Returns the hosts of a PostgreSQL URL, in its order. */
export function hostsOf(url: string): readonly PostgresHost[] {
  const [, before = "", authority = "", path = "", query = ""] = parts.exec(url) ?? [];
  const parameters = query.split("&").filter((each) => each !== "");
  const hosts = listOf(parameters, "host")?.map(toAuthority) ?? authority.split(",");
  const ports = listOf(parameters, "port") ?? [];
  const others = parameters.filter((each) => !/^(?:host|port)=/.test(each));
  const after = others.length === 0 ? path : `${path}?${others.join("&")}`;
  return hosts.map((host, index) => {
    const name = withPort(host, ports.length > 1 ? ports[index] : ports[0]);
    return { name, url: `${before}${name}${after}` };
  });
}

/** Returns how many ports the parameter `port` of a URL has; 0 without it. */
export function countPorts(url: string): number {
  const query = parts.exec(url)?.[4] ?? "";
  return listOf(query.split("&"), "port")?.length ?? 0;
}

/** Parses the URL of one host; returns undefined for another text. Without a host, the driver has a default. */
export function parsePostgresUrl(url: string): URL | undefined {
  return URL.parse(url.replace(/^(postgres(?:ql)?:\/\/[^@/?#]*@)(?=\/)/, "$1localhost")) ?? undefined;
}

/** Returns the values of a parameter that is a list; the last one counts, as in libpq. */
function listOf(parameters: readonly string[], name: string): string[] | undefined {
  const value = parameters.findLast((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
  if (value === undefined) return undefined;
  return (isDecodable(value) ? decodeURIComponent(value) : value).split(",");
}

function toAuthority(host: string): string {
  const isAddress = host.includes(":") && !host.startsWith("/");
  if (isAddress) return host.startsWith("[") ? host : `[${host}]`;
  return encodeURIComponent(host);
}

function withPort(host: string, port: string | undefined): string {
  if (port === undefined || port === "") return host;
  return `${/^(\[[^\]]*\]|[^:]*)/.exec(host)?.[1] ?? host}:${port}`;
}
