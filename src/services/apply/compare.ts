// Compares the wanted state of a resource with the stored one.
import { isDeepStrictEqual } from "node:util";
import { type DescMessage, type JsonObject, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import {
  AccountAssociationSpecSchema,
  ExternalGroupRoleMappingSpecSchema,
  GroupSpecSchema,
  IdentityProviderSpecSchema,
  IdentitySpecSchema,
  OrganizationSpecSchema,
  RepoSpecSchema,
  RoleBindingSpecSchema,
  RoleSpecSchema,
  SubscriptionSpecSchema,
} from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { clip } from "../../base/clip.ts";
import type { AnyResource, Kind } from "./kinds.ts";

/** The maximum length of a shown value, in UTF-16 units. */
const shownLength = 200;

/** A field of a resource that differs. */
export interface FieldDifference {
  readonly field: string;
  readonly oldValue: string;
  readonly newValue: string;
}

const schemas: Readonly<Record<Kind, DescMessage>> = {
  organization: OrganizationSpecSchema,
  group: GroupSpecSchema,
  role: RoleSpecSchema,
  identity: IdentitySpecSchema,
  identityProvider: IdentityProviderSpecSchema,
  externalGroupRoleMapping: ExternalGroupRoleMappingSpecSchema,
  accountAssociation: AccountAssociationSpecSchema,
  repo: RepoSpecSchema,
  roleBinding: RoleBindingSpecSchema,
  subscription: SubscriptionSpecSchema,
};

/** Fields that name the resource or what it refers to: equal for equal keys, although references can be written in several ways. */
const ownNames: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  externalGroupRoleMapping: ["role"],
  roleBinding: ["role", "identity", "identity_uid"],
};

/** Returns the fields in which two states of a resource differ. Client secrets are not compared: nobody can read the stored one. */
export function differences(stored: AnyResource, wanted: AnyResource): readonly FieldDifference[] {
  const [before, after] = [fieldsOf(stored), fieldsOf(wanted)];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const left = ownNames[wanted.case] ?? [];
  return fields
    .filter((field) => !left.includes(field) && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => ({ field, oldValue: textOf(before[field]), newValue: textOf(after[field]) }));
}

/** Returns the fields of a resource as JSON. Those of the configuration of a provider are compared one by one. */
function fieldsOf(resource: AnyResource): JsonObject {
  const json = toJson(schemas[resource.case], resource.value as Message, { useProtoFieldName: true }) as JsonObject;
  if (resource.case === "role") return { ...json, capabilities: [...new Set(resource.value.capabilities)].sort() };
  if (resource.case !== "identityProvider") return json;
  const { oidc = {}, ...rest } = json;
  const { client_secret: _, ...configuration } = oidc as JsonObject;
  return {
    ...rest,
    ...Object.fromEntries(Object.entries(configuration).map(([name, value]) => [`oidc.${name}`, value])),
  };
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "" : clip(JSON.stringify(value), shownLength);
}
