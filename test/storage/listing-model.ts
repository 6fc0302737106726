// The model of a list, on plain arrays, that both databases are compared with.
import type { ResourceRow } from "../../src/storage/collection/collection.ts";
import type { Cursor, ListQuery, Order, Source } from "../../src/storage/list/list-rows.ts";

/** Returns the expected page of a query. */
export function modelPage<R extends ResourceRow>(rows: readonly R[], query: ListQuery): R[] {
  const { order, after, skip, limit } = query;
  const behind = after ? (row: R) => compare(keyOf(row, order), [after.value, after.uid], order) > 0 : () => true;
  return modelRows(rows, query)
    .filter(behind)
    .slice(skip, skip + limit);
}

/** Returns all rows that a query selects, in order. */
export function modelRows<R extends ResourceRow>(
  rows: readonly R[],
  { sources, filters, order }: Pick<ListQuery, "sources" | "filters" | "order">,
): R[] {
  return rows
    .filter((row) => sources.some((source) => isIn(row, source)))
    .filter((row) => Object.entries(filters).every(([column, value]) => row[column as keyof R] === value))
    .sort((a, b) => compare(keyOf(a, order), keyOf(b, order), order));
}

/** Returns the cursor of the next page. */
export function modelCursor(row: ResourceRow, order: Order): Cursor {
  const [value, uid] = keyOf(row, order);
  return { value, uid };
}

function isIn(row: ResourceRow, source: Source): boolean {
  if (source.type === "row") return row.uid === source.uid;
  return source.type === "subtree" ? row.uid.startsWith(`${source.uid}/`) : row.parent === source.uid;
}

type Key = readonly [string | number, string];

function keyOf(row: ResourceRow, { field }: Order): Key {
  const { uid, name = "", createTime, updateTime = createTime, aliasText = "" } = row;
  // The sort prefix of a text.
  const [named, aliases] = [name, aliasText].map((text) => [...text].slice(0, 384).join(""));
  const unused = { sink: "", roleName: "", artifactName: "", score: 0, publishTime: 0 };
  const values = { ...unused, uid, name: named!, createTime, updateTime, aliasText: aliases! };
  return [values[field], uid];
}

/** Compares texts by their UTF-8 bytes. */
function compare(a: Key, b: Key, { descending }: Order): number {
  const [value, tie] = a.map((part, i) => {
    const other = b[i]!;
    return typeof part === "number" ? part - Number(other) : Buffer.compare(Buffer.from(part), Buffer.from(`${other}`));
  });
  return (value || tie || 0) * (descending ? -1 : 1);
}
