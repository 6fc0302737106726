// What advisories say about the packages of an image.

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListImageFindingsRequest,
  ListImageFindingsRequestSchema,
  type ListImageFindingsResponseSchema,
  VulnerabilitySeverity,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { ImageStatement } from "../../../advisories/image-statements.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { ancestorsOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  countFindings,
  type FindingFilter,
  type FindingPlace,
  findFindings,
  type ImageFindingRow,
  listFindings,
  overrideKeyOf,
  type StatusOverride,
} from "../../../storage/images/findings-of-images.ts";
import type { ImageFamily } from "./family.ts";
import { type NameSettings, newOverrides, statementsOfRepo } from "./image-statements.ts";
import { leastScoreOf, severityOf } from "./severity.ts";

/** The statuses of open findings. */
export const openStatuses: readonly ProductStatus[] = [ProductStatus.AFFECTED, ProductStatus.UNDER_INVESTIGATION];

type Response = MessageInitShape<typeof ListImageFindingsResponseSchema>;

/** A page of findings, and the position of the next one; undefined at the end. */
interface FindingPage extends Pick<Response, "findings" | "counts"> {
  readonly next: FindingPlace | undefined;
}

/** Returns a page of the findings of a family, with the number of all. */
export async function findingsOf(
  session: Session,
  { family, settings }: { readonly family: ImageFamily; readonly settings: NameSettings },
  request: ListImageFindingsRequest,
  after: FindingPlace | undefined,
  limit: number,
): Promise<FindingPage> {
  const stated = await statedIn(session, family, request.repoUid, settings);
  const filter = filterOf(family, request, [...stated.values()]);
  const rows = await listFindings(session, filter, after, limit + 1);
  const digests = new Map(family.members.map(({ no, digest }) => [no, digest]));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    findings: page.map((row) => findingMessage(row, digests, stated)),
    counts: countsOf(await countFindings(session, filter)),
    next: last && [-last.score, last.vulnerability, last.purl, last.advisoryUid, last.status],
  };
}

/** Returns the open findings of a family, in their order. */
export async function openFindingsOf(
  session: Session,
  { family, settings }: { readonly family: ImageFamily; readonly settings: NameSettings },
  repoUid: string,
  limit: number,
): Promise<ImageFindingRow[]> {
  const stated = await statedIn(session, family, repoUid, settings);
  const all = create(ListImageFindingsRequestSchema, { repoUid });
  return await listFindings(session, filterOf(family, all, [...stated.values()]), undefined, limit);
}

/** A finding in one image whose status is that of a statement about the image. */
interface StatedFinding extends StatusOverride {
  readonly statement: ImageStatement;
}

/** Returns the findings of a family that statements about images override, by their keys. */
async function statedIn(
  session: Session,
  { members }: ImageFamily,
  repoUid: string,
  settings: NameSettings,
): Promise<Map<string, StatedFinding>> {
  const stated = new Map<string, StatedFinding>();
  const statements = members.length > 0 ? await statementsOfRepo(session, repoUid) : [];
  if (statements.length === 0) return stated;
  const overrides = newOverrides(session, statements, settings);
  const images = new Map(members.map((image) => [image.no, image]));
  for (const finding of await findFindings(session, [...images.keys()], ancestorsOf(repoUid))) {
    const statement = await overrides.of(images.get(finding.image)!, finding);
    if (!statement) continue;
    const { image, package: no, advisoryUid } = finding;
    stated.set(overrideKeyOf(finding), { image, package: no, advisoryUid, status: statement.status, statement });
  }
  return stated;
}

function filterOf(
  { members }: ImageFamily,
  request: ListImageFindingsRequest,
  overrides: readonly StatusOverride[],
): FindingFilter {
  const { repoUid, statuses, minSeverity, fixable, package: named } = request;
  return {
    images: members.map(({ no }) => no),
    // An advisory applies to a repo if its group is that of the repo, or above it.
    groups: ancestorsOf(repoUid),
    statuses: statuses.length > 0 ? statuses : openStatuses,
    minScore: leastScoreOf(minSeverity),
    fixable,
    package: named,
    overrides,
  };
}

function findingMessage(
  { score, firstKnownTime, images, package: no, ...row }: ImageFindingRow,
  digests: ReadonlyMap<number, string>,
  stated: ReadonlyMap<string, StatedFinding>,
) {
  const [image] = images;
  const statement = stated.get(overrideKeyOf({ image: image!, package: no, advisoryUid: row.advisoryUid }))?.statement;
  return {
    ...row,
    status: row.status as ProductStatus,
    aliases: [...row.aliases],
    fixedVersions: [...row.fixedVersions],
    severity: severityOf(score),
    firstKnownTime: toTimestamp(firstKnownTime),
    digests: images.map((each) => digests.get(each)!).sort(),
    ...(statement && {
      uncertain: false,
      justification: statement.justification,
      imageStatement: statement.record,
    }),
  };
}

function countsOf(rows: readonly { readonly score: number; readonly count: number }[]) {
  const counted = (severity?: VulnerabilitySeverity) =>
    rows
      .filter(({ score }) => severity === undefined || severityOf(score) === severity)
      .reduce((sum, { count }) => sum + count, 0);
  return {
    total: counted(),
    critical: counted(VulnerabilitySeverity.CRITICAL),
    high: counted(VulnerabilitySeverity.HIGH),
    medium: counted(VulnerabilitySeverity.MEDIUM),
    low: counted(VulnerabilitySeverity.LOW),
    unknown: counted(VulnerabilitySeverity.UNSPECIFIED),
  };
}
