// Findings about deactivated users: identities that only they can assume, and delegations that such identities made.
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { isWithin, parentOf, rootOf } from "../../model/uid.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { identityCollection } from "../../storage/iam/collections.ts";
import type { Delegation } from "../../storage/iam/delegations.ts";
import { findDelegationsOfMakers } from "../../storage/iam/suspended-identities.ts";
import { identityShower } from "../access/shown-identities.ts";
import { showDelegations } from "../iam/delegations/delegations-service.ts";
import { findIdentitiesOfSuspended, type NamedPerson } from "../iam/provisioning/named-people.ts";
import { showAll } from "./delegation-findings.ts";
import { type FindingParts, type FindingSource, scanOfFound } from "./finding-kind.ts";

/** The maximum number of delegations of such identities. */
const maxDelegations = 500;

/** An identity of a deactivated person, or a delegation of one. */
type Left = { readonly cursor: string } & ({ readonly named: NamedPerson } | { readonly delegation: Delegation });

/** Identities that only deactivated people can assume, and what these vouch for. Delegations of the people themselves are not in force. */
export const deactivatedPeople: FindingSource = {
  kind: FindingKind.DEACTIVATED_PERSON,
  capability: Capability.CAP_IAM_ROLE_BINDINGS_LIST,
  async startScan(session, subtrees) {
    const { left, isWhole } = await findLeft(session, subtrees);
    return scanOfFound({
      found: left,
      isWhole,
      cursorOf: ({ cursor }) => cursor,
      show: (some, call) => showLeft(session, some, call),
    });
  },
};

async function findLeft(session: Session, subtrees: readonly string[]) {
  const organization = rootOf(subtrees[0]!);
  const { found, isWhole } = await findIdentitiesOfSuspended(session, organization);
  const makers = found.map(({ uid }) => uid);
  const delegations =
    makers.length > 0 ? await findDelegationsOfMakers(session, organization, makers, maxDelegations + 1) : [];
  const left: Left[] = [
    ...found.map((named) => ({ cursor: `${named.uid} `, named })),
    ...delegations.slice(0, maxDelegations).map((delegation) => ({
      cursor: `${delegation.uid} ${delegation.kind}`,
      delegation: delegation as Delegation,
    })),
  ];
  const listed = left.filter(({ cursor }) => subtrees.some((subtree) => isWithin(cursor.split(" ")[0]!, subtree)));
  return {
    left: listed.sort((a, b) => compareTexts(a.cursor, b.cursor)),
    isWhole: isWhole && delegations.length <= maxDelegations,
  };
}

async function showLeft(session: Session, left: readonly Left[], call: Call): Promise<FindingParts[]> {
  const named = left.flatMap((one) => ("named" in one ? [one.named] : []));
  const delegations = left.flatMap((one) => ("delegation" in one ? [one.delegation] : []));
  const shown = await showAll(session, await showDelegations(session, delegations, call), call);
  return [...(await showNamed(session, named, call)), ...shown].sort((a, b) =>
    compareTexts(a.resourceUid, b.resourceUid),
  );
}

async function showNamed(session: Session, named: readonly NamedPerson[], call: Call): Promise<FindingParts[]> {
  const rows = await findRows(
    session,
    identityCollection,
    named.map(({ uid }) => uid),
  );
  const names = new Map(rows.map(({ uid, name }) => [uid, name]));
  const people = named.map(({ suspensions }) => suspensions[0]!.identityUid);
  // All of them are in one organization.
  const personOf = await identityShower(session, people, named[0]?.uid ?? "", call);
  return named.map(({ uid, suspensions }) => ({
    resourceUid: uid,
    groupUid: parentOf(uid),
    resourceName: accessOf(call).has(Capability.CAP_IAM_IDENTITY_LIST, uid) ? (names.get(uid) ?? "") : "",
    time: toTimestamp(suspensions[0]!.createTime),
    identity: personOf(suspensions[0]!.identityUid),
  }));
}
