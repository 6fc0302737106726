// Lists what needs attention at a group and below it (docs/design/console.md).

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  FindingKind,
  FindingsService,
  type ListFindingsRequest,
  ListFindingsRequestSchema,
  type ListFindingsResponseSchema,
} from "../../../gen/gatehouse/organizations/v1/findings_pb.ts";
import { formatPageToken } from "../../aip/page-token.ts";
import { effectivePageSize, effectiveSkip } from "../../aip/pagination.ts";
import { newViolations } from "../../aip/violations.ts";
import { accessOf, subtreesWithin } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { allExpensive } from "../../pipeline/expensive.ts";
import { type Implementation, implement } from "../../pipeline/handlers.ts";
import { uidRule } from "../../pipeline/text-rules.ts";
import { queryDigest, readToken } from "../../resource/bound-page-token.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findRows } from "../../storage/collection/rows.ts";
import type { Session } from "../../storage/engine/session.ts";
import { groupCollection } from "../../storage/iam/collections.ts";
import type { Audiences } from "../../sts/audiences.ts";
import { confinedBindings, unusedBindings } from "./binding-findings.ts";
import { unacknowledgedBreakGlass } from "./break-glass-findings.ts";
import { broadRules } from "./broad-rules.ts";
import { deactivatedPeople } from "./deactivated-people.ts";
import { inactiveDelegations } from "./delegation-findings.ts";
import { failingDeliveries, pausedSubscriptions } from "./delivery-findings.ts";
import type { FindingParts, FindingScan, FindingSource } from "./finding-kind.ts";
import { expiringKeys, reusedNames, unpinnedNames, unusedIdentities } from "./identity-findings.ts";
import { twins } from "./twins.ts";

/** The dependencies of findings. */
export interface FindingsContext extends ServiceContext {
  /** The audiences of tokens for rules without one. */
  readonly defaultAudiences: Audiences;
}

/** Returns the kinds, in the order of the findings. */
const findingSources = ({ defaultAudiences }: FindingsContext): readonly FindingSource[] => [
  unacknowledgedBreakGlass,
  failingDeliveries,
  expiringKeys,
  inactiveDelegations,
  confinedBindings,
  unusedIdentities,
  deactivatedPeople,
  pausedSubscriptions,
  reusedNames,
  unpinnedNames,
  broadRules(defaultAudiences),
  unusedBindings,
  twins(),
];

/** The maximum number of subtrees that one call scans for each kind: one for each group where a caller may list it. */
const maxSubtrees = 100;

/** A kind that the caller may list. */
interface ScannedKind {
  readonly kind: FindingKind;
  readonly scan: FindingScan;
  readonly count: number;
  readonly isMinimum: boolean;
}

/** A position in the list. */
interface Position {
  readonly kind: FindingKind;
  readonly cursor: string;
}

/** Serves findings. */
export function findings(context: FindingsContext): Implementation {
  const { database, clock, pageTokenKey } = context;
  const sources = findingSources(context);

  async function list(
    request: ListFindingsRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ListFindingsResponseSchema>> {
    const { size, skip } = readPaging(request, sources);
    const query = queryDigest(call, request);
    const token = readToken(context, call, request.pageToken, query);
    const after = token && { kind: Number(token.value) as FindingKind, cursor: token.uid };
    return await database.read(async (session) => {
      const scanned = await scanKinds(session, sources, request, call, clock());
      const found = await findPositions(scanned, after, skip, size + 1);
      const shown = found.slice(0, size);
      const last = found.length > size ? shown.at(-1) : undefined;
      const next = last && { issuedAt: clock(), query, order: "", value: last.kind, uid: last.cursor };
      return {
        findings: await show(session, scanned, shown, call),
        nextPageToken: next ? formatPageToken(pageTokenKey, next) : "",
        totalCount: BigInt(scanned.reduce((sum, { count }) => sum + count, 0)),
        skipped: skip,
        counts: scanned.map(({ kind, count, isMinimum }) => ({ kind, count: BigInt(count), isMinimum })),
      };
    });
  }

  return implement(FindingsService, allExpensive({ listFindings: list }), [
    { schema: ListFindingsRequestSchema, fields: { parent: uidRule } },
  ]);
}

function readPaging({ pageSize, skip, kinds }: ListFindingsRequest, sources: readonly FindingSource[]) {
  const violations = newViolations();
  const page = { size: effectivePageSize(pageSize, violations), skip: effectiveSkip(skip, violations) };
  for (const [i, kind] of kinds.entries())
    if (!sources.some((source) => source.kind === kind)) violations.add(`kinds[${i}]`, "must be a kind of finding");
  violations.throwIfAny();
  return page;
}

/** Scans for each requested kind where the caller may list it. */
async function scanKinds(
  session: Session,
  sources: readonly FindingSource[],
  { parent, kinds }: ListFindingsRequest,
  call: Call,
  now: number,
): Promise<ScannedKind[]> {
  const scanned: ScannedKind[] = [];
  for (const { kind, capability, startScan } of sources) {
    const subtrees = kinds.length === 0 || kinds.includes(kind) ? subtreesWithin(call, capability, parent) : [];
    if (subtrees.length === 0) continue;
    const scan = await startScan(session, subtrees.slice(0, maxSubtrees), now, call);
    const isMinimum = !scan.isWhole || subtrees.length > maxSubtrees;
    scanned.push({ kind, scan, count: await scan.count(""), isMinimum });
  }
  return scanned;
}

/** Returns the position of a kind in the order of the findings: what needs attention first is first. */
function positionOf(kind: FindingKind): number {
  return kind === FindingKind.BREAK_GLASS_UNACKNOWLEDGED ? 0 : kind;
}

/** Returns the positions of a page. */
async function findPositions(
  scanned: readonly ScannedKind[],
  after: Position | undefined,
  skip: number,
  limit: number,
): Promise<Position[]> {
  const found: Position[] = [];
  let left = skip;
  for (const { kind, scan, count } of scanned) {
    if (after && positionOf(kind) < positionOf(after.kind)) continue;
    const cursor = kind === after?.kind ? after.cursor : "";
    const rest = left === 0 || cursor === "" ? count : await scan.count(cursor);
    if (left >= rest && left > 0) {
      left -= rest;
      continue;
    }
    const cursors = await scan.find({ after: cursor, skip: left, limit: limit - found.length });
    found.push(...cursors.map((each) => ({ kind, cursor: each })));
    left = 0;
    if (found.length === limit) break;
  }
  return found;
}

/** Shows the findings at these positions. */
async function show(session: Session, scanned: readonly ScannedKind[], positions: readonly Position[], call: Call) {
  const shown: (FindingParts & Pick<ScannedKind, "kind">)[] = [];
  for (const { kind, scan } of scanned) {
    const cursors = positions.filter((position) => position.kind === kind).map(({ cursor }) => cursor);
    if (cursors.length > 0) shown.push(...(await scan.show(cursors, call)).map((parts) => ({ ...parts, kind })));
  }
  const access = accessOf(call);
  const groupUids = [...new Set(shown.map(({ groupUid }) => groupUid))];
  const visible = groupUids.filter((uid) => access.has(Capability.CAP_IAM_GROUPS_LIST, uid));
  const names = new Map((await findRows(session, groupCollection, visible)).map(({ uid, name }) => [uid, name]));
  return shown.map((one) => ({ ...one, groupName: names.get(one.groupUid) ?? "" }));
}
