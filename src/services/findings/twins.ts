// Equal resources that one caller created within a minute: the response of a create was lost, and it was repeated without an idempotency
// key (docs/clients.md).
import { LRUCache } from "lru-cache";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import { FindingKind } from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { compareTexts } from "../../base/compare-texts.ts";
import { parentOf } from "../../model/uid.ts";
import { subtreesWithin } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { findMakers } from "../../storage/change-log/makers.ts";
import type { Collection, ResourceRow } from "../../storage/collection/collection.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { subscriptionCollection } from "../../storage/events/rows.ts";
import { groupCollection, identityCollection, roleCollection } from "../../storage/iam/collections.ts";
import { scanRanges } from "../../storage/list/scan.ts";
import { findTwins, type TwinRows } from "../../storage/list/twins.ts";
import { identityShower } from "../access/shown-identities.ts";
import { type FindingParts, type FindingSource, scanOfFound } from "./finding-kind.ts";

/** The maximum number of resources of each kind that one call compares. */
const maxCompared = 10_000;

/** The maximum number of equal resources of each kind and part of the organization. */
const maxFound = 1_000;

/** The maximum number of pairs whose makers one call looks up, because they are not in the cache. */
const maxLookedUp = 50;

/** The maximum number of pairs in the cache. */
const maxMakers = 20_000;

/** A kind of resources that may be equal to others of their group. */
interface TwinKind {
  readonly collection: Collection<ResourceRow>;
  /** The capability to list them. */
  readonly capability: Capability;
}

/** The database rejects a second role binding, repo or tag of the same content. */
const kinds: readonly TwinKind[] = [
  twinKind(groupCollection, Capability.CAP_IAM_GROUPS_LIST),
  twinKind(identityCollection, Capability.CAP_IAM_IDENTITY_LIST),
  twinKind(roleCollection, Capability.CAP_IAM_ROLES_LIST),
  twinKind(subscriptionCollection, Capability.CAP_EVENTS_SUBSCRIPTION_LIST),
];

function twinKind<R extends ResourceRow>(collection: Collection<R>, capability: Capability): TwinKind {
  return { collection: collection as unknown as Collection<ResourceRow>, capability };
}

/** Resources that are equal, and who created both. */
interface Twin extends TwinRows {
  readonly collection: Collection<ResourceRow>;
  readonly maker: string;
}

/** Returns the finding of equal resources that one caller created within a minute. */
export function twins(): FindingSource {
  /** The common makers of pairs; empty if there is none. They never change. */
  const makers = new LRUCache<string, string>({ max: maxMakers });

  async function findMaker(session: Session, kind: string, pair: TwinRows): Promise<string> {
    const { uid, createTime, firstUid, firstTime } = pair;
    const created = { kind, uids: [firstUid, uid], firstTime, lastTime: createTime };
    const found = await findMakers(session, created);
    const maker = found.get(uid) ?? "";
    return found.get(firstUid) === maker ? maker : "";
  }

  return {
    kind: FindingKind.TWIN,
    capability: Capability.CAP_IAM_GROUPS_LIST,
    async startScan(session, subtrees, _now, call) {
      const { pairs, isWhole } = await findPairs(session, subtrees, call);
      const found: Twin[] = [];
      let lookedUp = 0;
      let isComplete = isWhole;
      for (const pair of pairs) {
        const key = `${pair.firstUid} ${pair.uid}`;
        const known = makers.get(key);
        // The others wait for a later call, and hold up no other kind.
        if (known === undefined && lookedUp === maxLookedUp) {
          isComplete = false;
          continue;
        }
        if (known === undefined) lookedUp++;
        const maker = known ?? (await findMaker(session, pair.collection.kind, pair));
        makers.set(key, maker);
        if (maker !== "") found.push({ ...pair, maker });
      }
      return scanOfFound({
        found,
        isWhole: isComplete,
        cursorOf: ({ uid }) => uid,
        show: (some, shownTo) => show(session, some, shownTo),
      });
    },
  };
}

/** Returns equal resources of each kind that the caller may list, in the order of their uids. */
async function findPairs(session: Session, subtrees: readonly string[], call: Call) {
  const pairs: Omit<Twin, "maker">[] = [];
  let isWhole = true;
  for (const { collection, capability } of kinds) {
    const listed = subtrees.flatMap((subtree) => subtreesWithin(call, capability, subtree));
    const scan = { kind: collection.kind, table: collection.rows, uid: uidOf(collection) };
    const { ranges, isWhole: isAll } = await scanRanges(session, scan, listed, maxCompared);
    isWhole &&= isAll;
    for (const range of ranges) {
      const found = await findTwins(session, collection, range, maxFound + 1);
      isWhole &&= found.length <= maxFound;
      pairs.push(...found.slice(0, maxFound).map((pair) => ({ ...pair, collection })));
    }
  }
  return { pairs: pairs.sort((a, b) => compareTexts(a.uid, b.uid)), isWhole };
}

function uidOf({ rows }: Collection<ResourceRow>) {
  return (tables: Parameters<typeof rows>[0]) => rows(tables).uid;
}

async function show(session: Session, found: readonly Twin[], call: Call): Promise<FindingParts[]> {
  const names = new Map<string, string>();
  for (const { collection } of kinds) {
    const uids = found.flatMap((twin) => (twin.collection === collection ? [twin.uid] : []));
    for (const { uid, name, sink } of await findRows(session, collection, uids)) names.set(uid, name ?? sink ?? "");
  }
  const makers = found.map(({ maker }) => maker);
  // All of them are in one organization.
  const identityOf = await identityShower(session, makers, parentOf(found[0]?.uid ?? ""), call);
  return found.map(({ uid, createTime, firstUid, firstTime, maker, collection: { kind } }) => ({
    resourceUid: uid,
    resourceName: names.get(uid) ?? "",
    groupUid: parentOf(uid),
    time: toTimestamp(createTime),
    identity: identityOf(maker),
    details: { case: "twin", value: { kind, firstUid, firstTime: toTimestamp(firstTime) } },
  }));
}
