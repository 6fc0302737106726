// Compares the terms and texts of advisories with the advisories, page by page.

import type { DerivedTables } from "../collection/collection.ts";
import { limitOf, textPlaceholder } from "../engine/placeholders.ts";
import type { Session } from "../engine/session.ts";
import { scanTable } from "../engine/table-scan.ts";
import { and, asc, eq, gt, isNull, sql } from "../schema/drizzle.ts";
import { rebuildTextIndex, textIndexAgrees } from "../search/index-check.ts";
import { findAdvisoryEvents } from "./advisories.ts";
import { replaceTerms, replaceText, type Term, termsOf, textOf } from "./advisory-terms.ts";

const pageSize = 500;

/** A missing or superfluous term, or a wrong text. */
interface Difference {
  readonly uid: string;
  readonly term: Term | "text";
  /** The expected text; for a term, undefined if it is superfluous. */
  readonly due: string | undefined;
}

/** The terms and texts of advisories, which are derived from the advisories and their events. */
export const advisoryTables: DerivedTables = {
  tables: ({ advisoryEvents, advisoryTerms, advisoryTexts }) => [advisoryEvents, advisoryTerms, advisoryTexts],
  async *findings(session) {
    for await (const { uid, term, due } of differences(session)) {
      const what = term === "text" ? "the searched text" : `the term ${term.filter}=${term.value}`;
      yield `advisories ${uid}: ${what} ${due === undefined ? "does not belong to the row" : "is missing or another"}`;
    }
    if (!(await textIndexAgrees(session))) yield "advisories: the index of the searched texts differs from the texts";
  },
  async repair(tx) {
    let repaired = 0;
    for await (const { uid, term, due } of differences(tx)) {
      repaired++;
      if (term === "text") await replaceText(tx, uid, due);
      else await replaceTerms(tx, uid, due === undefined ? [term] : [], due === undefined ? [] : [term]);
    }
    if (await textIndexAgrees(tx)) return repaired;
    await rebuildTextIndex(tx);
    return repaired + 1;
  },
};

async function* differences(session: Session): AsyncGenerator<Difference> {
  yield* missing(session);
  yield* strayTerms(session);
  yield* strayTexts(session);
}

async function* missing(session: Session): AsyncGenerator<Difference> {
  const statement = session.prepared("advisories.check.terms", (db, { advisories, advisoryTexts: texts }) =>
    db
      .select({ row: advisories, text: texts.text })
      .from(advisories)
      .leftJoin(texts, eq(texts.uid, advisories.uid))
      .where(gt(advisories.uid, sql.placeholder("uid")))
      .orderBy(asc(advisories.uid))
      .limit(limitOf(pageSize)),
  );
  const find = session.prepared("advisory_terms.get", (db, { advisoryTerms: terms }) =>
    db
      .select({ uid: terms.uid })
      .from(terms)
      .where(
        and(
          eq(terms.filter, sql.placeholder("filter")),
          eq(terms.value, sql.placeholder("value")),
          eq(terms.uid, sql.placeholder("uid")),
        ),
      ),
  );
  const read = (after: string) => statement.execute({ uid: after });
  for await (const page of scanTable(pageSize, "", read, ({ row }) => row.uid)) {
    const due = await termsByUid(
      session,
      page.map(({ row }) => row),
    );
    for (const { row, text } of page) {
      const { uid } = row;
      if (text !== textOf(row)) yield { uid, term: "text", due: textOf(row) };
      for (const term of due.get(uid)!) {
        if ((await find.execute({ ...term, uid })).length === 0) yield { uid, term, due: term.value };
      }
    }
  }
}

async function* strayTerms(session: Session): AsyncGenerator<Difference> {
  const statement = session.prepared("advisory_terms.check", (db, { advisoryTerms: terms }) => {
    const after = [sql.placeholder("value"), sql.placeholder("filter"), sql.placeholder("uid")];
    return db
      .select()
      .from(terms)
      .where(sql`(${terms.value}, ${terms.filter}, ${terms.uid}) > (${sql.join(after, sql`, `)})`)
      .orderBy(asc(terms.value), asc(terms.filter), asc(terms.uid))
      .limit(limitOf(pageSize));
  });
  const rowsOf = session.prepared("advisories.check.named", (db, { advisories }) =>
    db
      .select()
      .from(advisories)
      .where(session.isAmong(advisories.uid, textPlaceholder("uids"))),
  );
  const start = { filter: "", value: "", uid: "" };
  const read = (after: typeof start) => statement.execute({ ...after });
  for await (const page of scanTable(pageSize, start, read, (row) => row)) {
    const rows = await rowsOf.execute({ uids: JSON.stringify([...new Set(page.map(({ uid }) => uid))]) });
    const due = await termsByUid(session, rows);
    for (const { filter, value, uid } of page) {
      if (due.get(uid)?.some((term) => term.filter === filter && term.value === value)) continue;
      yield { uid, term: { filter, value } as Term, due: undefined };
    }
  }
}

async function* strayTexts(session: Session): AsyncGenerator<Difference> {
  const statement = session.prepared("advisory_texts.check", (db, { advisories, advisoryTexts: texts }) =>
    db
      .select({ uid: texts.uid })
      .from(texts)
      .leftJoin(advisories, eq(advisories.uid, texts.uid))
      .where(and(isNull(advisories.uid), gt(texts.uid, sql.placeholder("uid"))))
      .orderBy(asc(texts.uid))
      .limit(limitOf(pageSize)),
  );
  const read = (after: string) => statement.execute({ uid: after });
  for await (const page of scanTable(pageSize, "", read, ({ uid }) => uid)) {
    for (const { uid } of page) yield { uid, term: "text", due: undefined };
  }
}

type AdvisoryRow = Parameters<typeof termsOf>[0];

async function termsByUid(session: Session, rows: readonly AdvisoryRow[]): Promise<Map<string, Term[]>> {
  const events = await findAdvisoryEvents(
    session,
    rows.map(({ uid }) => uid),
  );
  const byAdvisory = Map.groupBy(events, ({ advisoryUid }) => advisoryUid);
  return new Map(rows.map((row) => [row.uid, termsOf(row, byAdvisory.get(row.uid) ?? [])]));
}
