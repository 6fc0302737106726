// Finds the images whose packages are those of a digest. The packages of an index are those of its platforms; an SBOM of the index counts
// for the platforms that have none of their own.
import {
  CheckState,
  type NotChecked,
  type NotCheckedReason,
} from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";
import { notFound } from "../../../aip/errors.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { hasUnevaluated } from "../../../storage/images/findings.ts";
import { Contents, findChildren, findImage, findParents, type ImageRow } from "../../../storage/images/images.ts";
import { findQueued } from "../../../storage/images/queue.ts";
import type { SbomInfo } from "../../../storage/images/sboms.ts";
import { findManifestsOf } from "../../../storage/registry/manifests.ts";
import { findTagsByDigest } from "../../../storage/registry/repos-and-tags.ts";
import { evaluatorVersion } from "./evaluator-version.ts";
import { hasChangesToFollow } from "./followed-changes.ts";

/** The type of images in errors. */
export const imageType = "registry.gatehouse.dev/Image";

/** The images that belong to a digest. */
export interface ImageFamily {
  /** The image itself, and its platforms if it is an index. */
  readonly images: readonly ImageRow[];
  /** Those whose packages count. */
  readonly members: readonly ImageRow[];
  /** Whether a platform has no SBOM that could be read. */
  readonly isIncomplete: boolean;
}

/** Returns the images that belong to a digest. Throws NOT_FOUND for a digest that the repo does not have. */
export async function requireFamily(
  session: Session,
  repoUid: string,
  digest: string,
  architecture = "",
): Promise<ImageFamily> {
  const image = await findImage(session, repoUid, digest);
  if (!image) {
    await requireDigest(session, repoUid, digest);
    return { images: [], members: [], isIncomplete: true };
  }
  const children = await findChildren(session, image.no);
  if (children.length > 0) {
    const described = await findManifestsOf(session, repoUid, [digest]);
    return familyOfIndex(image, children, [...new Set(described.map((each) => each.architecture))], architecture);
  }
  const members = hasPackages(image) ? [image] : (await findParents(session, image.no)).filter(hasPackages).slice(0, 1);
  return { images: [image], members, isIncomplete: members.length === 0 };
}

/** Throws NOT_FOUND unless the repo has a tag, a manifest or an image with this digest. */
export async function requireDigest(session: Session, repoUid: string, digest: string): Promise<void> {
  const isKnown =
    (await findImage(session, repoUid, digest)) !== undefined ||
    (await findTagsByDigest(session, repoUid, digest, 1)).length > 0 ||
    (await findManifestsOf(session, repoUid, [digest])).length > 0;
  if (!isKnown) throw notFound(imageType, `${digest} in ${repoUid}`);
}

/**
 * `described` are the architectures by the manifest of the index. Children without an architecture are attestations, or platforms that were
 * not read yet.
 */
function familyOfIndex(
  index: ImageRow,
  children: readonly ImageRow[],
  described: readonly string[],
  wanted: string,
): ImageFamily {
  const isWanted = (architecture: string) => wanted === "" || architecture === wanted;
  const platforms = children.filter((child) => isWanted(child.architecture) && isPlatform(child));
  const own = platforms.filter(hasPackages);
  const expected = Math.max(platforms.length, described.filter(isWanted).length);
  const isCovered = own.length >= expected && expected > 0;
  const shared = !isCovered && hasPackages(index) ? [index] : [];
  return {
    images: [index, ...platforms],
    members: [...own, ...shared],
    isIncomplete: !isCovered && shared.length === 0,
  };
}

function isPlatform(child: ImageRow): boolean {
  return child.architecture !== "" || hasPackages(child);
}

function hasPackages({ contents }: ImageRow): boolean {
  return contents === Contents.complete || contents === Contents.partial;
}

/** Returns how completely a family is checked. */
export async function checkStateOf(session: Session, family: ImageFamily): Promise<CheckState> {
  const { images, members, isIncomplete } = family;
  for (const { no } of images)
    if (((await findQueued(session, no))?.dueTime ?? null) !== null) return CheckState.PENDING;
  if (members.length === 0) return CheckState.UNKNOWN;
  const numbers = members.map(({ no }) => no);
  if (await hasUnevaluated(session, numbers, evaluatorVersion)) return CheckState.PENDING;
  if (await hasChangesToFollow(session, rootOf(members[0]!.repoUid))) return CheckState.PENDING;
  const isPartial = isIncomplete || images.some(({ contents }) => contents === Contents.partial);
  return isPartial ? CheckState.PARTIAL : CheckState.CHECKED;
}

/** Returns the components of SBOMs that cannot be checked, by reason. */
export function notCheckedIn(sboms: readonly Pick<SbomInfo, "reasons">[]): Omit<NotChecked, "$typeName">[] {
  const byReason = Map.groupBy(
    sboms.flatMap(({ reasons }) => reasons),
    ({ reason }) => reason,
  );
  return [...byReason]
    .sort(([a], [b]) => a - b)
    .map(([reason, all]) => ({
      reason: reason as NotCheckedReason,
      count: all.reduce((sum, { count }) => sum + count, 0),
      example: all[0]!.example,
    }));
}
