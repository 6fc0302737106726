// Stores the SBOMs of images.
import { numberPlaceholder, rowPlaceholders, textPlaceholder } from "../engine/placeholders.ts";
import type { Session, Transaction } from "../engine/session.ts";
import { and, asc, eq, getTableColumns, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";

/** The kinds of places where SBOMs are, as bits. */
export const SbomSource = { referrer: 1, attestation: 2, tag: 4, upload: 8 } as const;

/** The bits of the places in a registry. */
export const registrySources = SbomSource.referrer | SbomSource.attestation | SbomSource.tag;

/** An SBOM as it is stored. */
export type SbomRow = Tables["imageSboms"]["$inferSelect"];

/** An SBOM without its content. */
export type SbomInfo = Omit<SbomRow, "content">;

const columns = [
  "image",
  "name",
  "source",
  "digest",
  "mediaType",
  "format",
  "tool",
  "size",
  "signed",
  "packages",
  "reasons",
  "error",
  "content",
  "createTime",
] as const satisfies readonly (keyof SbomRow)[];

/** Adds an SBOM, or replaces the one with its name. Its creation time stays. */
export async function putSbomRow(tx: Transaction, row: SbomRow): Promise<void> {
  const statement = tx.prepared("image_sboms.put", (db, { imageSboms }) => {
    const { image: _image, name: _name, createTime: _createTime, ...changing } = getTableColumns(imageSboms);
    const set = Object.fromEntries(
      Object.keys(changing).map((name) => [
        name,
        sql.raw(`excluded.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
      ]),
    );
    return db
      .insert(imageSboms)
      .values(rowPlaceholders(columns) as never)
      .onConflictDoUpdate({ target: [imageSboms.image, imageSboms.name], set });
  });
  await statement.execute({ ...row });
}

/** Deletes an SBOM. Returns whether there was one. */
export async function deleteSbomRow(tx: Transaction, image: number, name: string): Promise<boolean> {
  const statement = tx.prepared("image_sboms.delete", (db, { imageSboms }) =>
    db
      .delete(imageSboms)
      .where(and(eq(imageSboms.image, sql.placeholder("image")), eq(imageSboms.name, sql.placeholder("name"))))
      .returning({ name: imageSboms.name }),
  );
  return (await statement.execute({ image, name })).length > 0;
}

/** Returns the SBOMs of images without their contents, in the order of image and name. */
export async function findSboms(session: Session, images: readonly number[]): Promise<SbomInfo[]> {
  const statement = session.prepared("image_sboms.of", (db, { imageSboms }) => {
    const { content: _content, ...shown } = getTableColumns(imageSboms);
    return db
      .select(shown)
      .from(imageSboms)
      .where(session.isAmongNumbers(imageSboms.image, textPlaceholder("images")))
      .orderBy(asc(imageSboms.image), asc(imageSboms.name));
  });
  return await statement.execute({ images: JSON.stringify(images) });
}

/** Returns one SBOM with its content; undefined if there is none. */
export async function findSbom(session: Session, image: number, name: string): Promise<SbomRow | undefined> {
  const statement = session.prepared("image_sboms.get", (db, { imageSboms }) =>
    db
      .select()
      .from(imageSboms)
      .where(and(eq(imageSboms.image, numberPlaceholder("image")), eq(imageSboms.name, textPlaceholder("name")))),
  );
  return (await statement.execute({ image, name }))[0];
}
