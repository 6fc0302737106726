// The structure of src: which folder may import which, no circles, and which packages are imported where.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { circlesOf, graphOf } from "./circles.ts";
import { codeOf, files, type Import, imports } from "./sources.ts";

/** The folders of src that each folder may import, besides itself. `types:` allows type imports only. */
const folders: Readonly<Record<string, readonly string[]>> = {
  base: [],
  model: ["base"],
  config: ["base", "model"],
  aip: ["base"],
  observe: ["base"],
  storage: ["base", "model"],
  outbound: ["base"],
  authn: ["aip", "base", "model", "outbound"],
  authz: ["aip", "types:authn", "base", "model"],
  pipeline: ["aip", "authn", "authz", "base", "model", "types:observe", "storage"],
  resource: ["aip", "types:authz", "base", "model", "pipeline", "storage"],
  advisories: ["aip", "base"],
  sboms: ["advisories", "base"],
  sts: ["aip", "authn", "authz", "base", "model", "outbound", "types:pipeline"],
  services: ["advisories", "aip", "authn", "authz", "base", "model", "pipeline", "resource", "sboms", "storage", "sts"],
  v1: ["aip", "authz", "base", "model", "pipeline", "resource", "services", "storage"],
  v2: ["base", "types:pipeline"],
  "access-log": ["aip", "types:authn", "authz", "types:base", "model", "pipeline", "storage", "types:sts"],
  events: ["authn", "base", "model", "outbound", "types:resource", "storage"],
  transport: ["aip", "base", "pipeline"],
  "token-endpoint": ["aip", "authn", "model", "sts", "types:transport"],
  "registry-token": ["aip", "authn", "types:authz", "base", "model", "storage", "sts", "types:transport"],
  scim: ["aip", "authn", "base", "model", "types:pipeline", "services", "storage", "types:transport"],
  "registry-notifications": [
    "aip",
    "authn",
    "base",
    "model",
    "types:pipeline",
    "outbound",
    "services",
    "storage",
    "types:transport",
    "types:registry-token",
  ],
  "registry-contents": [
    "aip",
    "base",
    "model",
    "outbound",
    "pipeline",
    "registry-notifications",
    "sboms",
    "services",
    "storage",
  ],
  // Feeds read the API of their own process, and respond as the REST transport does.
  "advisory-feeds": ["advisories", "aip", "base", "model", "pipeline", "storage", "transport"],
  authzen: ["aip", "authz", "types:base", "model", "pipeline", "storage", "types:transport"],
  openapi: ["aip", "authz", "base", "model", "pipeline", "transport", "v2"],
  "sign-in": [
    "types:access-log",
    "aip",
    "authn",
    "authz",
    "base",
    "types:config",
    "console",
    "model",
    "outbound",
    "pipeline",
    "services",
    "storage",
    "sts",
    "transport",
  ],
  console: ["base", "transport"],
  server: ["*"],
  cli: ["*"],
  "main.ts": ["cli", "config"],
};

/** The entries of a folder, from the ground up: each imports only those before it. */
const levels: Readonly<Record<string, readonly string[]>> = {
  storage: [
    "schema",
    "engine",
    "change-log",
    "collection",
    "list",
    "search",
    "iam",
    "images",
    "registry",
    "events",
    "sign-in",
    "vulnerabilities",
    "names",
    "statistics",
    "check",
    "cache",
    "database.ts",
    "joined-database.ts",
    "installation",
    "sweep.ts",
    "transfer",
  ],
  transport: [
    "error-detail-types.ts",
    "http",
    "listener",
    "json",
    "rest",
    "unary",
    "streaming",
    "forwarding",
    "connect",
    "pages",
  ],
};

/** The folders that may import a package. A package that is not listed may be imported nowhere. */
const packages: Readonly<Record<string, readonly string[]>> = {
  "@bomb.sh/tab": ["cli/completion"],
  "@bufbuild/protobuf": ["."],
  "@bufbuild/protoplugin": ["openapi"],
  "@connectrpc/connect": ["cli", "transport"],
  "@connectrpc/connect-node": ["cli/client", "transport/connect"],
  "@jmespath-community/jmespath": ["cli/output"],
  "@peculiar/asn1-schema": ["registry-token"],
  "@peculiar/asn1-x509": ["registry-token"],
  "@renovatebot/pep440": ["advisories/versions"],
  "ae-cvss-calculator": ["advisories"],
  ...Object.fromEntries(
    ["api", "context-async-hooks", "core", "exporter-trace-otlp-http", "resources", "sdk-trace"].map((name) => [
      `@opentelemetry/${name}`,
      ["observe/traces"],
    ]),
  ),
  "better-sqlite3": ["cli", "storage/engine/sqlite", "storage/schema"],
  "cli-progress": ["cli/client"],
  commander: ["cli"],
  "csv-stringify": ["cli/output"],
  "drizzle-kit": ["storage/schema"],
  "drizzle-orm": ["storage"],
  jose: ["cli", "services/organization-export"],
  "lru-cache": [
    "access-log",
    "advisories",
    "authn",
    "authz",
    "pipeline",
    "registry-contents",
    "registry-token",
    "services/findings",
    "services/iam",
    "services/registry",
    "sign-in",
    "storage",
    "sts",
  ],
  "markdown-it": ["services/registry"],
  "markdown-it-footnote": ["services/registry"],
  node: ["."],
  "oidc-provider": ["server/development"],
  open: ["cli/auth"],
  "openid-client": ["sign-in"],
  "packageurl-js": ["advisories"],
  parse5: ["services/registry"],
  pg: ["storage/engine/postgres"],
  pino: ["access-log", "cli", "events", "observe", "pipeline", "server", "sign-in"],
  "prom-client": ["observe"],
  re2js: ["sts/patterns"],
  semver: ["advisories/versions"],
  "scim2-parse-filter": ["scim"],
  "string-width": ["cli/output"],
  yaml: ["advisories", "cli"],
  yauzl: ["cli/advisories"],
};

/** Constructs that only some files may contain. */
const only: readonly { readonly what: RegExp; readonly where: RegExp; readonly why: string }[] = [
  { what: /process\.env\b/, where: /^main\.ts$/, why: "only main reads the environment" },
  {
    what: /Date\.now\(\)|new Date\(\)/,
    where: /^(base\/clock\.ts|cli\/|server\/development\/development\.ts)/,
    why: "time is injected",
  },
  {
    what: /\btimestamp(Ms|Date|Now|FromMs|FromDate)\b/,
    where: /^aip\/timestamps\.ts$/,
    why: "times are converted in one place, which rounds down",
  },
  {
    what: /Object\.freeze\(/,
    where: /^(base\/memoize-frozen|storage\/cache\/(row|page)-cache|transport\/unary\/grpc)\.ts$/,
    why: "what is frozen is memoized (docs/decisions/0055)",
  },
  {
    what: /\bdialect (?:===|!==)|\bdialect\]/,
    where: /^storage\/(engine|schema)\//,
    why: "the databases differ in the engine, whose sessions say how",
  },
  { what: /new Function\(|\beval\(/, where: /^base\/compile\.ts$/, why: "code is generated in one place" },
];

describe("folders of src", () => {
  const isOwn = ({ target }: Import) => !/^(gen\/|\.\.|package\.json$)/.test(target);
  const own = imports.filter((imported) => !imported.isPackage && isOwn(imported));

  it("each has a rule", () => {
    assert.deepEqual([...new Set(files.map(topOf))].sort(), Object.keys(folders).sort());
  });

  it("each folder of src is described in docs/design/architecture.md", () => {
    const page = readFileSync(new URL("../../docs/design/architecture.md", import.meta.url), "utf8");
    const described = [...page.matchAll(/^\*\*`([\w.-]+?)\/?`\*\*/gm)].map(([, name]) => name);
    assert.deepEqual(described.toSorted(), Object.keys(folders).sort());
  });

  for (const [folder, rules] of Object.entries(folders)) {
    it(`${folder} imports what it may, and no rule is superfluous`, () => {
      const outgoing = own.filter(({ from, target }) => topOf(from) === folder && topOf(target) !== folder);
      const refused = outgoing.filter((imported) => !rules.some((rule) => allows(rule, imported)));
      assert.deepEqual(refused.map(describeImport), []);
      const isNeeded = (rule: string) =>
        outgoing.some((it) => allows(rule, it) && it.isType === rule.startsWith("types:"));
      assert.deepEqual(
        rules.filter((rule) => rule !== "*" && !isNeeded(rule)),
        [],
      );
    });
  }

  for (const [folder, order] of Object.entries(levels)) {
    it(`the entries of ${folder} import only those below them`, () => {
      const level = (file: string) => order.indexOf(entryOf(folder, file) ?? "");
      const within = own.filter(({ from, target }) => isIn(folder, from) && isIn(folder, target));
      const upward = within.filter(({ from, target }) => level(from) < level(target));
      assert.deepEqual(upward.map(describeImport), []);
      const present = new Set(files.filter((file) => isIn(folder, file)).map((file) => entryOf(folder, file)));
      assert.deepEqual([...present].sort(), order.toSorted());
    });
  }

  it("no file imports itself through others", () => {
    assert.deepEqual(circlesOf(graphOf(own.map(({ from, target }) => [from, target]))), []);
  });

  for (const folder of foldersOf(files)) {
    it(`the entries of ${folder} do not import each other in a circle`, () => {
      const edges = own.flatMap(({ from, target }): [string, string][] => {
        const [a, b] = [entryOf(folder, from), entryOf(folder, target)];
        return a !== undefined && b !== undefined && a !== b ? [[a, b]] : [];
      });
      assert.deepEqual(circlesOf(graphOf(edges)), []);
    });
  }
});

describe("packages", () => {
  const used = imports.filter(({ isPackage }) => isPackage);

  it("are imported only where they may be", () => {
    const refused = used.filter(({ from, target }) => !packages[target]?.some((place) => isIn(place, from)));
    assert.deepEqual(refused.map(describeImport), []);
  });

  it("have no rule that is superfluous", () => {
    const unused = Object.entries(packages).flatMap(([name, places]) =>
      places
        .filter((place) => !used.some(({ from, target }) => target === name && isIn(place, from)))
        .map((place) => `${place} does not need ${name}`),
    );
    assert.deepEqual(unused, []);
  });
});

describe("code", () => {
  it("storage names a driver only in the engine of its database and in the loader", () => {
    const driver = /"(?:better-sqlite3|pg|drizzle-orm\/(?:better-sqlite3|node-postgres)(?:\/[^"]*)?)"/;
    const isDriverFile = /^storage\/(?:engine\/(?:sqlite|postgres)\/|schema\/drizzle\.ts$)/;
    const named = files.filter((file) => isIn("storage", file) && driver.test(codeOf.get(file) ?? ""));
    assert.deepEqual(
      named.filter((file) => !isDriverFile.test(file)),
      [],
    );
  });

  for (const { what, where, why } of only) {
    it(why, () => {
      assert.deepEqual(
        files.filter((file) => !where.test(file) && what.test(codeOf.get(file) ?? "")),
        [],
      );
    });
  }
});

function topOf(file: string): string {
  return file.split("/")[0] ?? file;
}

function isIn(folder: string, file: string): boolean {
  return folder === "." || file.startsWith(`${folder}/`);
}

function allows(rule: string, { target, isType }: Import): boolean {
  const folder = rule.replace(/^types:/, "");
  return (folder === "*" || topOf(target) === folder) && (isType || !rule.startsWith("types:"));
}

/** Every folder that has files, with those above it; "." is src. */
function foldersOf(all: readonly string[]): Set<string> {
  const found = new Set<string>(["."]);
  for (const file of all) {
    for (let folder = path.posix.dirname(file); folder !== "."; folder = path.posix.dirname(folder)) found.add(folder);
  }
  return found;
}

/** Returns the file or folder directly in `folder` that a file belongs to, or undefined for a file outside of it. */
function entryOf(folder: string, file: string): string | undefined {
  if (!isIn(folder, file)) return undefined;
  return (folder === "." ? file : file.slice(folder.length + 1)).split("/")[0];
}

function describeImport({ from, target, isType }: Import): string {
  return `${from} imports ${isType ? "types of " : ""}${target}`;
}
