// I, R: every RPC of every version x who may call it: with just what it demands, with all but one of that, and from elsewhere.
import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { Code, codeName } from "../../src/aip/errors.ts";
import { accessRuleOf } from "../../src/authz/rules.ts";
import { allCapabilities } from "../../src/model/capabilities.ts";
import { methodPath } from "../../src/pipeline/compose.ts";
import { type ApiClient, openApiClient, services } from "../harness/api-clients.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";
import { targets } from "../v1/tenancy-requests.ts";
import { demandOf, placesOf } from "./matrix.ts";
import { type Kind, requestFor, type Things } from "./matrix-requests.ts";
import { addMapping, addProvider } from "./provider-tree.ts";
import { addAdvisory, addRepo, addSubscription, addTag } from "./registry-tree.ts";
import { addRequest, addRequestRule } from "./request-tree.ts";
import { addReview } from "./review-tree.ts";
import {
  addAssociation,
  addCaller,
  addGroup,
  addIdentity,
  addInvite,
  addPerson,
  addRole,
  bind,
  viewerRole,
} from "./tree.ts";

/** A call that is in order; what it is about is there, unless `absent` is asked for. */
type Ask = (absent: boolean) => JsonObject;

let server: TestServer;
let apiClient: ApiClient;
let root: string;
let things: Things;
/** A person with a role at the group. */
let person: string;
/** Callers who may do everything, but elsewhere. */
let elsewhere: Readonly<Record<string, string>>;
const tokens = new Map<string, Promise<string>>();
const places = placesOf(services);
/** Requests that are not made from the descriptors: of methods that are checked nowhere in particular, too. */
const byHand: Readonly<Record<string, Ask>> = {
  "iam.v2beta1.RolesService/GetRole": (absent) => ({ uid: uidOf("role", absent) }),
  "iam.GroupInvites/CreateWithGroup": () => ({ group: "group", role: viewerRole.uid, ttl: "60s" }),
  "registry.Registry/GetPackageVersionMetadata": () => ({ package: "package" }),
  "gatehouse.access.v1.AccessService/ExplainExchange": (absent) => ({
    identity: uidOf("identity", absent),
    token: "token",
  }),
  "gatehouse.iam.v1.DelegationsService/ConfirmDelegation": (absent) => ({ uid: uidOf("groupInvite", absent) }),
  "gatehouse.iam.v1.MembershipsService/RemoveMember": () => ({
    organization: root,
    identity: person,
    validateOnly: true,
  }),
  "gatehouse.iam.v1.MembershipsService/ListMemberSessions": (absent) => ({
    organization: uidOf("group", absent),
    identity: person,
  }),
  "gatehouse.iam.v1.MembershipsService/EndMemberSession": (absent) => ({
    organization: uidOf("group", absent),
    identity: person,
    sessionId: "session",
  }),
  "gatehouse.apply.v1.ApplyService/ApplyResources": (absent) => ({
    groupUid: uidOf("group", absent),
    resources: [{ group: { name: "applied" } }],
  }),
  "gatehouse.organizations.v1.OrganizationImportService/ImportResources": () => ({
    organizationUid: root,
    resources: [{ group: { uid: `${root}/${"a".repeat(16)}`, name: "imported" } }],
  }),
  "gatehouse.organizations.v1.OrganizationExportService/ExportClientSecret": (absent) => ({
    identityProviderUid: uidOf("identityProvider", absent),
    recipientKey,
  }),
  "gatehouse.access.v1.AccessService/CountRoleBindings": (absent) => ({
    group: uidOf("group", absent),
    roles: [viewerRole.uid],
  }),
  "gatehouse.iam.v1.GroupTreeService/FindGroupPosition": (absent) => ({ parent: uidOf("group", absent), name: "a" }),
  "gatehouse.events.v1.DeliveryService/CheckSink": (absent) => ({
    parent: uidOf("group", absent),
    sink: "https://sink.example.org/events",
  }),
  "gatehouse.events.v1.DeliveryService/GetAttempt": (absent) => ({
    uid: `${uidOf("subscription", absent)}/${"a".repeat(16)}`,
  }),
  "gatehouse.events.v1.DeliveryService/Redeliver": (absent) => ({
    subscriptionUid: uidOf("subscription", absent),
    eventIds: [randomUUID()],
  }),
  "gatehouse.events.v1.DeliveryService/UpdateSubscriptionSettings": (absent) => ({
    settings: { uid: uidOf("subscription", absent), paused: true },
  }),
  "gatehouse.iam.v1.IdentityProviderTestService/TestIdentityProvider": (absent) => ({
    uid: uidOf("identityProvider", absent),
  }),
  "gatehouse.operate.v1.OperateService/RetireSigningKey": () => ({ keyId: "A".repeat(43) }),
  "gatehouse.operate.v1.OperateService/EndSession": () => ({ sessionId: "session" }),
  "gatehouse.vulnerabilities.v1.AdvisoryQueryService/QueryAffected": () => ({ query: { purl: "pkg:npm/a@1" } }),
  "gatehouse.vulnerabilities.v1.AdvisoryQueryService/BatchQueryAffected": () => ({
    queries: [{ purl: "pkg:npm/a@1" }],
  }),
  "gatehouse.vulnerabilities.v1.OsvService/QueryVulnerabilities": () => ({ package: { purl: "pkg:npm/a@1" } }),
  "gatehouse.vulnerabilities.v1.OsvService/GetVulnerability": () => ({ id: "GHSA-1" }),
  "gatehouse.vulnerabilities.v1.OsvService/BatchQueryVulnerabilities": () => ({ queries: [{ commit: "aa" }] }),
  "gatehouse.vulnerabilities.v1.AdvisoryRecordsService/ImportAdvisoryRecords": (absent) => ({
    parent: uidOf("group", absent),
    records: [{ source: "osv", document: "CVE-2026-1", vulnerability: "CVE-2026-1" }],
  }),
  "gatehouse.vulnerabilities.v1.AdvisoryRecordsService/CompleteDocument": (absent) => ({
    parent: uidOf("group", absent),
    source: "vendor",
    document: "VEX-1",
    modifyTime: "2026-01-01T00:00:00Z",
  }),
  "gatehouse.vulnerabilities.v1.AdvisoryRecordsService/BatchDeleteAdvisoryRecords": (absent) => ({
    parent: uidOf("group", absent),
    records: [{ source: "osv", document: "CVE-2026-1", vulnerability: "CVE-2026-1" }],
  }),
};
const recipientKey = generateKeyPairSync("x25519").publicKey.export({ type: "spki", format: "pem" }) as string;
const everything = allCapabilities().map(({ number }) => number);

function uidOf(kind: Kind, absent: boolean): string {
  const uid = things[kind];
  assert.ok(uid, `the matrix knows no ${kind}`);
  if (!absent) return uid;
  const none = "f".repeat(16);
  return uid === things.group ? `${uid}/${none}` : uid.replace(/[0-9a-f]{16}$/, none);
}

describe("every RPC and every caller", () => {
  before(async () => {
    server = await startTestServer();
    apiClient = openApiClient("grpc", server.url);
    root = await addGroup(server, null);
    const [group, sibling, other] = [
      await addGroup(server, root),
      await addGroup(server, root),
      await addGroup(server, null),
    ];
    const inner = await addGroup(server, group);
    const identity = await addIdentity(server, group);
    const repo = await addRepo(server, group);
    const identityProvider = await addProvider(server, group);
    things = {
      group,
      identity,
      role: await addRole(server, group, []),
      repo,
      repoReadme: repo,
      identityProvider,
      roleBinding: await bind(server, group, identity, viewerRole.uid),
      groupInvite: await addInvite(server, group),
      accountAssociation: await addAssociation(server, group),
      tag: await addTag(server, repo),
      advisory: await addAdvisory(server, group),
      subscription: await addSubscription(server, group),
      externalGroupRoleMapping: await addMapping(server, identityProvider),
      accessRequestRule: await addRequestRule(server, group),
      accessRequest: await addRequest(server, group),
      accessReview: await addReview(server, group),
    };
    person = await addPerson(server, "person", "person@example.org", root);
    await bind(server, group, person, viewerRole.uid);
    elsewhere = {
      "of a group below": await tokenWith(inner, everything),
      "of a sibling group": await tokenWith(sibling, everything),
      "of another organization": await tokenWith(other, everything),
    };
  });

  after(async () => {
    apiClient[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  function tokenWith(group: string, capabilities: readonly number[]): Promise<string> {
    const key = JSON.stringify([group, capabilities]);
    const made = async () => (await addCaller(server, group, await addRole(server, group, capabilities))).token;
    const token = tokens.get(key) ?? made();
    tokens.set(key, token);
    return token;
  }

  for (const method of services.flatMap((service) => service.methods)) {
    const capabilities = demandOf(method)?.capabilities ?? [];
    if (capabilities.length === 0) continue;
    const rule = accessRuleOf(method);
    const ask = askOf(method);
    describe(methodPath(method).slice(1), () => {
      it("R2, I1: a method is denied to a caller who lacks any one of its capabilities, and requires no other", async () => {
        for (const missing of capabilities) {
          const token = await tokenWith(
            things.group,
            everything.filter((number) => number !== missing),
          );
          const { code, message } = await apiClient.call(token, methodPath(method), ask(false));
          assert.equal(codeName(code), "PERMISSION_DENIED", message);
        }
        const { message } = await apiClient.call(
          await tokenWith(things.group, capabilities),
          methodPath(method),
          ask(true),
        );
        assert.doesNotMatch(message, /required capabilities/);
      });

      if (rule?.type !== "scoped") return;
      it("I1, I4: a method is denied to callers of a subgroup, a sibling and another organization, whether or not the resource exists", async () => {
        for (const [who, token] of Object.entries(elsewhere)) {
          const denials: string[] = [];
          for (const absent of [false, true]) {
            const request = ask(absent);
            const outcome = await apiClient.call(token, methodPath(method), request);
            assert.equal(outcome.code, Code.PERMISSION_DENIED, `${who}: ${outcome.message}`);
            denials.push(JSON.stringify(outcome).replaceAll(/[0-9a-f]{40}[0-9a-f/]*/g, "<uid>"));
          }
          assert.equal(denials[0], denials[1], who);
        }
      });
    });
  }

  function askOf(method: DescMethod): Ask {
    const named = methodPath(method).replace(/^\/(chainguard\.platform\.)?/, "");
    const target = targets[named];
    if (target) return (absent) => target(uidOf(kindOfV1(method, target("x")), absent));
    if (byHand[named]) return byHand[named];
    const place = places.find((each) => each.method === method && each.use === "target");
    if (place) return (absent) => requestFor(place, things, uidOf(place.names as Kind, absent));
    assert.equal(accessRuleOf(method)?.type, "unscoped", `the matrix has no request for ${named}`);
    return () => ({});
  }

  /** The kind of resource of a version 1 method, if neither field nor service tells it. */
  const kindsOfV1: Readonly<Record<string, Kind>> = {
    "ExternalGroupRoleMappings/Create": "identityProvider",
    "ExternalGroupRoleMappings/BatchDelete": "identityProvider",
    "Advisories/CreateAdvisoryEvent": "advisory",
    "Advisories/ListAdvisoryEvents": "advisory",
    "Registry/ListTagHistory": "tag",
    "Registry/UpdateTag": "tag",
    "Registry/DeleteTag": "tag",
  };

  function kindOfV1({ parent, name }: DescMethod, request: JsonObject): Kind {
    const known = kindsOfV1[`${parent.name}/${name}`];
    if (known) return known;
    const [field] = Object.entries(request).find(([, value]) => value === "x")!;
    if (/^(parent|parentId|group)$/.test(field)) return "group";
    if (field === "repoId" || parent.name === "Registry") return "repo";
    if (field === "identityProviderId") return "identityProvider";
    const singular = parent.name.replace(/ies$/, "y").replace(/s$/, "");
    return `${singular.charAt(0).toLowerCase()}${singular.slice(1)}` as Kind;
  }
});
