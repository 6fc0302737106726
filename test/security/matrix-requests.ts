// Requests of the tenancy matrix, made from the descriptors.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { DescField, DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Place, singularOf } from "./matrix.ts";
import { imageDigest } from "./registry-tree.ts";

/** The resources that the matrix knows. */
export const kinds = [
  ...(["group", "identity", "role", "roleBinding", "groupInvite", "accountAssociation"] as const),
  ...(["repo", "repoReadme", "tag", "advisory", "subscription"] as const),
  ...(["identityProvider", "externalGroupRoleMapping"] as const),
  ...(["accessRequestRule", "accessRequest", "accessReview"] as const),
] as const;
export type Kind = (typeof kinds)[number];

/** The resources of one group: the uid of one of each kind, including the group. */
export type Things = Readonly<Record<Kind, string>>;

/** Returns a request that is in order but for the uid at the place. */
export function requestFor(place: Place, own: Things, uid: string): JsonObject {
  const request = baseRequest(place.method, own);
  // An item of a batch may leave its role to the batch, and must when that names another.
  if (place.path.length === 1 && place.names === "role" && request.requests) {
    delete ((request.requests as JsonObject[])[0]!.roleBinding as JsonObject).roleUid;
  }
  const path = [...place.path];
  const last = path.pop()!;
  let target: JsonObject = request;
  for (const name of path) {
    target[name] ??= {};
    const value = target[name];
    target = (Array.isArray(value) ? value[0] : value) as JsonObject;
  }
  target[last] = last === "ids" ? [uid] : uid;
  // A batch names what lies below its parent.
  if (request.names) request.names = [`${uid}/${"f".repeat(16)}`];
  return request;
}

function baseRequest(method: DescMethod, own: Things): JsonObject {
  const isUpdate = method.input.fields.some(({ name }) => name === "update_mask");
  const isList = method.input.fields.some(({ name }) => name === "page_size");
  const isOfContents = method.parent.name === "ImageContentsService";
  const given = method.input.fields.flatMap((field): [string, JsonValue][] => {
    const isMapping = method.parent.name === "ExternalGroupRoleMappingsService";
    if (field.name === "parent") return [[field.jsonName, isMapping ? own.identityProvider : own.group]];
    if (field.name === "digest" && (!isList || isOfContents)) return [[field.jsonName, imageDigest]];
    if (field.name === "document_ids") return [[field.jsonName, ["sfdpa.v1"]]];
    if (field.name === "metrics") return [[field.jsonName, ["changes"]]];
    if (field.name === "term") {
      const identity = { identityUid: own.identity, roleUid: own.role };
      return [[field.jsonName, { ...(isUpdate ? { uid: own.roleBinding } : identity), ttl: "3600s" }]];
    }
    if (field.name === "decisions") {
      const decision = "ACCESS_REVIEW_DECISION_CONFIRMED";
      return [[field.jsonName, [{ roleBindingUid: own.roleBinding, decision }]]];
    }
    // Without notifications of a registry, uses are not known.
    if (field.name === "accept_incomplete") return [[field.jsonName, true]];
    if (field.name === "names") return [[field.jsonName, []]];
    if (field.name === "refused_names") return [[field.jsonName, [{ kind: "owner", name: "acme", id: "12" }]]];
    if (field.name === "claim_match")
      return [[field.jsonName, { issuer: "https://issuer.example.org", subject: "job" }]];
    if (field.name === "sink") return [[field.jsonName, "https://localhost/"]];
    if (field.name === "event_ids") return [[field.jsonName, [randomUUID()]]];
    if (field.name === "etag") return [[field.jsonName, "stale"]];
    if (field.name === "group" && !field.message && !isList) return [[field.jsonName, own.group]];
    if (field.name === "identity_provider_uid" && !isList) return [[field.jsonName, own.identityProvider]];
    if (isOfContents && field.name === "name") return [[field.jsonName, `upload:${imageDigest}`]];
    if (isOfContents && field.name === "content") return [[field.jsonName, "e30="]];
    if (field.name === "provider_type") return [[field.jsonName, "ACCOUNT_PROVIDER_TYPE_AMAZON"]];
    if (field.name === "images")
      return [[field.jsonName, [{ digest: imageDigest, platforms: [{ architecture: "amd64", size: "1" }] }]]];
    if (isList && field.name === "page_size") return [[field.jsonName, 200]];
    if (field.fieldKind === "list" && field.message) return [[field.jsonName, [itemOf(field.message.fields, own)]]];
    const kind = field.message && singularOf(field.message);
    if (!kind) return [];
    return [[field.jsonName, isUpdate ? { uid: own[kind as Kind] } : sampleOf(kind, own)]];
  });
  return Object.fromEntries(given);
}

function itemOf(fields: readonly DescField[], own: Things): JsonObject {
  const resource = fields.find((field) => field.message && singularOf(field.message) !== "")!;
  return { [resource.jsonName]: sampleOf(singularOf(resource.message!), own) };
}

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

/** Returns a resource that an owner may create in their group. */
function sampleOf(kind: string, own: Things): JsonObject {
  const samples: Readonly<Record<string, JsonObject>> = {
    group: { name: "group" },
    identity: { name: "identity", claimMatch: { issuer: "https://issuer.example.org", subject: "matrix" } },
    role: { name: "custom", capabilities: ["CAP_IAM_GROUPS_LIST"] },
    roleBinding: { identityUid: own.identity, roleUid: own.role },
    groupInvite: { roleUid: own.role, ttl: "60s" },
    accountAssociation: { name: "accounts" },
    repo: { name: randomUUID() },
    tag: { name: "sample", digest: imageDigest },
    identityProvider: {
      name: "provider",
      defaultRole: own.role,
      oidc: { issuer: "https://idp.example.org", clientId: "gatehouse", pkceEnabled: true },
    },
    externalGroupRoleMapping: { externalGroupId: randomUUID(), roleUid: own.role, scope: own.group.split("/")[0]! },
    subscription: { sink: "https://example.org/" },
    accessRequestRule: { name: "rule", roleUids: [own.role], eligibleRoleUids: [own.role] },
    accessRequest: { roleUid: own.role, reason: "INC-1" },
    accessReview: { title: "review", dueTime: inDays(7), onDue: "ACCESS_REVIEW_ON_DUE_REPORT_ONLY" },
  };
  assert.ok(samples[kind], `the matrix has no sample of ${kind}`);
  return structuredClone(samples[kind]);
}
