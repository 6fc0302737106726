// What advisories say about the packages of an image.

import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListImageFindingsRequest,
  type ListImageFindingsResponseSchema,
  VulnerabilitySeverity,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { ProductStatus } from "../../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { toTimestamp } from "../../../aip/timestamps.ts";
import { ancestorsOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import {
  countFindings,
  type FindingFilter,
  type FindingPlace,
  type ImageFindingRow,
  listFindings,
} from "../../../storage/images/findings.ts";
import type { ImageFamily } from "./family.ts";
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
  family: ImageFamily,
  request: ListImageFindingsRequest,
  after: FindingPlace | undefined,
  limit: number,
): Promise<FindingPage> {
  const filter = filterOf(family, request);
  const rows = await listFindings(session, filter, after, limit + 1);
  const digests = new Map(family.members.map(({ no, digest }) => [no, digest]));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    findings: page.map((row) => findingMessage(row, digests)),
    counts: countsOf(await countFindings(session, filter)),
    next: last && [-last.score, last.vulnerability, last.purl, last.advisoryUid],
  };
}

function filterOf({ members }: ImageFamily, request: ListImageFindingsRequest): FindingFilter {
  const { repoUid, statuses, minSeverity, fixable, package: named } = request;
  return {
    images: members.map(({ no }) => no),
    // An advisory applies to a repo if its group is that of the repo, or above it.
    groups: ancestorsOf(repoUid),
    statuses: statuses.length > 0 ? statuses : openStatuses,
    minScore: leastScoreOf(minSeverity),
    fixable,
    package: named,
  };
}

function findingMessage({ score, firstKnownTime, images, ...row }: ImageFindingRow, digests: Map<number, string>) {
  return {
    ...row,
    status: row.status as ProductStatus,
    aliases: [...row.aliases],
    fixedVersions: [...row.fixedVersions],
    severity: severityOf(score),
    firstKnownTime: toTimestamp(firstKnownTime),
    digests: images.map((no) => digests.get(no)!).sort(),
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
