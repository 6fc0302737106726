// The stage of a case: a fresh organization with its actors, and another organization that they cannot see.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { Code } from "../../src/aip/errors.ts";
import { builtInRoles } from "../../src/authz/built-in-roles.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import type { ApiClient } from "../harness/api-clients.ts";
import type { TestServer } from "../harness/server.ts";
import { type Variables, valueAt } from "./variables.ts";

/** The organization of one case. */
export interface Stage {
  /** `root`, the uids of the people by their names, `missing` (a uid in the root that is nothing), and more. */
  readonly variables: Variables;
  /** Returns the token of an actor, or of the identity with this uid; undefined for `anonymous`. */
  tokenOf(actor: string): Promise<string | undefined>;
}

/** Returns a clock that never tells the same time twice, so the order of creation is never left to chance. */
export function tickingClock(): Clock {
  let last = 0;
  return () => {
    last = Math.max(last + 1, systemClock());
    return last;
  };
}

const iam = "/chainguard.platform.iam.v2beta1.";
const trustedIssuer = "https://accounts.google.com";

/** Returns the e-mail claims of actors without roles, with the domain of the stage. */
const mail = (domain: string): Readonly<Record<string, { email: string; verified?: boolean; issuer?: string }>> => ({
  member: { email: `someone@${domain}` },
  "member of a subdomain": { email: `someone@mail.${domain}` },
  "member with an unverified address": { email: `someone@${domain}`, verified: false },
  "member by an untrusted issuer": { email: `someone@${domain}`, issuer: "https://issuer.example.org" },
  "member by a shared domain": { email: "someone@gmail.com" },
  "member with two at-signs": { email: `someone@evil.example@${domain}` },
});

/** Makes what a case needs, through a transport, as the operator of the installation. */
export async function openStage(server: TestServer, apiClient: ApiClient, name: string): Promise<Stage> {
  const call = (method: string, request: JsonObject) => mustCall(apiClient, server.ownerToken, method, request);
  const root = valueAt(await call("GroupsService/CreateGroup", { group: { name: "root" } }), "uid") as string;
  const people: Record<string, string> = {};
  for (const person of ["owner", "editor", "viewer", "nobody"]) {
    const claimMatch = { issuer: "https://issuer.example.org", subject: person };
    const identity = { name: person, description: `The ${person}`, claimMatch };
    people[person] = valueAt(
      await call("IdentitiesService/CreateIdentity", { parent: root, identity }),
      "uid",
    ) as string;
  }
  const roles = Object.fromEntries(builtInRoles.map((role) => [role.name, role.uid]));
  const requests = ["owner", "editor", "viewer"].map((person) => ({
    roleBinding: { identityUid: people[person]!, roleUid: roles[person]! },
  }));
  await call("RoleBindingsService/BatchCreateRoleBindings", { parent: root, requests });
  const domain = `${name}.example`;
  // Making and proving a token costs more than most calls.
  const tokens = new Map<string, Promise<string | undefined>>();
  return {
    variables: {
      root,
      server: server.config.baseUrl,
      ...people,
      operator: server.ownerUid,
      roles,
      missing: `${root}/0000000000000000`,
      foreign: server.groupUid,
      domain,
      long: Object.fromEntries(
        [128, 255, 256, 257, 512, 513, 2048, 2049, 4097].map((length) => [length, "z".repeat(length)]),
      ),
      time: {
        yesterday: daysFromNow(-1),
        tomorrow: daysFromNow(1),
        inElevenMonths: daysFromNow(335),
        nextYear: daysFromNow(367),
        inThreeYears: daysFromNow(1096),
      },
    },
    tokenOf(actor) {
      const token = tokens.get(actor) ?? tokenOf(server, people, domain, actor);
      tokens.set(actor, token);
      return token;
    },
  };
}

/** In whole seconds, which all JSON libraries write alike. */
function daysFromNow(days: number): string {
  return new Date(systemClock() + days * 24 * 60 * 60 * 1000).toISOString().replace(/\.\d+/, "");
}

async function tokenOf(server: TestServer, people: Record<string, string>, domain: string, actor: string) {
  if (actor === "anonymous") return undefined;
  if (actor === "forger") return "e30.e30.e30";
  if (actor === "operator") return server.ownerToken;
  const address = mail(domain)[actor];
  if (!address) return await server.tokenOf(people[actor] ?? actor);
  const { email, verified = true, issuer = trustedIssuer } = address;
  const audience = server.config.baseUrl;
  const act = { iss: issuer, sub: actor, aud: audience };
  const said = { email, emailVerified: verified, act, grants: {}, narrowing: {} };
  return (await server.server.tokens.issue({ subject: people.nobody!, audience: [audience], ...said })).token;
}

async function mustCall(apiClient: ApiClient, token: string, method: string, request: JsonObject): Promise<JsonValue> {
  const { code, message, response } = await apiClient.call(token, iam + method, request);
  assert.equal(code, Code.OK, `${method}: ${message}`);
  return response ?? {};
}
