// The settings: names, defaults and help texts.

/** The name of the registry unless one is set: the same at many installations. */
export const defaultRegistryService = "registry.gatehouse.internal";

/** A setting: a flag, a variable, or a member of the file. */
export interface Setting {
  /** In kebab-case, as in the flag and the file. `variableOf` returns the variable. */
  readonly name: string;
  /** The value in the help and in docs/reference/settings.md; absent for a switch. */
  readonly value?: string;
  readonly fallback: string;
  readonly description: string;
  /** Whether the value is a secret. */
  readonly isSecret?: boolean;
  /** Whether it makes a server less safe: no hint for a misspelt name may suggest it. */
  readonly lowersSafety?: boolean;
  /** Whether the setting was removed: it is accepted without an effect for one release. */
  readonly isRemoved?: boolean;
  /** A variable that many programs read, in lower or upper case. The variable of the setting takes precedence. */
  readonly commonVariable?: string;
}

/** All settings, in the order of the help and docs/reference/settings.md. config.ts validates them. */
export const settings = [
  { name: "listen", value: "host:port", fallback: "127.0.0.1:8080", description: "address and port to listen on" },
  {
    name: "workers",
    value: "number",
    fallback: "1",
    description: "processes that serve the port: a number from 1 to 64, or auto for one per core",
  },
  {
    name: "data-dir",
    value: "path",
    fallback: "./data",
    description: "directory of the SQLite database and, in development mode, of the owner's tokens",
  },
  {
    name: "database-url",
    value: "url",
    fallback: "",
    description:
      "postgres:// URL, with several hosts for failover; or path of a SQLite file; empty for gatehouse.db in the data directory",
    isSecret: true,
  },
  {
    name: "database-replica-url",
    value: "url",
    fallback: "",
    description:
      "postgres:// URL of streaming standbys of database-url, several hosts allowed, that answer lists while they are up to date; empty for none",
    isSecret: true,
  },
  {
    name: "migrate",
    value: "when",
    fallback: "auto",
    description: "auto applies pending migrations at the start; off rejects a database that has some: see db migrate",
  },
  {
    name: "database-pool-size",
    value: "number",
    fallback: "16",
    description: "connections to PostgreSQL, besides one that all requests share",
  },
  {
    name: "database-pooling",
    value: "mode",
    fallback: "session",
    description: "transaction behind a pooler that shares sessions, such as PgBouncer with pool_mode = transaction",
  },
  {
    name: "database-connect-timeout",
    value: "seconds",
    fallback: "3",
    description: "time for one connection to PostgreSQL; at most database-lock-timeout",
  },
  {
    name: "database-lock-timeout",
    value: "seconds",
    fallback: "5",
    description: "time that a request waits for a lock, or for a connection in use",
  },
  {
    name: "database-statement-timeout",
    value: "seconds",
    fallback: "10",
    description: "time for one statement of PostgreSQL; commands other than serve have no limit",
  },
  {
    name: "base-url",
    value: "url",
    fallback: "",
    description: "public URL of the server: the issuer of tokens and the audience of the API; required in production",
  },
  {
    name: "audiences",
    value: "list",
    fallback: "",
    description: "further audiences that clients may request tokens for, separated by commas",
  },
  { name: "domain", value: "name", fallback: "gatehouse.internal", description: "domain in error details" },
  {
    name: "tls-cert",
    value: "path",
    fallback: "",
    description: "PEM file with the certificate chain; empty for plaintext",
  },
  { name: "tls-key", value: "path", fallback: "", description: "PEM file with the key of the certificate" },
  {
    name: "hsts",
    value: "switch",
    fallback: "on",
    description: "off sends no Strict-Transport-Security over TLS, for a proxy that sends it itself",
  },
  {
    name: "signing-algorithm",
    value: "name",
    fallback: "RS256",
    description: "algorithm of new keys for tokens of other audiences and of events: RS256 or ES256",
  },
  {
    name: "secrets-key",
    value: "keys",
    fallback: "",
    description:
      "key of encryption at rest: 32 bytes in base64, or several keys separated by commas, of which the first encrypts and all decrypt; empty for the file secrets-key in the data directory",
    isSecret: true,
  },
  {
    name: "root-groups",
    value: "who",
    fallback: "anyone",
    description: "who may create organizations: anyone who may create groups somewhere, or operators",
  },
  {
    name: "pin-names",
    value: "when",
    fallback: "first-use",
    description:
      "when names of workloads, such as repositories, are pinned to their immutable ids: first-use; explicit, which lets in only pinned names; or off",
  },
  {
    name: "login-issuer",
    value: "url",
    fallback: "",
    description: "OIDC provider that people sign in with; in production, nobody can sign in without one",
  },
  { name: "login-client-id", value: "id", fallback: "", description: "client id of this server at the provider" },
  {
    name: "login-client-secret",
    value: "secret",
    fallback: "",
    description: "client secret; empty for a public client; set it by the variable or the file",
    isSecret: true,
  },
  {
    name: "login-scopes",
    value: "list",
    fallback: "email,profile",
    description: "scopes to request from the provider besides openid",
  },
  {
    name: "trusted-email-issuers",
    value: "list",
    fallback: "https://accounts.google.com",
    description: "issuers whose verified e-mail addresses count when a person's organization is looked up",
  },
  {
    name: "shared-email-domains",
    value: "list",
    fallback: "gmail.com,googlemail.com,outlook.com,hotmail.com,yahoo.com,icloud.com,proton.me",
    description: "e-mail domains that belong to no organization",
  },
  {
    name: "private-issuer-networks",
    value: "list",
    fallback: "",
    description: "private networks (CIDR) with https issuers that the server may contact",
  },
  {
    name: "private-sink-networks",
    value: "list",
    fallback: "",
    description: "private networks (CIDR) that the server may send events to over https",
  },
  {
    name: "issuer-ca",
    value: "path",
    fallback: "",
    description:
      "PEM file, 1 MiB at most, with certificate authorities to trust for issuers and login providers, besides the usual ones",
  },
  {
    name: "https-proxy",
    value: "url",
    fallback: "",
    description: "http or https proxy for https requests; HTTPS_PROXY if not set",
    isSecret: true,
    commonVariable: "HTTPS_PROXY",
  },
  {
    name: "http-proxy",
    value: "url",
    fallback: "",
    description: "proxy for http requests, such as to registry-url; HTTP_PROXY if not set",
    isSecret: true,
    commonVariable: "HTTP_PROXY",
  },
  {
    name: "no-proxy",
    value: "list",
    fallback: "",
    description: "hosts, addresses and networks (CIDR) to contact without a proxy, or *; NO_PROXY if not set",
    commonVariable: "NO_PROXY",
  },
  {
    name: "event-delivery",
    value: "switch",
    fallback: "on",
    description: "off sends no events, for a copy of a server; they wait for three days",
  },
  {
    name: "aws-sts-endpoint",
    value: "url",
    fallback: "https://sts.amazonaws.com",
    description: "address that verifies the signed requests of AWS identities",
  },
  {
    name: "terms-documents",
    value: "list",
    fallback: "guardener-tos.v1,sfdpa.v1,skills-tos.v1",
    description: "ids of the documents that users can accept",
  },
  {
    name: "registry-service",
    value: "name",
    fallback: defaultRegistryService,
    description: "name of the container registry, best its host: the audience of tokens for it",
  },
  {
    name: "registry-group",
    value: "uid",
    fallback: "",
    description: "group that contains all names in the registry; empty if names begin with an organization",
  },
  {
    name: "registry-url",
    value: "url",
    fallback: "",
    description: "registry to read manifests from after a push; empty to read none",
  },
  {
    name: "image-contents",
    value: "switch",
    fallback: "on",
    description: "off reads no SBOMs of images from registry-url",
  },
  {
    name: "registry-credentials",
    value: "user:password",
    fallback: "",
    description: "credentials for registry-url, not as a flag; empty to use tokens of this server",
    isSecret: true,
  },
  {
    name: "registry-notification-secret",
    value: "secret",
    fallback: "",
    description: "secret that the registry sends with notifications, not as a flag; empty to reject notifications",
    isSecret: true,
  },
  {
    name: "console",
    value: "switch",
    fallback: "on",
    description: "off serves no console, and signs no browser in for one",
  },
  {
    name: "cors-origins",
    value: "list",
    fallback: "",
    description: "origins whose pages may call the API from a browser, such as https://console.example.com",
  },
  {
    name: "max-connections",
    value: "number",
    fallback: "4096",
    description: "open connections; for one more, an idle one of the largest client is closed",
  },
  {
    name: "max-connections-per-client",
    value: "number",
    fallback: "",
    description:
      "open connections of one client, an IPv4 address or an IPv6 /64; empty for a quarter; trusted proxies may use all",
  },
  {
    name: "max-connections-per-network",
    value: "number",
    fallback: "",
    description: "open connections of one network, an IPv4 /24 or an IPv6 /48; empty for half",
  },
  {
    name: "max-connection-age",
    value: "seconds",
    fallback: "off",
    description: "seconds after which clients are asked to reconnect, plus or minus 10 %; off for never",
  },
  {
    name: "trusted-proxies",
    value: "list",
    fallback: "",
    description: "networks (CIDR) of proxies whose Forwarded and X-Forwarded-For headers name the client",
  },
  {
    name: "metrics",
    value: "who",
    fallback: "loopback",
    description: "who may read /metrics: loopback, anyone or nobody",
  },
  {
    name: "metrics-listen",
    value: "host:port",
    fallback: "",
    description: "address and port that serve /metrics to anyone, instead of the port of the API",
  },
  {
    name: "changes-kept",
    value: "days",
    fallback: "forever",
    description: "retention of the audit log: forever, or a number of days",
  },
  {
    name: "shutdown-delay",
    value: "seconds",
    fallback: "0",
    description: "time after the signal to stop in which the server still serves, with 503 from /readyz",
  },
  {
    name: "access-log-kept",
    value: "days",
    fallback: "30",
    description: "retention of sign-ins, token exchanges and denials in the audit log: forever, or a number of days",
  },
  {
    name: "access-usage",
    value: "switch",
    fallback: "on",
    description: "off stores no last uses of access, and gives no advice which access is unused",
  },
  {
    name: "access-records-kept",
    value: "days",
    fallback: "400",
    description: "retention of access requests and access reviews that are over",
  },
  {
    name: "seen-tokens-kept",
    value: "days",
    fallback: "30",
    description: "retention of the claims of presented workload tokens, on which rules are tried: 0 stores none",
  },
  {
    name: "idempotency-kept",
    value: "hours",
    fallback: "24",
    description: "retention of the responses of calls with an idempotency key, which a repetition gets again: 1 to 168",
  },
  {
    name: "max-watches",
    value: "count",
    fallback: "1000",
    description: "open streams of changes of one process: 0 allows none, 10000 at most",
  },
  {
    name: "uses-kept",
    value: "days",
    fallback: "400",
    description:
      "retention of who pulled or checked images, from notifications of the registry: 0 records none, 1100 at most",
  },
  {
    name: "drain-timeout",
    value: "seconds",
    fallback: "10",
    description: "time for requests and event deliveries to finish during shutdown",
  },
  {
    name: "fast-path",
    value: "switch",
    fallback: "on",
    description: "removed: has no effect; a later release rejects it",
    isRemoved: true,
  },
  {
    name: "log-level",
    value: "level",
    fallback: "info",
    description: "trace, debug, info, warn, error, fatal or silent",
  },
  {
    name: "log-format",
    value: "format",
    fallback: "auto",
    description: "json, text, or auto: text on a terminal and JSON elsewhere",
  },
  {
    name: "accept-issuer-change",
    fallback: "false",
    description: "start although the data belongs to another base URL",
    lowersSafety: true,
  },
  {
    name: "dev",
    fallback: "false",
    description: "development mode: sample data, loopback addresses only, http issuers on loopback allowed",
    lowersSafety: true,
  },
] as const satisfies readonly Setting[];

/** The name of a setting, in kebab-case. */
export type SettingName = (typeof settings)[number]["name"];
/** The text of every setting, as given or by default. */
export type RawSettings = Readonly<Record<SettingName, string>>;

/** The settings of proxies. */
export type ProxySettings = Pick<RawSettings, "https-proxy" | "http-proxy" | "no-proxy">;

/** An invalid setting. The message is a sentence that names it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Returns the environment variable of a setting. */
export function variableOf(name: SettingName): string {
  return `GATEHOUSE_${name.toUpperCase().replaceAll("-", "_")}`;
}
