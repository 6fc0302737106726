// Keeps the words of names up to date: fills the table once, and then follows the change log. Every way that changes a name is in the
// change log, also the writes of a server of the release before (docs/decisions/0100).
import { lastChange } from "../change-log/change-log.ts";
import { lastTrimmedChange } from "../change-log/removal.ts";
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Prepared, Session, Transaction } from "../engine/session.ts";
import { compareAndSetSetting, getOrSetSetting, readSetting } from "../engine/settings.ts";
import { identityCollection, roleBindingCollection } from "../iam/collections.ts";
import { membershipKind } from "../iam/memberships.ts";
import { asc, gt } from "../schema/drizzle.ts";
import { type FollowedChange, readFollowedChanges } from "./followed-changes.ts";
import { deleteWords, insertWords, type NameWord, readFirstWords } from "./name-words.ts";
import { replacePersonWords } from "./person-words.ts";
import { wordSources, wordsOfRow } from "./word-sources.ts";

const setting = "name_words";

/** The most that one transaction does: other writes wait for it. */
const limits = {
  rows: 200,
  /** Changes of the log that it looks at, of which it reads those that matter. */
  changes: 5_000,
  /** Where none of them matters, the position is stored after this many. */
  skipped: 1_000,
} as const;

/** How far the index is. */
interface Progress {
  /** The sequence number of the change up to which the index follows the log, once it is filled. */
  readonly position: number;
  /** The kind of rows to index next; "" to empty the table first, absent once all are indexed. */
  readonly kind?: string | undefined;
  /** The last row of that kind that is indexed. */
  readonly after?: string | undefined;
}

/** A part of the work: where it leads, and what it writes. */
interface Step {
  readonly to: Progress;
  write(tx: Transaction): Promise<unknown>;
}

/** Whether all names are indexed: before, a search may not find some. */
export async function isWordIndexFilled(session: Session): Promise<boolean> {
  const stored = await readSetting(session, setting);
  return stored !== undefined && (JSON.parse(stored) as Progress).kind === undefined;
}

/**
 * Returns the next part of the work as a write; undefined if there is none. The write does nothing if another server has done it in
 * the meantime.
 */
export async function nextIndexWrite(session: Session): Promise<((tx: Transaction) => Promise<void>) | undefined> {
  const stored = await readSetting(session, setting);
  if (stored === undefined) {
    const first: Progress = { position: await lastChange(session), kind: "" };
    return async (tx) => void (await getOrSetSetting(tx, setting, JSON.stringify(first)));
  }
  const step = await nextStep(session, JSON.parse(stored) as Progress);
  if (!step) return undefined;
  return async (tx) => {
    // First: of several servers, the others wait here, and then do nothing.
    if (await compareAndSetSetting(tx, setting, stored, JSON.stringify(step.to))) await step.write(tx);
  };
}

async function nextStep(session: Session, from: Progress): Promise<Step | undefined> {
  // The retention has deleted changes that were not followed, while no server ran.
  const trimmed = await lastTrimmedChange(session);
  if (from.position < trimmed) {
    const position = Math.max(trimmed, await lastChange(session));
    return { to: { position, kind: "" }, write: async () => {} };
  }
  if (from.kind === undefined) return await followingStep(session, from);
  return from.kind === "" ? await clearingStep(session, from) : await fillingStep(session, from);
}

/** The table may have words of an index that is filled again. */
async function clearingStep(session: Session, { position }: Progress): Promise<Step> {
  const words = await readFirstWords(session, limits.rows);
  const kind = words.length < limits.rows ? wordSources[0]!.collection.kind : "";
  return { to: { position, kind }, write: (tx) => deleteWords(tx, words) };
}

async function fillingStep(session: Session, { position, kind, after = "" }: Progress): Promise<Step> {
  const at = wordSources.findIndex(({ collection }) => collection.kind === kind);
  const source = wordSources[at]!;
  const rows = await readRowsAfter(session, source.collection, after);
  const next = wordSources[at + 1]?.collection.kind;
  const isAll = rows.length < limits.rows;
  return {
    to: isAll ? { position, kind: next } : { position, kind, after: rows.at(-1)!.uid },
    async write(tx) {
      await insertWords(
        tx,
        rows.flatMap((row) => wordsOfRow(source, row)),
      );
      if (kind === identityCollection.kind)
        await replacePersonWords(
          tx,
          rows.filter(isOutside).map(({ uid }) => uid),
        );
    },
  };
}

async function followingStep(session: Session, { position }: Progress): Promise<Step | undefined> {
  const latest = await lastChange(session);
  if (position >= latest) return undefined;
  const until = Math.min(latest, position + limits.changes);
  const changes = await readFollowedChanges(session, position, until, limits.rows);
  if (changes.length === 0 && until - position < limits.skipped) return undefined;
  const to = { position: changes.length === limits.rows ? changes.at(-1)!.sequence : until };
  return { to, write: (tx) => followChanges(tx, changes) };
}

async function followChanges(tx: Transaction, changes: readonly FollowedChange[]): Promise<void> {
  const people = new Set<string>();
  // The last change of a word decides.
  const words = new Map<string, { readonly word: NameWord; readonly isThere: boolean }>();
  for (const change of changes) {
    const source = wordSources.find(({ collection }) => collection.kind === change.kind);
    for (const [row, isThere] of [
      [change.before, false],
      [change.after, true],
    ] as const)
      for (const word of source ? wordsOfRow(source, row) : []) words.set(JSON.stringify(word), { word, isThere });
    for (const uid of peopleOf(change)) people.add(uid);
  }
  const changed = [...words.values()];
  await deleteWords(
    tx,
    changed.filter(({ isThere }) => !isThere).map(({ word }) => word),
  );
  await insertWords(
    tx,
    changed.filter(({ isThere }) => isThere).map(({ word }) => word),
  );
  await replacePersonWords(tx, [...people]);
}

/** Returns the people whose words a change can change. */
function peopleOf({ kind, uid, before, after }: FollowedChange): string[] {
  if (kind === membershipKind) return [uid];
  if (kind === identityCollection.kind) return [before, after].some((row) => row && isOutside(row)) ? [uid] : [];
  // The installation enrolls its first owner with a role binding, and logs no membership.
  return kind === roleBindingCollection.kind && after?.identityUid ? [after.identityUid] : [];
}

/** Whether an identity belongs to no group: that of a person. */
function isOutside({ parent }: Pick<ResourceRow, "parent">): boolean {
  return parent === null;
}

async function readRowsAfter(session: Session, collection: Collection<ResourceRow>, after: string) {
  const statement = session.prepared(`${collection.kind}.rows_after`, (db, tables) => {
    const table = collection.rows(tables);
    return db
      .select()
      .from(table)
      .where(gt(table.uid, textPlaceholder("after")))
      .orderBy(asc(table.uid))
      .limit(limitOf("limit"));
  });
  return await (statement as unknown as Prepared<ResourceRow[]>).execute({ after, limit: limits.rows });
}
