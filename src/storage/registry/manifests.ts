// Stores the sizes of images by architecture, and the manifests of indexes.

import type { PgColumn } from "drizzle-orm/pg-core";
import { textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { addChildren, openImages } from "../images/images.ts";
import { and, asc, count, eq, isNull, ne, sql } from "../schema/drizzle.ts";

/** The architecture of a manifest that is not an image, such as a signature. It marks the manifest as fetched. */
const noImage = "";

/** An image of a repo for one architecture. */
export interface Manifest {
  readonly repoUid: string;
  /** The digest of the manifest, or of the index that it belongs to. */
  readonly digest: string;
  /** In the words of images: `amd64`, `arm64`, `arm/v7`. */
  readonly architecture: string;
  /** The size of the layers and the configuration, in bytes. */
  readonly size: number;
}

/** Adds an image for one architecture. Throws UniqueViolation or ReferenceViolation. */
export async function insertManifest(tx: Transaction, manifest: Manifest): Promise<void> {
  const statement = tx.prepared("manifests.insert", (db, { manifests }) =>
    db.insert(manifests).values({
      repoUid: sql.placeholder("repoUid"),
      digest: sql.placeholder("digest"),
      architecture: sql.placeholder("architecture"),
      size: sql.placeholder("size"),
    }),
  );
  await statement.execute({ ...manifest });
}

/** Returns the sizes of an image, ordered by architecture. */
export async function findManifests(session: Session, repoUid: string, digest: string) {
  const statement = session.prepared("manifests.of", (db, { manifests }) =>
    db
      .select({ architecture: manifests.architecture, size: manifests.size })
      .from(manifests)
      .where(
        and(
          eq(manifests.repoUid, textPlaceholder("repoUid")),
          eq(manifests.digest, textPlaceholder("digest")),
          ne(manifests.architecture, noImage),
        ),
      )
      .orderBy(asc(manifests.architecture)),
  );
  return await statement.execute({ repoUid, digest });
}

/** Returns the sizes of several images, ordered by architecture. */
export async function findManifestsOf(session: Session, repoUid: string, digests: readonly string[]) {
  const statement = session.prepared("manifests.of_several", (db, { manifests }) =>
    db
      .select({ digest: manifests.digest, architecture: manifests.architecture, size: manifests.size })
      .from(manifests)
      .where(
        and(
          eq(manifests.repoUid, textPlaceholder("repoUid")),
          session.isAmong(manifests.digest, textPlaceholder("digests")),
          ne(manifests.architecture, noImage),
        ),
      )
      .orderBy(asc(manifests.digest), asc(manifests.architecture)),
  );
  return await statement.execute({ repoUid, digests: JSON.stringify(digests) });
}

/** Returns which of these digests are stored, in any order. */
export async function findKnownDigests(session: Session, repoUid: string, digests: readonly string[]) {
  const statement = session.prepared("manifests.known", (db, { manifests }) =>
    db
      .select({ digest: manifests.digest })
      .from(manifests)
      .where(
        and(
          eq(manifests.repoUid, sql.placeholder("repoUid")),
          session.isAmong(manifests.digest, textPlaceholder("digests")),
        ),
      )
      .groupBy(manifests.digest),
  );
  return (await statement.execute({ repoUid, digests: JSON.stringify(digests) })).map(({ digest }) => digest);
}

/** Returns how many digests a repo has, or all repos of a group and below: those of images, of manifests and of tags. */
export async function countDigests(session: Session, parentUid: string): Promise<number> {
  const statement = session.prepared("manifests.count_digests", (db, { images, manifests, repos, tags }) => {
    const [uid, from, to] = ["uid", "from", "to"].map((name) => textPlaceholder(name));
    const isWithin = (column: PgColumn) => sql`(${column} = ${uid} or (${column} >= ${from} and ${column} < ${to}))`;
    const digests = db
      .select({ repoUid: images.repoUid, digest: images.digest })
      .from(images)
      // The repo may be deleted, and its images not yet.
      .innerJoin(repos, eq(repos.uid, images.repoUid))
      .where(and(isWithin(images.repoUid), isNull(images.goneTime)))
      .union(
        db
          .select({ repoUid: manifests.repoUid, digest: manifests.digest })
          .from(manifests)
          .where(isWithin(manifests.repoUid)),
      )
      .union(
        db
          .select({ repoUid: tags.parent, digest: tags.digest })
          .from(tags)
          .where(and(isWithin(tags.parent), ne(tags.digest, sql`''`))),
      )
      .as("digests");
    return db.select({ count: count() }).from(digests);
  });
  const [row] = await statement.execute({ uid: parentUid, from: `${parentUid}/`, to: `${parentUid}0` });
  return Number(row?.count);
}

/** Deletes the sizes of an image. */
export async function deleteManifests(tx: Transaction, repoUid: string, digest: string): Promise<void> {
  const statement = tx.prepared("manifests.delete_one", (db, { manifests }) =>
    db
      .delete(manifests)
      .where(and(eq(manifests.repoUid, sql.placeholder("repoUid")), eq(manifests.digest, sql.placeholder("digest")))),
  );
  await statement.execute({ repoUid, digest });
}

/** The content of a manifest or an index, as far as it is stored. */
export interface ImageDescription {
  /** Empty for other artifacts, such as signatures and charts. */
  readonly platforms: readonly Pick<Manifest, "architecture" | "size">[];
  /** The digests of the manifests in an index, those of attestations too. */
  readonly children: readonly string[];
}

/**
 * Replaces the sizes of an image, and adds the manifests of an index. Without platforms, stores that the digest is not an image. Throws
 * ReferenceViolation if the repo does not exist.
 */
export async function storeImage(
  tx: Transaction,
  repoUid: string,
  digest: string,
  { platforms, children }: ImageDescription,
): Promise<void> {
  await deleteManifests(tx, repoUid, digest);
  const rows = platforms.length === 0 ? [{ architecture: noImage, size: 0 }] : platforms;
  for (const platform of rows) await insertManifest(tx, { repoUid, digest, ...platform });
  const numbers = await openImages(tx, repoUid, [digest, ...children]);
  await addChildren(
    tx,
    numbers.get(digest)!,
    children.map((child) => numbers.get(child)!),
  );
}
