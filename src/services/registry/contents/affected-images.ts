// Finds the images that have what an advisory, a vulnerability or a package URL names.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AffectedImageSchema,
  ListAffectedImagesRequest,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { readPurl } from "../../../advisories/purl.ts";
import { invalidField } from "../../../aip/errors.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import type { Scope } from "../../../authz/access.ts";
import { rangeBelow, rootOf } from "../../../model/uid.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  type AffectedImageRow,
  findAdvisoriesOf,
  findPackagesFor,
  listAffected,
} from "../../../storage/images/findings.ts";
import { findParents } from "../../../storage/images/images.ts";
import { listRows } from "../../../storage/list/list-rows.ts";
import { findTagsByDigest } from "../../../storage/registry/repos-and-tags.ts";
import { repoCollection } from "../../../storage/registry/rows.ts";
import { termIndex } from "../../../storage/vulnerabilities/advisory-terms.ts";
import { advisoryCollection } from "../../../storage/vulnerabilities/rows.ts";
import { openStatuses } from "./image-findings.ts";
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

/** Returns a page of the affected images in subtrees, which are in byte order. */
export async function affectedImages(
  session: Session,
  scope: Scope,
  request: ListAffectedImagesRequest,
  after: ImagePlace,
  limit: number,
): Promise<AffectedPage> {
  if (request.query.case === undefined) throw invalidField("query", "must be set");
  if (request.query.case === "purl" && !readPurl(request.query.value))
    throw invalidField("purl", "must be a package URL");
  const images: AffectedImage[] = [];
  for (const root of scope) {
    const range = rangeBelow(root);
    if (after.repoUid >= range.to) continue;
    const advisories = await advisoriesOf(session, rootOf(root), request);
    if (advisories.length === 0) continue;
    const rows = await listAffected(session, advisories, range, after, openStatuses, contentLimits.affectedRows);
    const groups = imagesIn(rows, request);
    // The rows of the last image may go on.
    if (rows.length === contentLimits.affectedRows && groups.length > 1) groups.pop();
    for (const group of groups) {
      const image = await imageOf(session, group);
      if (image.tags.length > 0 || request.untagged) images.push(image);
      if (images.length === limit) return { images, next: placeOf(group) };
    }
    if (rows.length === contentLimits.affectedRows) return { images, next: placeOf(groups.at(-1)!) };
  }
  return { images, next: undefined };
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

async function imageOf(session: Session, rows: readonly AffectedImageRow[]) {
  const { no, repoUid, digest, architecture, pushTime } = rows[0]!;
  const tags = new Set<string>();
  for (const each of [digest, ...(await findParents(session, no)).map((parent) => parent.digest)])
    for (const { name } of await findTagsByDigest(session, repoUid, each, contentLimits.shownTags)) tags.add(name);
  return {
    repoUid,
    repoName: (await findRow(session, repoCollection, repoUid))?.name ?? "",
    digest,
    architecture,
    tags: [...tags].sort().slice(0, contentLimits.shownTags),
    purls: [...new Set(rows.map(({ purl }) => purl))].slice(0, contentLimits.shownPackages),
    vulnerabilities: [...new Set(rows.map(({ vulnerability }) => vulnerability))]
      .sort()
      .slice(0, contentLimits.shownPackages),
    ...(pushTime !== null && { pushTime: toTimestamp(pushTime) }),
  };
}
