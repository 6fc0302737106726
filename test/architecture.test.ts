// The directions of imports between folders: what may know what.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";

/** What each part of src may import of the project, beside itself. `types:` allows type imports only. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "main.ts": ["cli", "settings.ts"],
  "certificate.ts": ["settings.ts", "system-error.ts"],
  "database-url.ts": ["settings.ts"],
  "config.ts": [
    "certificate.ts",
    "database-url.ts",
    "listen-config.ts",
    "proxy-config.ts",
    "types:network-address.ts",
    "setting-values.ts",
    "settings.ts",
    "authn/addresses.ts",
    "authn/issuer-url.ts",
    "registry/service-name.ts",
    "uid.ts",
    "types:authn",
  ],
  "json.ts": [],
  "setting-values.ts": ["settings.ts"],
  "settings.ts": ["json.ts", "system-error.ts"],
  "secrets.ts": ["config.ts", "directories.ts", "settings.ts", "storage/seals.ts", "system-error.ts"],
  "installation.ts": ["settings.ts", "types:clock.ts", "storage", "types:config.ts"],
  "open-database.ts": ["config.ts", "settings.ts", "storage"],
  "clock.ts": [],
  "compile.ts": [],
  "directories.ts": ["system-error.ts"],
  "system-error.ts": [],
  "lazy.ts": [],
  "frozen.ts": ["lazy.ts"],
  "soon.ts": [],
  "reader.ts": ["soon.ts"],
  "random.ts": [],
  "limits.ts": [],
  "live-secrets.ts": ["types:config.ts"],
  "maintenance.ts": ["limits.ts", "storage", "types:authn", "types:clock.ts", "types:config.ts"],
  "cache-metrics.ts": ["types:authn", "types:authz", "types:observe", "types:storage"],
  "readiness.ts": ["aip/errors.ts", "storage/errors.ts", "types:storage"],
  "reload.ts": [
    "installation.ts",
    "secrets.ts",
    "settings.ts",
    "storage/sealing.ts",
    "types:clock.ts",
    "types:config.ts",
    "types:doors",
    "types:live-secrets.ts",
    "types:storage",
  ],
  "listen-config.ts": ["network-address.ts", "setting-values.ts", "settings.ts"],
  "network-address.ts": [],
  "proxy-config.ts": ["authn/proxies.ts", "settings.ts"],
  "node-http.ts": ["lazy.ts"],
  "uid.ts": ["clock.ts", "random.ts"],
  "version.ts": [],
  aip: ["gen/google"],
  authn: [
    "aip",
    "authz/capabilities.ts",
    "clock.ts",
    "json.ts",
    "lazy.ts",
    "network-address.ts",
    "node-http.ts",
    "reader.ts",
    "system-error.ts",
    "uid.ts",
  ],
  authz: [
    "aip",
    "clock.ts",
    "lazy.ts",
    "soon.ts",
    "uid.ts",
    "types:authn",
    "gen/chainguard/annotations",
    "gen/chainguard/capabilities",
  ],
  sts: [
    "json.ts",
    "lazy.ts",
    "aip",
    "authn",
    "authz",
    "types:clock.ts",
    "uid.ts",
    "types:pipeline",
    "gen/chainguard",
    "gen/gatehouse",
  ],
  advisories: ["lazy.ts", "aip/timestamps.ts", "json.ts", "gen/chainguard/platform", "gen/gatehouse"],
  registry: [
    "aip",
    "authn",
    "types:authz",
    "sts",
    "storage",
    "services",
    "types:clock.ts",
    "json.ts",
    "uid.ts",
    "types:doors/endpoints.ts",
    "types:pipeline",
    "gen/chainguard/capabilities",
  ],
  // It is a client of the API in the process of the server, and answers as REST does.
  exports: [
    "advisories",
    "aip",
    "types:clock.ts",
    "doors/detail-types.ts",
    "doors/rest/reply.ts",
    "types:doors",
    "pipeline",
    "storage/export-states.ts",
    "uid.ts",
    "version.ts",
    "gen/gatehouse",
  ],
  "endpoints.ts": ["authn", "exports", "limits.ts", "registry", "types:*"],
  audit: [
    "aip",
    "types:authn",
    "authz/built-in-roles.ts",
    "types:authz",
    "types:clock.ts",
    "pipeline/observe.ts",
    "types:pipeline",
    "storage",
    "types:sts",
    "uid.ts",
  ],
  observe: ["aip", "lazy.ts"],
  v1: ["aip", "authz", "limits.ts", "pipeline", "resource", "services", "soon.ts", "storage", "uid.ts", "gen"],
  v2: ["lazy.ts", "soon.ts", "types:pipeline", "gen/google"],
  pipeline: [
    "aip",
    "authn",
    "authz",
    "types:clock.ts",
    "lazy.ts",
    "random.ts",
    "soon.ts",
    "uid.ts",
    "storage/errors.ts",
    // The snapshot that a call reads from.
    "types:storage/session.ts",
    "types:observe",
    "gen/google",
    "gen/chainguard/annotations",
  ],
  resource: [
    "aip",
    "types:authz",
    "frozen.ts",
    "pipeline",
    "soon.ts",
    "storage",
    "types:clock.ts",
    "uid.ts",
    "gen/chainguard/annotations",
    "gen/google",
  ],
  services: [
    "advisories",
    "aip",
    "authn/addresses.ts",
    "authn/bearer.ts",
    "types:authn",
    "authn/issuer-url.ts",
    "authz",
    "pipeline",
    "resource",
    "storage",
    "sts",
    "types:clock.ts",
    "frozen.ts",
    "soon.ts",
    "uid.ts",
    "gen",
  ],
  "sign-in": [
    "audit/client.ts",
    "types:audit",
    "aip",
    "authn",
    "authz/access.ts",
    "types:clock.ts",
    "json.ts",
    "lazy.ts",
    "uid.ts",
    "doors/client-address.ts",
    "doors/http-message.ts",
    "doors/site.ts",
    "types:doors",
    "pipeline/finish-error.ts",
    "pipeline/rule-book.ts",
    "services/auth",
    "services/iam/identities.ts",
    "services/iam/client-secret.ts",
    "services/iam/mapping-limits.ts",
    "services/iam/membership.ts",
    "services/iam/provider-rows.ts",
    "storage",
    "sts",
    "types:config.ts",
  ],
  development: ["doors/http-message.ts", "doors/site.ts", "lazy.ts", "types:doors", "sign-in/html.ts", "types:sign-in"],
  events: ["authn", "types:clock.ts", "random.ts", "types:resource/event-definition.ts", "storage", "uid.ts"],
  "services.ts": ["pipeline", "services", "gen"],
  "api.ts": [
    "lazy.ts",
    "pipeline",
    "services.ts",
    "services/event-definitions.ts",
    "v1",
    "v2",
    "types:resource",
    "types:gen",
  ],
  bundle: ["api.ts", "doors/rest/http-rule.ts", "gen/chainguard/platform/oidc"],
  "operations.ts": ["lazy.ts", "services/operations", "types:pipeline"],
  storage: ["clock.ts", "compile.ts", "directories.ts", "lazy.ts", "random.ts", "reader.ts", "soon.ts", "uid.ts"],
  "doors.ts": [
    "aip",
    "authn/basic.ts",
    "doors",
    "limits.ts",
    "network-address.ts",
    "pipeline/observe.ts",
    "types:pipeline",
    "settings.ts",
    "system-error.ts",
    "types:api.ts",
    "types:config.ts",
    "types:listen-config.ts",
  ],
  doors: [
    "aip",
    "pipeline",
    "clock.ts",
    "compile.ts",
    "frozen.ts",
    "json.ts",
    "lazy.ts",
    "network-address.ts",
    "node-http.ts",
    "soon.ts",
    "gen/google",
  ],
  "development.ts": [
    "authz",
    "clock.ts",
    "development",
    "directories.ts",
    "services",
    "settings.ts",
    "storage",
    "system-error.ts",
    "types:server.ts",
    "types:config.ts",
  ],
  "outside.ts": [
    "lazy.ts",
    "authn/outbound.ts",
    "development/login.ts",
    "network-address.ts",
    "sign-in/sign-in.ts",
    "types:config.ts",
    "types:live-secrets.ts",
    "types:doors",
    "types:sign-in",
    "types:sts",
  ],
  "openapi.ts": ["doors/detail-types.ts", "lazy.ts", "openapi", "types:api.ts", "types:doors", "types:pipeline"],
  openapi: ["aip", "authz", "doors/rest", "gen/comments.ts", "v2/alias.ts", "version.ts", "types:pipeline"],
  "pages.ts": ["authn", "doors/site.ts", "readiness.ts", "types:config.ts", "types:observe", "types:registry"],
  "token-service.ts": ["*"],
  "server.ts": ["*"],
  cli: ["*"],
};

interface Import {
  /** Below src, or `gen/…`. */
  readonly target: string;
  readonly isType: boolean;
}

/** Rules that a folder cannot express. */
const onlyIn: readonly { readonly what: RegExp; readonly where: RegExp; readonly why: string }[] = [
  { what: /process\.env\b/, where: /^(main|settings)\.ts$/, why: "only main reads the environment" },
  {
    what: /Date\.now\(\)|new Date\(\)/,
    where: /^(clock\.ts|cli\/|development\.ts)/,
    why: "time is injected",
  },
  {
    what: /from "@connectrpc\//,
    where:
      /^(doors\/(router|connect-adapter|connect-check|connect-error|fast\/connect-failure)\.ts|(services\/)?operations|cli\/client\/)/,
    why: "only the doors of Connect and the client know it",
  },
  {
    what: /\btimestamp(Ms|Date|Now|FromMs|FromDate)\b/,
    where: /^aip\/timestamps\.ts$/,
    why: "times are converted in one place, which rounds down",
  },
  { what: /new Function\(|\beval\(/, where: /^compile\.ts$/, why: "code is made of text in one place" },
  { what: /from "drizzle-orm/, where: /^storage\//, why: "only storage knows the database" },
];

const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

describe("architecture", () => {
  for (const file of files) {
    const source = sourceOf(file);
    it(`${file} imports only what its folder may`, () => {
      for (const imported of importsOf(file, source)) {
        assert.ok(mayImport(partOf(file), imported), `${file} must not import ${imported.target}`);
      }
    });
    for (const { what, where, why } of onlyIn) {
      if (!where.test(file)) it(`${file}: ${why}`, () => assert.doesNotMatch(withoutComments(source), what));
    }
  }

  for (const [part, rules] of Object.entries(allowed)) {
    it(`${part} may import no more than it does`, () => {
      const imports = files.filter((file) => partOf(file) === part).flatMap((file) => importsOf(file, sourceOf(file)));
      for (const rule of rules) assert.ok(imports.some(needs(rule)), `${part} does not need ${rule}`);
    });
  }

  it("every part of src has a rule", () => {
    const parts = new Set(files.map(partOf));
    assert.deepEqual([...parts].sort(), Object.keys(allowed).sort());
  });
});

/** The folder or top-level file that a file belongs to. */
function partOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function sourceOf(file: string): string {
  return readFileSync(path.join("src", file), "utf8");
}

function importsOf(file: string, source: string): Import[] {
  const statements = source.matchAll(/(import|export)( type)?[^;"']*?from "(\.[^"]+)"|import\("(\.[^"]+)"\)/g);
  return [...statements].map((match) => {
    const resolved = path.normalize(path.join("src", path.dirname(file), match[3] ?? match[4] ?? ""));
    return { target: resolved.replace(/^src\//, ""), isType: match[2] !== undefined };
  });
}

function mayImport(part: string, imported: Import): boolean {
  return partOf(imported.target) === part || (allowed[part] ?? []).some((rule) => allows(rule, imported));
}

function allows(rule: string, { target, isType }: Import): boolean {
  const [place, typesOnly] = rule.startsWith("types:") ? [rule.slice(6), true] : [rule, false];
  const matches = place === "*" || target === place || target.startsWith(`${place}/`);
  return matches && (isType || !typesOnly);
}

/** Whether an import is one that the rule is there for: a rule that allows more than types is there for more. */
function needs(rule: string): (imported: Import) => boolean {
  return (imported) => allows(rule, imported) && (rule.startsWith("types:") || !imported.isType);
}

function withoutComments(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
}
