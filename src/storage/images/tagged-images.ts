// Finds the tagged images that have packages.
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, eq, isNull, or, sql } from "../schema/drizzle.ts";

/** An image that has a package, and the digest of a tag that names it or its index. */
export interface TaggedImage {
  readonly no: number;
  readonly repoUid: string;
  readonly digest: string;
  readonly architecture: string;
  readonly taggedDigest: string;
  /** The number of the package. */
  readonly package: number;
}

/** Returns the tagged images in repos below a group that have one of these packages, in the order of their repos. */
export async function findTaggedImages(
  session: Session,
  groupUid: string,
  packages: readonly number[],
  limit: number,
): Promise<TaggedImage[]> {
  const statement = session.prepared("images.tagged", (db, { images, imageChildren, imagePackages, tags }) => {
    const parents = db
      .select({ digest: sql`parents.digest` })
      .from(imageChildren)
      .innerJoin(sql`${images} as parents`, sql`parents.no = ${imageChildren.parent}`)
      .where(eq(imageChildren.child, images.no));
    return db
      .selectDistinct({
        no: images.no,
        repoUid: images.repoUid,
        digest: images.digest,
        architecture: images.architecture,
        taggedDigest: tags.digest,
        package: imagePackages.package,
      })
      .from(imagePackages)
      .innerJoin(images, eq(images.no, imagePackages.image))
      .innerJoin(
        tags,
        and(eq(tags.parent, images.repoUid), or(eq(tags.digest, images.digest), sql`${tags.digest} in (${parents})`)),
      )
      .where(
        and(
          session.isAmongNumbers(imagePackages.package, textPlaceholder("packages")),
          isNull(images.goneTime),
          sql`substr(${images.repoUid}, 1, length(${textPlaceholder("group")}) + 1) = ${textPlaceholder("group")} || '/'`,
        ),
      )
      .orderBy(asc(images.repoUid), asc(images.no), asc(tags.digest), asc(imagePackages.package))
      .limit(limitOf("limit"));
  });
  return await statement.execute({ group: groupUid, packages: JSON.stringify(packages), limit });
}
