// The kinds of resources that an apply compares.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type ResourceSpec, SpecKind } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";

/** A resource of a request or of a response. */
export type AnyResource = Exclude<ResourceSpec["resource"], { case: undefined }>;

/** The name of a kind, as in the oneof of a resource. */
export type Kind = AnyResource["case"];

/** The message of a kind. */
export type ValueOf<K extends Kind> = Extract<AnyResource, { case: K }>["value"];

/** What is known of a kind. */
interface KindInfo {
  readonly kind: SpecKind;
  /** The name of the field in a request, and of the resource in the request of its method. */
  readonly field: string;
  /** The capability that its list requires. */
  readonly list: Capability;
}

/** The kinds, in the order in which resources are created: each comes after those that it refers to. */
export const kinds: Readonly<Record<Kind, KindInfo>> = {
  organization: { kind: SpecKind.ORGANIZATION, field: "organization", list: Capability.CAP_IAM_GROUPS_LIST },
  group: { kind: SpecKind.GROUP, field: "group", list: Capability.CAP_IAM_GROUPS_LIST },
  role: { kind: SpecKind.ROLE, field: "role", list: Capability.CAP_IAM_ROLES_LIST },
  identity: { kind: SpecKind.IDENTITY, field: "identity", list: Capability.CAP_IAM_IDENTITY_LIST },
  identityProvider: {
    kind: SpecKind.IDENTITY_PROVIDER,
    field: "identity_provider",
    list: Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST,
  },
  externalGroupRoleMapping: {
    kind: SpecKind.EXTERNAL_GROUP_ROLE_MAPPING,
    field: "external_group_role_mapping",
    list: Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST,
  },
  accountAssociation: {
    kind: SpecKind.ACCOUNT_ASSOCIATION,
    field: "account_association",
    list: Capability.CAP_IAM_ACCOUNT_ASSOCIATIONS_LIST,
  },
  repo: { kind: SpecKind.REPO, field: "repo", list: Capability.CAP_REPO_LIST },
  roleBinding: {
    kind: SpecKind.ROLE_BINDING,
    field: "role_binding",
    list: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  },
  subscription: {
    kind: SpecKind.SUBSCRIPTION,
    field: "subscription",
    list: Capability.CAP_EVENTS_SUBSCRIPTION_LIST,
  },
};

/** The names of the kinds, in the order of creation. */
export const kindOrder = Object.keys(kinds) as readonly Kind[];

/** Returns the name of a kind by its enum value; undefined if there is none. */
export function kindOf(value: SpecKind): Kind | undefined {
  return kindOrder.find((name) => kinds[name].kind === value);
}

/** Returns kinds with those that their resources can refer to. */
export function withReferences(some: Iterable<Kind>): ReadonlySet<Kind> {
  return new Set([...some].flatMap((kind) => [kind, ...references[kind]]));
}

/** The kinds that a resource of a kind can refer to. */
const references: Readonly<Record<Kind, readonly Kind[]>> = {
  organization: [],
  group: [],
  role: [],
  identity: [],
  identityProvider: ["role"],
  externalGroupRoleMapping: ["role", "identityProvider"],
  accountAssociation: ["identity"],
  repo: [],
  roleBinding: ["role", "identity"],
  subscription: [],
};
