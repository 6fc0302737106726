// Delegations that are not in force, such as the invites of people who have left.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { type DelegationSchema, DelegationKind as Kind } from "../../../gen/gatehouse/iam/v1/delegations_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { parentOf } from "../../model/uid.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import {
  externalGroupRoleMappingCollection,
  groupInviteCollection,
  identityCollection,
  identityProviderCollection,
} from "../../storage/iam/collections.ts";
import { identityShower } from "../access/shown-identities.ts";
import { findInactiveDelegations } from "../iam/delegations/delegations-service.ts";
import type { FindingParts, FindingSource } from "./finding-kind.ts";

type Delegation = MessageInitShape<typeof DelegationSchema>;

/** Invites, subscriptions, default roles, SCIM tokens, mappings and static keys whose makers no longer hold what they give. */
export const inactiveDelegations: FindingSource = {
  kind: FindingKind.INACTIVE_DELEGATION,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  async startScan(session, subtrees, _now, call) {
    const { shown, isWhole } = await findInactiveDelegations(session, subtrees, call);
    const after = (cursor: string) => shown.filter((one) => cursorOf(one) > cursor);
    return {
      isWhole,
      count: (cursor) => after(cursor).length,
      find: ({ after: cursor, skip, limit }) =>
        after(cursor)
          .slice(skip, skip + limit)
          .map(cursorOf),
      async show(cursors) {
        const wanted = shown.filter((one) => cursors.includes(cursorOf(one)));
        return await showAll(session, wanted, call);
      },
    };
  },
};

// An identity provider has two delegations: of its default role and of its SCIM token. A space sorts before the slash of a uid.
function cursorOf({ uid = "", kind = Kind.UNSPECIFIED }: Delegation): string {
  return `${uid} ${kind}`;
}

/** Shows delegations as findings. */
export async function showAll(
  session: Session,
  delegations: readonly Delegation[],
  call: Call,
): Promise<FindingParts[]> {
  const makers = delegations.flatMap(({ makerUid }) => makerUid || []);
  // All of them are in one organization.
  const identityOf = await identityShower(session, makers, delegations[0]?.uid ?? "", call);
  const names = await namesOf(session, delegations, call);
  return delegations.map((delegation) => {
    const { uid = "", kind = Kind.UNSPECIFIED, makerUid, vouchTime } = delegation;
    return {
      resourceUid: uid,
      resourceName: names.get(uid) ?? "",
      groupUid: groupOf(uid, kind),
      ...(vouchTime && { time: vouchTime }),
      ...(makerUid && { identity: identityOf(makerUid) }),
      details: { case: "delegation", value: delegation },
    };
  });
}

/** Returns the group of a delegation. A mapping belongs to an identity provider, and that to a group. */
function groupOf(uid: string, kind: Kind): string {
  return kind === Kind.EXTERNAL_GROUP_ROLE_MAPPING ? parentOf(parentOf(uid)) : parentOf(uid);
}

/** Returns the names of the rows that grant access, by uid, if the caller may list them. */
async function namesOf(
  session: Session,
  delegations: readonly Delegation[],
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
  [Kind.STATIC_KEYS]: named(Capability.CAP_IAM_IDENTITY_LIST, identityCollection, ({ name }) => name),
};
