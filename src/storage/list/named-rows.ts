// Reads the rows whose names begin with a text, from the entries, which are sorted by name.
import type { Collection, ResourceRow } from "../collection/collection.ts";
import { findRow } from "../collection/rows.ts";
import type { Session } from "../engine/session.ts";
import { sortPrefix } from "../schema/ordered-text.ts";
import { compareCursors, cursorOf, type Order } from "./order.ts";
import { readRange } from "./range.ts";
import type { RangeSource } from "./source.ts";

const byName: Order = { field: "name", descending: false };

/**
 * Returns rows of disjoint sources by name, `limit` at most. Each source costs as much as the rows that it returns. The root of a subtree is
 * among them, like in a list.
 */
export async function readNamed<R extends ResourceRow & { readonly name: string }>(
  session: Session,
  collection: Collection<R>,
  sources: readonly RangeSource[],
  prefix: string,
  limit: number,
): Promise<R[]> {
  // No row has an empty uid: this is the place in front of the first name that begins with the prefix.
  const after = { value: sortPrefix(prefix), uid: "" };
  const begins = ({ name }: R) => name.startsWith(prefix);
  const found: R[] = [];
  for (const source of sources) {
    const rows = await readRange(session, collection, { source, filters: {}, order: byName, after }, limit);
    found.push(...rows.filter(begins));
    const root = source.type === "subtree" ? await findRow(session, collection, source.uid) : undefined;
    if (root && begins(root)) found.push(root);
  }
  return found.sort((a, b) => compareCursors(cursorOf(a, "name"), cursorOf(b, "name"), byName)).slice(0, limit);
}
