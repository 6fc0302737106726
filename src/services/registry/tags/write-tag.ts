import { newChild } from "../../../model/uid.ts";
import { insertRow, updateRow } from "../../../storage/collection/rows.ts";
import type { Transaction } from "../../../storage/engine/session.ts";
import { type TagRow, tagCollection } from "../../../storage/registry/rows.ts";

type TagColumns = Omit<TagRow, "uid" | "parent" | "createTime" | "updateTime">;

/** Creates or updates a tag of a repo. `before` is the tag of this name as the transaction read it. */
export async function writeTag(
  tx: Transaction,
  parent: string,
  before: TagRow | undefined,
  columns: TagColumns,
): Promise<TagRow> {
  const { time } = tx.context;
  const own = { uid: before?.uid ?? newChild(parent), parent, createTime: before?.createTime ?? time };
  const after: TagRow = { ...columns, ...own, updateTime: time };
  if (before) return await updateRow(tx, tagCollection, before, after);
  await insertRow(tx, tagCollection, after);
  return after;
}

/** Returns the kinds of a tag by its name. Lists exclude these kinds by default. */
export function kindsOf(name: string): Pick<TagRow, "isReferrer" | "isDate" | "isEpoch"> {
  return {
    isReferrer: name.startsWith("sha256-"),
    isDate: /-20\d\d[01]\d[0-3]\d$/.test(name),
    isEpoch: /-r\d+$/.test(name),
  };
}
