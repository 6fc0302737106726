// Finds the image that a digest and an architecture mean.
import { notFound } from "../../../aip/errors.ts";
import type { Session } from "../../../storage/engine/session.ts";
import { findChildren, findImage, type ImageRow } from "../../../storage/images/images.ts";
import { findManifests } from "../../../storage/registry/manifests.ts";
import { imageType, requireFamily } from "../contents/family.ts";

/** The architecture of an index if a request names none (published contract). */
export const defaultArchitecture = "amd64";

/** An image for one architecture. */
export interface Platform {
  /** The digest of its manifest; that of the index if the manifest is not known. */
  readonly digest: string;
  /** The image whose SBOMs count for it, which may be the index; undefined if there are none. */
  readonly source: ImageRow | undefined;
}

/**
 * Returns an image of a repo: of an index, the one for the architecture. Throws NOT_FOUND if the repo does not have the digest, or the
 * digest not the architecture.
 */
export async function requirePlatform(
  session: Session,
  repoUid: string,
  digest: string,
  architecture: string,
): Promise<Platform> {
  const image = await findImage(session, repoUid, digest);
  const children = image ? await findChildren(session, image.no) : [];
  const described = await findManifests(session, repoUid, digest);
  const isIndex = children.length > 0 || described.length > 1;
  const wanted = architecture === "" && isIndex ? defaultArchitecture : architecture;
  const known = [...described, ...children].map((each) => each.architecture).filter((name) => name !== "");
  if (wanted !== "" && known.length > 0 && !known.includes(wanted))
    throw notFound(imageType, `${digest} for ${wanted} in ${repoUid}`);
  const { members } = await requireFamily(session, repoUid, digest, wanted);
  const child = children.find((each) => each.architecture === wanted);
  return { digest: child?.digest ?? digest, source: members.find(({ no }) => no === child?.no) ?? members[0] };
}
