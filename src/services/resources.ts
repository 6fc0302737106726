// The kinds of resources, in the order in which they are created: each comes after those that it refers to.
import type { Capability } from "../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { CollectionTables } from "../storage/collection/collection.ts";
import { accessReviewKind } from "./access/reviews/kind.ts";
import { subscriptionKind } from "./events/subscriptions/kind.ts";
import { accessRequestKind, accessRequestRuleKind } from "./iam/access-requests/kinds.ts";
import { accountAssociationKind } from "./iam/account-associations/kind.ts";
import { externalGroupRoleMappingKind } from "./iam/external-group-role-mappings/kind.ts";
import { groupKind, organizationKind } from "./iam/groups/kind.ts";
import { identityKind } from "./iam/identities/kind.ts";
import { identityProviderKind } from "./iam/identity-providers/kind.ts";
import { groupInviteKind } from "./iam/invites/kind.ts";
import { suspendedPeopleImport } from "./iam/provisioning/import.ts";
import { roleBindingKind } from "./iam/role-bindings/kind.ts";
import { roleKind } from "./iam/roles/kind.ts";
import { termsAcceptanceKind } from "./iam/terms/kind.ts";
import type { Transfer } from "./kinds/import-kind.ts";
import type { Kind, OtherKind, Recorded } from "./kinds/kind.ts";
import { uploadedSbomImport } from "./registry/contents/import.ts";
import { repoKind } from "./registry/repos/kind.ts";
import { tagKind } from "./registry/tags/kind.ts";
import { advisoryKind } from "./vulnerabilities/advisory-kind.ts";

/** All kinds of resources. */
export const kinds: readonly (Kind | OtherKind)[] = [
  organizationKind,
  groupKind,
  roleKind,
  identityKind,
  groupInviteKind,
  identityProviderKind,
  externalGroupRoleMappingKind,
  accountAssociationKind,
  termsAcceptanceKind,
  repoKind,
  tagKind,
  advisoryKind,
  roleBindingKind,
  accessRequestRuleKind,
  accessRequestKind,
  accessReviewKind,
  subscriptionKind,
];

/** The tables of all kinds. */
export const collections: readonly CollectionTables[] = [...new Set(kinds.map(({ collection }) => collection))];

/** The kinds that a file for apply may have. */
export const resources: readonly Kind[] = kinds.filter((kind): kind is Kind => !("absent" in kind.file));

/** The kinds that no file has, and whose resources are deleted before all others with their group. */
export const deletedWithGroup: readonly OtherKind[] = kinds.filter(
  (kind): kind is OtherKind => "deletedWithGroup" in kind && kind.deletedWithGroup !== undefined,
);

/** The resources that move with an organization, in the order of its import. People are suspended once all that they hold is there. */
export const transfers: readonly Transfer[] = [
  ...kinds.flatMap(({ transfer }) => ("absent" in transfer ? [] : transfer)),
  uploadedSbomImport,
  suspendedPeopleImport,
];

/** The recording of changes of all kinds. */
export const recordedKinds: readonly Recorded[] = kinds.flatMap(({ recorded }) =>
  "absent" in recorded ? [] : recorded,
);

/**
 * The capability that lists the resources of a kind, by the kind of their rows. A caller who holds it at a group may learn how many
 * there are, and what changes.
 */
export const listCapabilities: ReadonlyMap<string, Capability> = new Map(
  kinds.flatMap(({ recorded, listCapability }) =>
    "absent" in recorded ? [] : recorded.views.map(({ kind }) => [kind, listCapability] as const),
  ),
);
