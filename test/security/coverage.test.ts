// The tests of each security case (cases.ts). A case whose feature does not exist yet is pending.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { securityCases } from "./cases.ts";

/** The test files of each case, below test/; or the missing feature, after `pending:`. */
const coverage: Readonly<Record<keyof typeof securityCases, string | readonly string[]>> = {
  T1: ["authn/jws", "security/tokens", "security/registry-tokens"],
  T2: ["authn/jws", "security/tokens"],
  T3: ["authn/jws", "security/tokens"],
  T4: ["authn/tokens-refused", "security/tokens", "security/operation", "security/registry-tokens"],
  T5: ["authn/tokens-refused", "security/tokens", "security/registry-tokens"],
  T6: ["authn/tokens-refused", "security/tokens", "security/registry-tokens"],
  T7: ["authn/jws", "security/tokens", "security/registry-tokens", "security/sign-in"],
  T8: ["authn/jws", "security/tokens", "security/registry-tokens"],
  T9: ["authn/jws", "authn/bearer", "security/tokens"],
  T10: ["authn/jws", "security/tokens"],
  T11: ["authn/tokens-refused", "security/tokens", "security/sign-in"],
  T12: ["authn/key-ring", "authn/token-cache"],
  T13: ["authn/key-ring", "authn/token-cache", "authn/jws"],
  T14: [
    "authn/bearer",
    "transport/listener/request-guard",
    "security/tokens",
    "security/registry-tokens",
    "security/registry-notifications",
  ],
  T15: ["security/tokens", "security/registry-tokens"],
  J1: ["model/issuer-url", "security/exchange"],
  J2: ["outbound/http", "security/exchange", "security/registry-notifications"],
  J3: ["authn/issuers", "outbound/http", "security/registry-notifications"],
  J4: ["outbound/http"],
  J5: ["outbound/http", "authn/issuers", "security/registry-notifications"],
  J6: ["authn/issuers", "security/sign-in"],
  J7: ["sts/identity-rules", "security/exchange"],
  J8: ["authn/key-sets", "security/exchange"],
  J9: ["authn/issuers"],
  X1: ["security/exchange", "security/registry-tokens", "security/narrowed-tokens"],
  X2: ["security/exchange", "security/registry-tokens"],
  X3: ["sts/exchange", "sts/exchange-own", "security/exchange", "security/registry-tokens"],
  X4: ["security/exchange"],
  X5: ["security/sign-in"],
  X6: ["authz/access", "security/exchange", "security/narrowed-tokens"],
  X7: ["security/sign-in"],
  X8: ["security/sign-in"],
  X9: ["sts/exchange", "security/exchange"],
  X10: ["sts/claim-match", "security/exchange", "security/provider-escalation"],
  X11: ["sts/exchange", "security/exchange", "security/sign-in"],
  X12: ["security/sign-in"],
  X13: ["security/exchange"],
  X14: ["security/exchange", "security/registry-tokens"],
  M1: ["sts/patterns/patterns", "security/exchange"],
  M2: ["sts/patterns/patterns", "security/exchange"],
  M3: ["sts/patterns/patterns", "security/exchange"],
  M4: ["sts/patterns/patterns", "security/exchange"],
  M5: ["sts/claim-match", "security/exchange"],
  M6: ["sts/identity-rules", "security/exchange"],
  M7: ["sts/claim-match"],
  M8: ["sts/claim-match", "security/exchange"],
  R1: ["security/roles-and-bindings"],
  R2: ["security/roles-and-bindings", "security/provider-escalation", "security/capability-matrix"],
  R3: ["security/roles-and-bindings"],
  R4: ["security/sign-in"],
  R5: ["security/roles-and-bindings"],
  R6: ["security/roles-and-bindings"],
  R7: ["security/roles-and-bindings"],
  R8: "pending: import of bundles",
  R9: ["security/roles-and-bindings"],
  R10: ["security/roles-and-bindings", "security/concurrency"],
  R11: ["security/exchange"],
  R12: ["security/roles-and-bindings"],
  I1: ["security/tenancy", "security/registry-tokens", "v1/tenancy", "security/capability-matrix"],
  I2: ["authz/access", "security/tenancy"],
  I3: ["security/tenancy", "v1/tenancy"],
  I4: ["authz/access", "security/tenancy", "security/capability-matrix"],
  I5: ["security/tenancy"],
  I6: ["security/tenancy"],
  I7: ["registry/name", "security/tenancy", "v1/tenancy"],
  I8: ["security/roles-and-bindings", "security/tenancy"],
  I9: ["security/tenancy", "services/registry/images"],
  I10: ["security/tenancy"],
  P1: ["aip/page-token", "security/lists"],
  P2: ["aip/page-token", "security/lists"],
  P3: ["security/lists"],
  P4: ["security/lists"],
  P5: ["security/tenancy"],
  P6: ["security/lists"],
  P7: ["security/lists"],
  P8: ["security/lists"],
  P9: ["security/lists"],
  F1: ["security/bodies"],
  F2: ["transport/rest/implied-mask", "security/bodies"],
  F3: ["transport/rest/json-body", "security/bodies"],
  F4: ["transport/rest/json-body", "security/bodies", "security/registry-notifications"],
  F5: ["transport/rest/json-body", "security/bodies"],
  F6: ["transport/rest/json-body", "security/bodies"],
  F7: ["security/bodies"],
  F8: ["security/bodies"],
  F9: ["security/bodies", "security/registry-tokens", "security/registry-notifications"],
  F10: ["security/bodies", "services/registry/markdown"],
  H1: ["transport/rest/routes", "security/http"],
  H2: ["transport/rest/routes", "security/http"],
  H3: ["transport/listener/http1-server", "transport/listener/http2-server", "security/http"],
  H4: ["security/http"],
  H5: ["transport/listener/http1-server", "transport/listener/http2-server"],
  H6: ["security/http"],
  H7: ["transport/rest/rest-transport", "security/http"],
  H8: ["transport/rest/rest-transport", "security/http"],
  D1: ["transport/listener/http2-server"],
  D2: ["transport/listener/http1-server", "transport/listener/http2-server"],
  D3: ["transport/listener/http2-server"],
  D4: ["transport/listener/http1-server", "transport/listener/http2-server"],
  D5: ["security/denial-of-service"],
  D6: [
    "transport/listener/http1-server",
    "transport/listener/http2-server",
    "transport/idle",
    "transport/listener/protocol-detection",
    "transport/listener/tls",
  ],
  D7: ["transport/idle"],
  D8: [
    "authn/jws",
    "security/tokens",
    "security/denial-of-service",
    "security/registry-tokens",
    "security/registry-notifications",
  ],
  D9: ["security/roles-and-bindings"],
  D10: "pending: a monitor of the event loop outside of the tests, which assert no times",
  D11: ["security/durability"],
  L1: [
    "api/ways",
    "security/secrets",
    "security/invites",
    "security/providers",
    "security/registry-tokens",
    "security/registry-notifications",
    "security/sign-in",
  ],
  L2: ["security/secrets"],
  L3: ["security/secrets"],
  L4: ["services/access/access", "sts/explanation"],
  L5: ["security/secrets"],
  L6: ["api/ways"],
  L7: ["security/providers"],
  W1: ["security/events"],
  W2: ["security/events"],
  W3: ["security/events"],
  W4: ["security/events"],
  W5: ["security/events"],
  C1: ["security/operation", "security/registry-notifications"],
  C2: ["cli/program", "security/secrets-at-rest"],
  C3: ["security/operation", "security/invites", "security/providers"],
  C4: ["transport/listener/tls"],
  C5: ["security/operation"],
  Q1: ["security/concurrency", "security/providers"],
  Q2: ["security/tokens"],
  Q3: ["security/sign-in"],
  Q4: ["security/concurrency"],
  Q5: ["security/concurrency"],
  Q6: ["security/durability"],
  O1: ["cli/program"],
  O2: ["config/config", "security/operation"],
  O3: ["security/operation"],
  O4: ["security/operation"],
  O5: ["authn/jws", "security/tokens"],
  O6: ["security/operation"],
};

/** Codes in comments and test names: `security cases J2 to J5`, `(M8)`, `"T15, Q2: …"`. */
const codes = /\b[A-Z]\d{1,2}\b/g;
const citations =
  /[Ss]ecurity cases?(?:\s|\*|\/\/)+(?:(?:, | to | and )?\b[A-Z]\d{1,2}\b)+|["`(][A-Z]\d{1,2}(?:, [A-Z]\d{1,2})*(?:[:)]| [a-z])/g;

describe("a security case", () => {
  for (const [code, tests] of Object.entries(coverage)) {
    if (typeof tests === "string") {
      it(`${code} is pending until its feature exists`, () => assert.match(tests, /^pending: \w/));
    } else {
      it(`${code} is in the names of its tests`, () => {
        assert.ok(tests.length > 0);
        for (const file of tests) assert.match(quotedTexts(fileOf(file)), new RegExp(`\\b${code}\\b`), file);
      });
    }
  }

  it("is a sentence", () => {
    for (const [code, sentence] of Object.entries(securityCases)) assert.match(sentence, /^[A-Z].+ .+\.$/, code);
  });

  it("exists for every code that a comment or a test name cites", () => {
    for (const file of globSync(["{src,test}/**/*.ts", "console/src/**/*.{ts,tsx}"], {
      exclude: ["**/node_modules/**"],
    }))
      for (const [citation] of readFileSync(file, "utf8").matchAll(citations))
        for (const [code] of citation.matchAll(codes)) assert.ok(code in securityCases, `${file}: ${citation}`);
  });
});

/** Returns the path of a file of tests, which `npm test` runs or leaves to the full matrix. */
function fileOf(name: string): string {
  const [file] = globSync(`test/${name}{.test,.full,}.ts`);
  return file ?? assert.fail(`no file of tests is named ${name}`);
}

/** Returns the quoted texts of a file, which include the names of tests; comments are left out. */
function quotedTexts(file: string): string {
  const code = readFileSync(file, "utf8").replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  return (code.match(/"(?:[^"\\\n]|\\.)*"|`[^`]*`/g) ?? []).join("\n");
}
