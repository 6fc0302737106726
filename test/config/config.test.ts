import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, it } from "node:test";
import { toConfig } from "../../src/config/config.ts";
import { readSettings } from "../../src/config/read-settings.ts";
import { ConfigError, settings, variableOf } from "../../src/config/settings.ts";
import { certificate, certificateKey } from "../transport/certificate.ts";

const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-config-"));
after(() => rmSync(folder, { recursive: true }));

function file(content: string): string {
  const name = path.join(folder, `${Math.random()}.json`);
  writeFileSync(name, content);
  return name;
}

function pem(name: string, content: string): string {
  const file = path.join(folder, `${name}.pem`);
  writeFileSync(file, content);
  return file;
}

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const otherKey = String(privateKey.export({ type: "pkcs8", format: "pem" }));

function config(flags: Record<string, string | boolean>, environment: Record<string, string> = {}) {
  return toConfig(readSettings({ dev: true, ...flags }, environment));
}

describe("settings", () => {
  it("a flag wins over the environment, that over the file, that over the default", () => {
    const fromFile = file('{"domain": "file.test", "log-level": "warn", "listen": "127.0.0.1:1003"}');
    const environment = {
      GATEHOUSE_DOMAIN: "env.test",
      GATEHOUSE_LISTEN: "127.0.0.1:1002",
      GATEHOUSE_CONFIG: fromFile,
    };
    const { domain, port, logLevel, metrics } = config({ listen: "127.0.0.1:1001" }, environment);
    assert.deepEqual([port, domain, logLevel, metrics], [1001, "env.test", "warn", "loopback"]);
  });

  it("the file may hold texts, numbers, true and false, and lists of texts", () => {
    const content = {
      "drain-timeout": 3,
      "accept-issuer-change": true,
      audiences: ["a.test", "b.test"],
      domain: "d.test",
    };
    const raw = readSettings({ config: file(JSON.stringify(content)) }, {});
    assert.deepEqual(
      [raw["drain-timeout"], raw["accept-issuer-change"], raw.audiences, raw.domain],
      ["3", "true", "a.test,b.test", "d.test"],
    );
  });

  it("the shares of connections follow from the number of all, unless they are set", () => {
    const connections = { maxConnections: 4096, maxConnectionsPerClient: 1024, maxConnectionsPerNetwork: 2048 };
    assert.deepEqual(config({}).connections, { ...connections, maxConnectionAgeMs: undefined });
    const set = { maxConnections: "100", maxConnectionsPerClient: "100", maxConnectionAge: "60" };
    assert.deepEqual(config(set).connections, {
      maxConnections: 100,
      maxConnectionsPerClient: 100,
      maxConnectionsPerNetwork: 50,
      maxConnectionAgeMs: 60_000,
    });
  });

  it("every setting has a variable of its own", () => {
    const variables = settings.map(({ name }) => variableOf(name));
    assert.equal(new Set(variables).size, settings.length);
    assert.ok(variables.every((variable) => /^GATEHOUSE_[A-Z_]+$/.test(variable)));
  });

  it("the base URL in development is the address of the server, and the database is in the data directory", () => {
    const made = config({ listen: "[::1]:9090", dataDir: folder });
    assert.deepEqual([made.baseUrl, made.databaseUrl], ["http://[::1]:9090", path.join(folder, "gatehouse.db")]);
  });

  it("a database URL may name several hosts, and settings its connections", () => {
    const databaseUrl = "postgres://u:p%40@h1:5432,[::1]:5433,h3/x?target_session_attrs=read-write&sslmode=verify-full";
    assert.equal(config({ databaseUrl }).databaseUrl, databaseUrl);
    const flags = { databasePooling: "transaction", databaseConnectTimeout: "2", databaseStatementTimeout: "60" };
    assert.deepEqual(config(flags).database, {
      poolSize: 16,
      sharesSessions: true,
      connectTimeoutMs: 2000,
      lockTimeoutMs: 5000,
      statementTimeoutMs: 60_000,
    });
  });

  it("replicas of PostgreSQL may have several hosts", () => {
    const databaseReplicaUrl = "postgres://u:p@h1,h2:5433/x?target_session_attrs=standby";
    assert.equal(config({ databaseUrl: "postgres://h/x", databaseReplicaUrl }).replicaUrl, databaseReplicaUrl);
    assert.equal(config({ databaseUrl: "postgres://h/x" }).replicaUrl, undefined);
  });

  it("changes are retained permanently, or for days", () => {
    const kept = [{}, { changesKept: "forever" }, { changesKept: "90" }].map((flags) => config(flags).changesKeptMs);
    assert.deepEqual(kept, [undefined, undefined, 7_776_000_000]);
  });

  it("a trailing slash of the base URL is dropped", () =>
    assert.equal(config({ dev: false, baseUrl: "https://iam.test/" }).baseUrl, "https://iam.test"));

  it("development mode takes a base URL of this machine", () => {
    const own = [
      "http://localhost:8080",
      "https://127.0.0.1",
      "http://127.8.8.8",
      "http://[::1]:80",
      "http://a.localhost",
    ];
    assert.deepEqual(
      own.map((baseUrl) => config({ baseUrl }).baseUrl),
      own,
    );
  });

  it("production needs a base URL", () => {
    assert.throws(() => toConfig(readSettings({}, {})), {
      name: "ConfigError",
      message: /^base-url: is required in production/,
    });
  });

  const wrong: [what: string, flags: Record<string, string | boolean>, message: RegExp][] = [
    ["a port of 0", { listen: "127.0.0.1:0" }, /^listen: "127.0.0.1:0" is not host:port/],
    ["a port beyond 65535", { listen: "127.0.0.1:70000" }, /^listen: /],
    ["no port", { listen: "localhost" }, /^listen: /],
    [
      "O2: development mode on every address",
      { listen: "0.0.0.0:8080" },
      /^listen: development mode serves loopback addresses only/,
    ],
    ["a base URL with a query", { baseUrl: "https://a.test/?x=1" }, /^base-url: /],
    ["a base URL with a user", { baseUrl: "https://u:p@a.test" }, /^base-url: /],
    ...[
      "https://iam.test",
      "http://10.0.0.1:8080",
      "http://0.0.0.0:8080",
      "http://[::]",
      "http://192.168.1.2",
      "http://gatehouse",
      "http://localhost.example.org",
      "http://127.0.0.1.example.org",
      "http://notlocalhost",
      "https://abc.ngrok.app",
      "http://[::ffff:10.0.0.1]",
      "http://localhost.",
      "http://x.localhost.test",
    ].map((baseUrl): (typeof wrong)[number] => [
      `development mode at ${baseUrl}`,
      { baseUrl },
      /^base-url: development mode signs in anyone, so "http.*" is rejected; use an address of this machine\.$/,
    ]),
    ["a base URL of another scheme", { baseUrl: "ftp://a.test" }, /^base-url: /],
    ["a certificate without key", { tlsCert: "cert.pem" }, /^tls-cert, tls-key: set both or neither/],
    [
      "a certificate that is not there",
      { tlsCert: "/nowhere/c.pem", tlsKey: "/nowhere/k.pem" },
      /^tls-cert: \/nowhere\/c.pem cannot be read: ENOENT: no such file or directory\.$/,
    ],
    [
      "a certificate and a key that do not fit",
      { tlsCert: pem("cert", certificate), tlsKey: pem("other", otherKey) },
      /^tls-key: .*other.pem is not the key of .*cert.pem \(/,
    ],
    [
      "an empty certificate",
      { tlsCert: pem("empty", ""), tlsKey: pem("key", certificateKey) },
      /^tls-cert: .*empty.pem holds no certificate \(it is empty\)/,
    ],
    [
      "an empty key",
      { tlsCert: pem("cert", certificate), tlsKey: pem("empty", "") },
      /^tls-key: .*empty.pem holds no key \(it is empty\)/,
    ],
    [
      "an invalid certificate",
      { tlsCert: pem("key", certificateKey), tlsKey: pem("key", certificateKey) },
      /^tls-cert: .*key.pem holds no certificate \(/,
    ],
    [
      "an invalid key",
      { tlsCert: pem("cert", certificate), tlsKey: pem("cert", certificate) },
      /^tls-key: .*cert.pem holds no key \(/,
    ],
    ["an empty data directory", { dataDir: "" }, /^data-dir: must not be empty/],
    ["a database of another kind", { databaseUrl: "mysql://u:canary@h/x" }, /^database-url: mysql:\/\/ (?!.*canary)/],
    ["a misspelt scheme", { databaseUrl: "postgress://u:canary@h/x" }, /^database-url: postgress:\/\/ (?!.*canary)/],
    ["a scheme in capitals", { databaseUrl: "POSTGRES://u:canary@h/x" }, /^database-url: POSTGRES:\/\/ (?!.*canary)/],
    ...[
      "postgres://u:ca/nary@h/x",
      "postgres://u:12/canary@h/x",
      "postgres://u:c@a/nary@h/x",
      "postgres://u:12?canary@h/x",
      "postgres://u:canary#1@h/x",
      "postgres://u:12#canary@h/x",
      "postgres://u:canary%@h/x",
      "postgres://u:canary%zz@h/x",
      "postgres://u:canary%ff@h/x",
      "postgres://u:canary@[/x",
    ].map((databaseUrl): (typeof wrong)[number] => [
      `an unencoded password: ${databaseUrl}`,
      { databaseUrl },
      /^database-url: is not a valid URL; percent-encode (?!.*(canary|nary))/,
    ]),
    ...[
      "postgres:/u:canary@h/x",
      " postgres://u:canary@h/x",
      '"postgres://u:canary@h/x"',
      "postgresql//u:canary@h/x",
    ].map((databaseUrl): (typeof wrong)[number] => [
      `no beginning of a URL: ${databaseUrl}`,
      { databaseUrl },
      /^database-url: must begin with postgres:\/\/ (?!.*canary)/,
    ]),
    ...(
      [
        ["postgres://u:canary@h1:5432,,h2/x", "a host in the list is empty"],
        ["postgres://u:canary@h1,h1/x", "names the host h1 more than once"],
        [`postgres://u:canary@${Array.from({ length: 11 }, (_, i) => `h${i}`)}/x`, "names more than 10 hosts"],
        ["postgres://u:canary@h1:5432,h2:port/x", "is not a valid URL; percent-encode"],
        [
          "postgres://u:canary@h1,h2/x?target_session_attrs=any",
          'target_session_attrs: "any" is not one of read-write,',
        ],
        ["postgres://u:canary@h/x?sslmode=prefer", 'sslmode: "prefer" is not one of disable, require,'],
        [
          "postgres://u:canary@h1,h2,h3/x?port=1,2",
          "the parameter port must have one port, or one for each of the 3 hosts",
        ],
        ["postgres://u:canary@/x?host=h1,,h2", "a host in the list is empty"],
        ["postgres://u:canary@/x?host=h1&service=x", "the parameter service of libpq is not read; write its host"],
        [
          "postgres://u:canary@h/?dbname=x",
          "the parameter dbname of libpq is not read; write the database as the path",
        ],
        [
          "host=h user=u password=canary dbname=x",
          "has the form key=value of libpq, which is not read; write postgres",
        ],
        ["jdbc:postgresql://h/x?password=canary", "must begin with postgres://"],
      ] as const
    ).map(([databaseUrl, reason]): (typeof wrong)[number] => [
      `the database ${databaseUrl}`,
      { databaseUrl },
      new RegExp(`^database-url: ${reason}(?!.*canary)`),
    ]),
    ...(
      [
        ["databasePoolSize", "1", 'database-pool-size: "1" is not a number from 2 to 1000'],
        ["databasePooling", "statement", 'database-pooling: "statement" is not one of session, transaction'],
        ["databaseConnectTimeout", "6", "database-connect-timeout: must not be longer than database-lock-timeout"],
        ["databaseLockTimeout", "0", 'database-lock-timeout: "0" is not a number from 1 to 300'],
        ["databaseStatementTimeout", "10s", 'database-statement-timeout: "10s" is not a number from 1 to 3600'],
      ] as const
    ).map(([name, value, message]): (typeof wrong)[number] => [
      `${name} ${value}`,
      { [name]: value },
      new RegExp(`^${message}`),
    ]),
    ...(
      [
        ["", "postgres://u:canary@h/x", "needs PostgreSQL: set database-url to a postgres:// URL"],
        ["postgres://h/x", "h:canary", "must begin with postgres://"],
        ["postgres://h/x", "postgres://u:canary@h1,h1/x", "names the host h1 more than once"],
        [
          "postgres://h/x",
          "postgres://u:canary@h/x?target_session_attrs=primary",
          'target_session_attrs: "primary" is not one of standby',
        ],
      ] as const
    ).map(([databaseUrl, databaseReplicaUrl, reason]): (typeof wrong)[number] => [
      `the replica ${databaseReplicaUrl} of ${databaseUrl || "SQLite"}`,
      { databaseUrl, databaseReplicaUrl },
      new RegExp(`^database-replica-url: ${reason}(?!.*canary)`),
    ]),
    ["a URL of SQLite", { databaseUrl: "sqlite:///data/x" }, /^database-url: sqlite:\/\/ /],
    [
      "an algorithm that we do not sign with",
      { signingAlgorithm: "HS256" },
      /^signing-algorithm: "HS256" is not one of RS256, ES256/,
    ],
    ["a log level", { logLevel: "loud" }, /^log-level: /],
    ["who creates root groups", { rootGroups: "nobody" }, /^root-groups: /],
    ["a network", { privateIssuerNetworks: "10.0.0.0" }, /^private-issuer-networks: /],
    ...["999.1.1.1/8", "1/8", ":::/3"].map((network): (typeof wrong)[number] => [
      `a network of no address, ${network}`,
      { privateIssuerNetworks: network },
      new RegExp(`^private-issuer-networks: "${network}" is not a network`),
    ]),
    ["any origin", { corsOrigins: "*" }, /^cors-origins: "\*" is not an origin/],
    ["the origin of no page", { corsOrigins: "null" }, /^cors-origins: "null" is not an origin/],
    [
      "an origin with a path",
      { corsOrigins: "https://a.test/" },
      /^cors-origins: "https:\/\/a.test\/" is not an origin/,
    ],
    ["an origin with its usual port", { corsOrigins: "https://a.test:443" }, /^cors-origins: .* is not an origin/],
    ["an origin in capitals", { corsOrigins: "https://A.test" }, /^cors-origins: .* is not an origin/],
    ["an origin without a scheme", { corsOrigins: "a.test" }, /^cors-origins: .* is not an origin/],
    ["an origin with a wildcard", { corsOrigins: "https://*.a.test" }, /^cors-origins: .* is not an origin/],
    ["an origin of another scheme", { corsOrigins: "file://" }, /^cors-origins: .* is not an origin/],
    [
      "too many origins",
      { corsOrigins: Array(101).fill("https://a.test").join() },
      /^cors-origins: 101 origins are more/,
    ],
    [
      "an invalid number of connections",
      { maxConnections: "many" },
      /^max-connections: "many" is not a number from 16 to 65536\.$/,
    ],
    ["no worker", { workers: "0" }, /^workers: "0" is not auto, or a number from 1 to 64\.$/],
    ["more workers than can be", { workers: "65" }, /^workers: "65" is not auto, or a number/],
    ["workers in words", { workers: "two" }, /^workers: "two" is not auto, or a number/],
    ["workers in development mode", { workers: "2" }, /^workers: development mode runs as one process/],
    ["workers for all cores in development mode", { workers: "auto" }, /^workers: development mode/],
    ["too few connections", { maxConnections: "15" }, /^max-connections: "15" is not a number/],
    ["more connections than a process may have", { maxConnections: "65537" }, /^max-connections: /],
    ["a number with a sign", { maxConnections: "+100" }, /^max-connections: /],
    [
      "a share of nothing",
      { maxConnectionsPerClient: "0" },
      /^max-connections-per-client: "0" is not a number from 1 to 4096/,
    ],
    [
      "a share of more than all",
      { maxConnections: "100", maxConnectionsPerNetwork: "101" },
      /^max-connections-per-network: .* 1 to 100/,
    ],
    [
      "an age of nothing",
      { maxConnectionAge: "0" },
      /^max-connection-age: "0" is not off, or a number from 1 to 86400/,
    ],
    [
      "a proxy that is not a network",
      { trustedProxies: "proxy.test" },
      /^trusted-proxies: "proxy.test" is not a network/,
    ],
    [
      "all of IPv4 as proxies",
      { trustedProxies: "10.0.0.0/8,0.0.0.0/0" },
      /^trusted-proxies: 0.0.0.0\/0 trusts every client/,
    ],
    ["all of IPv6 as proxies", { trustedProxies: "::/0" }, /^trusted-proxies: ::\/0 trusts every client/],
    [
      "more proxies than anybody has",
      { trustedProxies: Array(1001).fill("10.0.0.1/32").join() },
      /^trusted-proxies: 1001 networks are more than 1000\.$/,
    ],
    [
      "an address of metrics without a port",
      { metricsListen: "127.0.0.1" },
      /^metrics-listen: "127.0.0.1" is not host:port/,
    ],
    [
      "metrics in development mode for the network",
      { metricsListen: "0.0.0.0:9090" },
      /^metrics-listen: development mode serves loopback addresses only/,
    ],
    [
      "metrics on the port of the API",
      { metricsListen: "127.0.0.1:8080" },
      /^metrics-listen: 127.0.0.1:8080 is where the API listens/,
    ],
    [
      "metrics for nobody on a port of their own",
      { metricsListen: "127.0.0.1:9090", metrics: "nobody" },
      /^metrics-listen: .*metrics=nobody/,
    ],
    ["a prefix beyond 32", { privateIssuerNetworks: "10.0.0.0/33" }, /^private-issuer-networks: /],
    ["an endpoint over plain http", { awsStsEndpoint: "http://sts.example" }, /^aws-sts-endpoint: /],
    ["an endpoint with a path", { awsStsEndpoint: "https://sts.example/x" }, /^aws-sts-endpoint: /],
    [
      "an endpoint with a password, and does not show it",
      { awsStsEndpoint: "https://u:canary@sts.example" },
      /^aws-sts-endpoint: (?!.*canary)/,
    ],
    [
      "a login provider with a password, and does not show it",
      { loginIssuer: "https://u:canary@login.example", loginClientId: "gatehouse" },
      /^login-issuer: (?!.*canary)/,
    ],
    [
      "a login provider that no sign-in would take",
      { loginIssuer: "https://127.1", loginClientId: "gatehouse" },
      /^login-issuer: must be written as "https:\/\/127\.0\.0\.1"\.$/,
    ],
    [
      "an issuer of addresses without a scheme",
      { trustedEmailIssuers: "https://accounts.google.com,accounts.google.com" },
      /^trusted-email-issuers: "accounts.google.com" must be an https URL\.$/,
    ],
    // Compared with domains in lower case: another spelling would leave the domain to the first caller.
    ...["Gmail.com", "@gmail.com", "localhost"].map((domain): (typeof wrong)[number] => [
      `${domain} as a domain of addresses`,
      { sharedEmailDomains: `outlook.com,${domain}` },
      new RegExp(`^shared-email-domains: "${domain}" is not a domain in lower case such as gmail.com\\.$`),
    ]),
    [
      "a shutdown delay beyond an hour",
      { shutdownDelay: "3601" },
      /^shutdown-delay: "3601" is not a number from 0 to 3600/,
    ],
    ["a shutdown delay in minutes", { shutdownDelay: "1m" }, /^shutdown-delay: "1m" is not a number/],
    ["a time", { drainTimeout: "soon" }, /^drain-timeout: /],
    [
      "no days of changes",
      { changesKept: "0" },
      /^changes-kept: "0" is not forever, or a number of days from 1 to 99999\.$/,
    ],
    ["a domain", { domain: "Not A Domain" }, /^domain: /],
    [
      "a file that is not there",
      { config: "/nowhere/gatehouse.json" },
      /^config: \/nowhere\/gatehouse.json cannot be read as JSON/,
    ],
    [
      "a registry that goes by the name of the API",
      { registryService: "http://127.0.0.1:8080" },
      /^registry-service: must not be an audience of the API/,
    ],
    [
      "a registry that goes by another audience",
      { audiences: "x.test", registryService: "x.test" },
      /^registry-service: must not be an audience of the API/,
    ],
    [
      "a registry with a scheme",
      { registryService: "https://registry.example.org" },
      /^registry-service: must be a host, without a scheme/,
    ],
    ["a registry without a name", { registryService: "" }, /^registry-service: /],
    ["a registry whose name is a folder above", { registryService: ".." }, /^registry-service: "\.\." is not the name/],
    ["a group of the registry that is not a uid", { registryGroup: "acme" }, /^registry-group: "acme" is not a uid/],
    [
      "a password in the address of the registry, and does not show it",
      { registryUrl: "https://u:canary@r.test" },
      /^registry-url: (?!.*canary)/,
    ],
    ["credentials without a password", { registryCredentials: "canary" }, /^registry-credentials: (?!.*canary)/],
    ["a short secret", { registryNotificationSecret: "canary" }, /^registry-notification-secret: (?!.*canary).*16/],
    ["a file that is not an object", { config: file("[]") }, /^config: .* must hold an object/],
    [
      "a file with a setting twice",
      { config: file('{"domain": "a.test", "log-level": "warn", "doma\\u0069n": "b.test"}') },
      /^config: .* sets domain twice\.$/,
    ],
    ["a file without a name", { config: "" }, /^config: the path is empty\.$/],
    [
      "a file with a misspelt setting",
      { config: file('{"lissten": "x"}') },
      /^config: .* sets lissten, which is not a setting/,
    ],
    ...["null", '{"canary": 1}', "[1]", "[null]"].map((value): (typeof wrong)[number] => [
      `a file with ${value} for a setting`,
      { config: file(`{"database-url": ${value}}`) },
      /^config: \S+: database-url must be a text, a number, true or false, or a list of texts\.$/,
    ]),
  ];
  for (const [what, flags, message] of wrong) {
    it(`rejects ${what} with a sentence that names the setting`, () => {
      assert.throws(
        () => config(flags),
        (error) => error instanceof ConfigError && message.test(error.message),
      );
    });
  }
});
