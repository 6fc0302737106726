// The names of what delegations are about.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type DelegationSchema, DelegationKind as Kind } from "../../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { accessOf } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../../storage/collection/collection.ts";
import { findRows } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { subscriptionCollection } from "../../../storage/events/rows.ts";
import {
  externalGroupRoleMappingCollection,
  groupInviteCollection,
  identityCollection,
  identityProviderCollection,
} from "../../../storage/iam/collections.ts";
import { accessRequestRuleCollection } from "../../../storage/iam/requests/collections.ts";
import { accessReviewCollection } from "../../../storage/iam/reviews/collections.ts";

/** A delegation as responses have it. */
export type ShownDelegation = MessageInitShape<typeof DelegationSchema>;

/** Returns delegations with the names of what they are about, as far as the caller may list it. */
export async function withNames(
  session: Session,
  delegations: readonly ShownDelegation[],
  call: Call,
): Promise<ShownDelegation[]> {
  const names = await namesOf(session, delegations, call);
  return delegations.map((one) => ({ ...one, name: names.get(one.uid ?? "") ?? "" }));
}

/** Returns the names of the rows that grant access, by uid, if the caller may list them. */
async function namesOf(
  session: Session,
  delegations: readonly ShownDelegation[],
  call: Call,
): Promise<ReadonlyMap<string, string>> {
  const access = accessOf(call);
  const uidsOf = new Map<Named, Set<string>>();
  for (const { uid = "", kind = Kind.UNSPECIFIED } of delegations) {
    const named = namedBy[kind];
    if (named && access.has(named.capability, uid))
      uidsOf.set(named, (uidsOf.get(named) ?? new Set<string>()).add(uid));
  }
  const found = await Promise.all([...uidsOf].map(([named, uids]) => named.find(session, [...uids])));
  return new Map(found.flat());
}

/** A kind of resources that delegations are about. */
interface Named {
  readonly capability: Capability;
  /** Reads resources by their uids, and returns the uid and the name of each. */
  readonly find: (session: Session, uids: readonly string[]) => Promise<[uid: string, name: string][]>;
}

function named<R extends ResourceRow>(
  capability: Capability,
  collection: Collection<R>,
  nameIn: (row: R) => string,
): Named {
  return {
    capability,
    async find(session, uids) {
      return (await findRows(session, collection, uids)).map((row) => [row.uid, nameIn(row)]);
    },
  };
}

const provider = named(Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST, identityProviderCollection, ({ name }) => name);

const namedBy: Readonly<Partial<Record<Kind, Named>>> = {
  [Kind.GROUP_INVITE]: named(
    Capability.CAP_IAM_GROUP_INVITES_LIST,
    groupInviteCollection,
    ({ recipient }) => recipient,
  ),
  [Kind.SUBSCRIPTION]: named(Capability.CAP_EVENTS_SUBSCRIPTION_LIST, subscriptionCollection, ({ sink }) => sink),
  [Kind.DEFAULT_ROLE]: provider,
  [Kind.SCIM_TOKEN]: provider,
  [Kind.EXTERNAL_GROUP_ROLE_MAPPING]: named(
    Capability.CAP_IAM_IDENTITY_PROVIDERS_LIST,
    externalGroupRoleMappingCollection,
    ({ externalGroupId }) => externalGroupId,
  ),
  [Kind.ACCESS_REQUEST_RULE]: named(
    Capability.CAP_IAM_ROLE_BINDINGS_LIST,
    accessRequestRuleCollection,
    ({ name }) => name,
  ),
  [Kind.ACCESS_REVIEW]: named(Capability.CAP_IAM_ROLE_BINDINGS_LIST, accessReviewCollection, ({ name }) => name),
  [Kind.STATIC_KEYS]: named(Capability.CAP_IAM_IDENTITY_LIST, identityCollection, ({ name }) => name),
};
