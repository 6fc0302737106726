// Finds the images that have what an advisory, a vulnerability or a package URL names.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AffectedImageSchema,
  ListAffectedImagesRequest,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { ImageStatement } from "../../../advisories/image-statements.ts";
import { readPurl } from "../../../advisories/purl.ts";
import { invalidField } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Scope } from "../../../authz/access.ts";
import { rangeBelow, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { type AffectedImageRow, listAffected } from "../../../storage/images/affected-images.ts";
import { findAdvisoriesOf, findPackagesFor } from "../../../storage/images/findings.ts";
import { findParents } from "../../../storage/images/images.ts";
import { listRows } from "../../../storage/list/list-rows.ts";
import { findTagsByDigest } from "../../../storage/registry/repos-and-tags.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { lastUseOf } from "../uses/last-use.ts";
import { openStatuses } from "./image-findings.ts";
import {
  type NameSettings,
  newOverrides,
  type Overrides,
  statementsOn,
  vulnerabilityIdsOf,
} from "./image-statements.ts";
import { contentLimits } from "./limits.ts";
import { keyNumbersOf } from "./package-keys.ts";

/** The last image of a page. */
export interface ImagePlace {
  readonly repoUid: string;
  readonly no: number;
}

type AffectedImage = MessageInitShape<typeof AffectedImageSchema>;

/** A page of images, and the position of the next one; undefined at the end. */
interface AffectedPage {
  readonly images: readonly AffectedImage[];
  readonly next: ImagePlace | undefined;
}

/** The caller, the subtrees that count, and how repositories are named. */
interface AffectedContext {
  readonly scope: Scope;
  readonly settings: NameSettings;
  readonly call: Call;
}

/** Returns a page of the affected images in subtrees, which are in byte order. */
export async function affectedImages(
  session: Session,
  { scope, settings, call }: AffectedContext,
  request: ListAffectedImagesRequest,
  after: ImagePlace,
  limit: number,
): Promise<AffectedPage> {
  if (request.query.case === undefined) throw invalidField("query", "must be set");
  if (request.query.case === "purl" && !readPurl(request.query.value))
    throw invalidField("purl", "must be a package URL");
  const images: AffectedImage[] = [];
  let examined = 0;
  for (const root of scope) {
    const range = rangeBelow(root);
    if (after.repoUid >= range.to) continue;
    const advisories = await advisoriesOf(session, rootOf(root), request);
    if (advisories.length === 0) continue;
    const ids = await vulnerabilityIdsOf(session, rootOf(root), advisories);
    const statements = await statementsOn(session, rootOf(root), ids);
    const overrides = newOverrides(session, statements, settings);
    const { rows, isLast } = await rowsOf(session, advisories, range, after, statusesWith(statements));
    for (const group of imagesIn(await openRows(rows, overrides), request)) {
      const tags = await tagsOf(session, group[0]!);
      if (tags.length > 0 || request.untagged) images.push(await imageOf(session, group, tags, call));
      examined += 1;
      if (images.length === limit || examined === contentLimits.examinedImages) return { images, next: placeOf(group) };
    }
    if (!isLast) return { images, next: placeOf(rows.slice(-1)) };
  }
  return { images, next: undefined };
}

/** Reads rows of whole images: those of the last image that does not fit are left for the next page. */
async function rowsOf(
  session: Session,
  advisories: readonly string[],
  range: ReturnType<typeof rangeBelow>,
  after: ImagePlace,
  statuses: readonly ProductStatus[],
): Promise<{ readonly rows: readonly AffectedImageRow[]; readonly isLast: boolean }> {
  const rows = await listAffected(session, advisories, range, after, statuses, contentLimits.affectedRows);
  if (rows.length < contentLimits.affectedRows) return { rows, isLast: true };
  const whole = rows.filter(({ no }) => no !== rows.at(-1)!.no);
  return { rows: whole.length > 0 ? whole : rows, isLast: false };
}

/** Returns the stored statuses of findings that may be open. Statements about images may open findings of any status. */
function statusesWith(statements: readonly ImageStatement[]): readonly ProductStatus[] {
  return statements.some(({ status }) => openStatuses.includes(status))
    ? [...openStatuses, ProductStatus.NOT_AFFECTED, ProductStatus.FIXED]
    : openStatuses;
}

async function openRows(rows: readonly AffectedImageRow[], overrides: Overrides): Promise<AffectedImageRow[]> {
  const open: AffectedImageRow[] = [];
  for (const row of rows) {
    const status = (await overrides.of(row, row))?.status ?? (row.status as ProductStatus);
    if (openStatuses.includes(status)) open.push(row);
  }
  return open;
}

const placeOf = ([row]: readonly AffectedImageRow[]): ImagePlace => ({ repoUid: row!.repoUid, no: row!.no });

/** Returns the uids of the advisories that a request names in an organization. */
async function advisoriesOf(
  session: Session,
  organization: string,
  { query }: ListAffectedImagesRequest,
): Promise<string[]> {
  if (query.case === "advisoryUid") return rootOf(query.value) === organization ? [query.value] : [];
  if (query.case === "vulnerability") return await namedAdvisories(session, organization, query.value);
  return query.case === "purl" ? await packageAdvisories(session, organization, query.value) : [];
}

async function namedAdvisories(session: Session, organization: string, name: string): Promise<string[]> {
  const found = new Set<string>();
  for (const filter of ["advisoryIds", "aliases"] as const) {
    const rows = await listRows(session, advisoryCollection, {
      sources: [{ type: "subtree", uid: organization }],
      filters: {},
      plans: [{ index: termIndex(filter, [name]) }],
      after: undefined,
      skip: 0,
      limit: contentLimits.namedAdvisories,
      order: { field: "uid", descending: false },
    });
    for (const { uid } of rows) found.add(uid);
  }
  return [...found];
}

async function packageAdvisories(session: Session, organization: string, purl: string): Promise<string[]> {
  const keys = keyNumbersOf(organization, purl);
  const packages = await findPackagesFor(session, { advisoryUid: "", keys, after: 0, limit: contentLimits.portion });
  const found = new Set<string>();
  for (const { no } of packages.filter((each) => isNamed(each.purl, purl)))
    for (const uid of await findAdvisoriesOf(session, no)) found.add(uid);
  return [...found].slice(0, contentLimits.namedAdvisories);
}

/** Whether a stored package URL is the one that a caller names, which may lack version and qualifiers. */
function isNamed(stored: string, named: string): boolean {
  return stored === named || stored.startsWith(`${named}@`) || stored.startsWith(`${named}?`);
}

/** Groups rows by image. For a package URL, other packages do not count. */
function imagesIn(rows: readonly AffectedImageRow[], { query }: ListAffectedImagesRequest): AffectedImageRow[][] {
  const named = query.case === "purl" ? query.value : undefined;
  const counted = rows.filter(({ purl }) => named === undefined || isNamed(purl, named));
  return [...Map.groupBy(counted, ({ no }) => no).values()];
}

/** Returns the first names of the tags of an image, and of the indexes that it belongs to. */
async function tagsOf(session: Session, { no, repoUid, digest }: AffectedImageRow): Promise<string[]> {
  const tags = new Set<string>();
  for (const each of [digest, ...(await findParents(session, no)).map((parent) => parent.digest)])
    for (const { name } of await findTagsByDigest(session, repoUid, each, contentLimits.shownTags)) tags.add(name);
  return [...tags].sort().slice(0, contentLimits.shownTags);
}

async function imageOf(
  session: Session,
  rows: readonly AffectedImageRow[],
  tags: string[],
  call: Call,
): Promise<AffectedImage> {
  const lastUse = await lastUseOf(session, rows[0]!, call);
  const { repoUid, digest, architecture, pushTime } = rows[0]!;
  return {
    repoUid,
    repoName: (await findRow(session, repoCollection, repoUid))?.name ?? "",
    digest,
    architecture,
    tags,
    purls: [...new Set(rows.map(({ purl }) => purl))].slice(0, contentLimits.shownPackages),
    vulnerabilities: [...new Set(rows.map(({ vulnerability }) => vulnerability))]
      .sort()
      .slice(0, contentLimits.shownPackages),
    ...(pushTime !== null && { pushTime: toTimestamp(pushTime) }),
    ...(lastUse && { lastUse }),
  };
}
