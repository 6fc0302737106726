// Finds uses of images and tags, and images without uses.
import type { SQL, SQLWrapper } from "drizzle-orm";
import { limitOf, numberPlaceholder, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { and, asc, desc, eq, isNull, sql } from "../schema/drizzle.ts";
import type { Tables } from "../schema/tables.ts";
import { type CountedUse, UseKind } from "./image-uses.ts";

/** Uses of one digest by one actor. */
export interface UseSummary extends Pick<CountedUse, "digest" | "kind" | "actor" | "count"> {
  /** The first and the last hour, since the epoch. */
  readonly first: number;
  readonly last: number;
}

/** The place of a summary in a list. */
export type UsePosition = Pick<UseSummary, "last" | "digest" | "kind" | "actor">;

/** Returns the uses of the images of a repo behind a position, the last use first. An empty digest means those of all images. */
export async function listUses(
  session: Session,
  { repoUid, digest }: Pick<CountedUse, "repoUid" | "digest">,
  after: UsePosition | undefined,
  limit: number,
): Promise<UseSummary[]> {
  const key = `image_uses.list${digest === "" ? "" : ".of"}${after ? ".after" : ""}`;
  const statement = session.prepared(key, (db, tables) => {
    const { images, imageUses } = tables;
    const of = eq(images.digest, textPlaceholder("digest"));
    const one = db
      .select({ no: images.no })
      .from(images)
      .where(and(inRepo(tables), of));
    const grouped = db
      .select({
        digest: images.digest,
        kind: imageUses.kind,
        actor: imageUses.actor,
        first: sql<number>`min(${imageUses.hour})`.mapWith(Number).as("first"),
        last: sql<number>`max(${imageUses.hour})`.mapWith(Number).as("last"),
        count: sql<number>`cast(sum(${imageUses.count}) as bigint)`.mapWith(Number).as("count"),
      })
      .from(imageUses)
      .innerJoin(images, eq(images.no, imageUses.image))
      .where(
        and(inRepo(tables), digest === "" ? undefined : sql`${images.no} in ${relativesOf(tables, sql`(${one})`)}`),
      )
      .groupBy(images.digest, imageUses.kind, imageUses.actor)
      .as("grouped");
    const last = sql`${grouped.last}`;
    const behind = sql`${last} < ${numberPlaceholder("last")} or (${last} = ${numberPlaceholder("last")}
      and (${grouped.digest}, ${grouped.kind}, ${grouped.actor})
        > (${textPlaceholder("afterDigest")}, ${numberPlaceholder("kind")}, ${textPlaceholder("actor")}))`;
    return db
      .select()
      .from(grouped)
      .where(after && behind)
      .orderBy(desc(last), asc(grouped.digest), asc(grouped.kind), asc(grouped.actor))
      .limit(limitOf("limit"));
  });
  const position = after && { ...after, afterDigest: after.digest };
  return await statement.execute({ ...position, repoUid, digest, limit });
}

function inRepo({ images }: Tables) {
  return and(eq(images.repoUid, textPlaceholder("repoUid")), isNull(images.goneTime));
}

/** Selects the number of an image, those of the platforms of an index, and those of the indexes of a platform. */
function relativesOf({ imageChildren: { parent, child }, imageChildren }: Tables, no: SQL): SQL {
  return sql`(select ${no} union all select ${child} from ${imageChildren} where ${parent} = ${no}
    union all select ${parent} from ${imageChildren} where ${child} = ${no})`;
}

/** Returns an expression: the last hour in which an image was used; null for never. A use of a platform is one of its index, and the reverse. */
function lastUseOf({ imageUses, imageChildren }: Tables, no: SQLWrapper): SQL<number | null> {
  // One search in the index for each image, however many uses it has.
  const last = (image: SQLWrapper) =>
    sql`(select max(${imageUses.hour}) from ${imageUses} where ${imageUses.image} = ${image})`;
  const { parent, child } = imageChildren;
  return sql`(select max(each.last) from (select ${last(no)} as last
    union all select ${last(child)} from ${imageChildren} where ${parent} = ${no}
    union all select ${last(parent)} from ${imageChildren} where ${child} = ${no}) as each)`;
}

/** The last uses of a tag in hours since the epoch; null for never. */
export interface TagLastUses {
  readonly name: string;
  readonly pull: number | null;
  readonly check: number | null;
  /** Of the image that the tag names. */
  readonly image: number | null;
}

/** Returns the last uses of tags of a repo. */
export async function findTagUses(session: Session, repoUid: string, names: readonly string[]): Promise<TagLastUses[]> {
  const statement = session.prepared("tag_uses.of", (db, tables) => {
    const { tags, tagUses, images } = tables;
    const last = (kind: number) =>
      sql`(select ${tagUses.hour} from ${tagUses} where ${tagUses.tagUid} = ${tags.uid} and ${tagUses.kind} = ${sql.raw(String(kind))})`;
    return db
      .select({
        name: tags.name,
        pull: orNull(last(UseKind.pull)).as("pull"),
        check: orNull(last(UseKind.check)).as("check_hour"),
        image: orNull(lastUseOf(tables, images.no)).as("image"),
      })
      .from(tags)
      .leftJoin(images, and(eq(images.repoUid, tags.parent), eq(images.digest, tags.digest), isNull(images.goneTime)))
      .where(and(eq(tags.parent, textPlaceholder("repoUid")), session.isAmong(tags.name, textPlaceholder("names"))));
  });
  return await statement.execute({ repoUid, names: JSON.stringify(names) });
}

/** Reads a number that may be null: PostgreSQL sends those of expressions as texts. */
function orNull(value: SQL): SQL<number | null> {
  return value.mapWith((read: unknown) => (read === null ? null : Number(read)));
}

/** A range of uids of repos: from the first one on, and before the other. */
export interface RepoRange {
  readonly from: string;
  readonly to: string;
}

/** Chooses images that were not used. */
export interface UnusedFilter {
  /** Images that were pushed or tagged from this time on are left out, in milliseconds since the epoch. */
  readonly since: number;
  /** Images that were used from this hour on are left out, in hours since the epoch. */
  readonly hour: number;
  /** Whether images without a tag are among them. */
  readonly untagged: boolean;
}

/** An image that was not used. */
export interface UnusedRow {
  readonly repoUid: string;
  readonly digest: string;
  /** In milliseconds since the epoch; 0 if it is unknown. */
  readonly pushTime: number;
  /** In hours since the epoch; null for never. */
  readonly last: number | null;
}

/** Returns unused images in a range behind a position, in the order of repo and digest. */
export async function listUnused(
  session: Session,
  { from, to }: RepoRange,
  filter: UnusedFilter,
  after: Pick<UnusedRow, "repoUid" | "digest">,
  limit: number,
): Promise<UnusedRow[]> {
  const statement = session.prepared(`image_uses.unused.${filter.untagged}`, (db, tables) => {
    const behind = sql`(repo_uid, digest) > (${textPlaceholder("afterRepo")}, ${textPlaceholder("afterDigest")})`;
    return db
      .select({
        repoUid: sql<string>`repo_uid`,
        digest: sql<string>`digest`,
        pushTime: sql<number>`push_time`.mapWith(Number),
        last: orNull(sql`last_use`),
      })
      .from(sql`${candidates(tables, filter)} as unused`)
      .where(and(isUnused(), behind))
      .orderBy(sql`repo_uid`, sql`digest`)
      .limit(limitOf("limit"));
  });
  // Repos before the position need not be read.
  const start = after.repoUid > from ? after.repoUid : from;
  return await statement.execute({
    ...valuesOf(filter),
    from: start,
    to,
    afterRepo: after.repoUid,
    afterDigest: after.digest,
    limit,
  });
}

/** Counts the unused images in a range. */
export async function countUnused(session: Session, range: RepoRange, filter: UnusedFilter): Promise<number> {
  const statement = session.prepared(`image_uses.count_unused.${filter.untagged}`, (db, tables) =>
    db
      .select({ count: sql<number>`count(*)`.mapWith(Number) })
      .from(sql`${candidates(tables, filter)} as unused`)
      .where(isUnused()),
  );
  return (await statement.execute({ ...valuesOf(filter), ...range }))[0]!.count;
}

function valuesOf({ since, hour }: UnusedFilter) {
  return { since, hour };
}

function isUnused(): SQL {
  return sql`push_time < ${numberPlaceholder("since")} and coalesce(last_use, -1) < ${numberPlaceholder("hour")}`;
}

/** Selects the images of a range that may be listed, with the time of the last push and the last use. */
function candidates(tables: Tables, { untagged }: Pick<UnusedFilter, "untagged">): SQL {
  const { tags, manifests, images, imageChildren } = tables;
  const within = (repoUid: SQLWrapper) =>
    sql`${repoUid} >= ${textPlaceholder("from")} and ${repoUid} < ${textPlaceholder("to")}`;
  const tagged = sql`select ${tags.parent} as repo_uid, ${tags.digest} as digest, ${tags.updateTime} as set_time, 1 as tagged
    from ${tags} where ${within(tags.parent)} and ${tags.digest} <> '' and not ${tags.isReferrer}`;
  // An empty architecture is that of attachments.
  const all = sql`${tagged} union all select ${manifests.repoUid}, ${manifests.digest}, 0, 0
    from ${manifests} where ${within(manifests.repoUid)} and ${manifests.architecture} <> ''`;
  const named = sql`select repo_uid, digest, max(set_time) as set_time, max(tagged) as tagged
    from (${untagged ? all : tagged}) as found group by repo_uid, digest`;
  const pushTime = sql`case when ${images.pushTime} > set_time then ${images.pushTime} else set_time end`;
  const isPlatform = sql`exists (select 1 from ${imageChildren} where ${imageChildren.child} = ${images.no})`;
  return sql`(select named.repo_uid, named.digest, ${pushTime} as push_time, ${lastUseOf(tables, images.no)} as last_use
    from (${named}) as named
    left join ${images} on ${images.repoUid} = named.repo_uid and ${images.digest} = named.digest
    where tagged = 1 or not ${isPlatform})`;
}

/** Returns the tags of images by repo and digest, `limit` at most for each. */
export async function findTagsOfImages(
  session: Session,
  images: readonly Pick<UnusedRow, "repoUid" | "digest">[],
  limit: number,
): Promise<Map<string, string[]>> {
  const statement = session.prepared("tags.of_images", (db, { tags }) =>
    db
      .select({ repoUid: tags.parent, digest: tags.digest, name: tags.name })
      .from(tags)
      .where(
        and(
          session.isAmong(tags.parent, textPlaceholder("repoUids")),
          session.isAmong(tags.digest, textPlaceholder("digests")),
        ),
      )
      .orderBy(asc(tags.name)),
  );
  const found = new Map<string, string[]>();
  const listOf = (values: readonly string[]) => JSON.stringify([...new Set(values)]);
  const rows = await statement.execute({
    repoUids: listOf(images.map(({ repoUid }) => repoUid)),
    digests: listOf(images.map(({ digest }) => digest)),
  });
  for (const { repoUid, digest, name } of rows) {
    const names = found.get(imageKey({ repoUid, digest })) ?? [];
    if (names.length < limit) found.set(imageKey({ repoUid, digest }), [...names, name]);
  }
  return found;
}

/** Returns the key of an image in `findTagsOfImages`. */
export function imageKey({ repoUid, digest }: Pick<UnusedRow, "repoUid" | "digest">): string {
  return `${repoUid}@${digest}`;
}
