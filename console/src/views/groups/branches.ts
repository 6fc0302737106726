// The rows of the tree by number. A branch has as many rows as it has children and open branches within it, without having read them.

/** The children of an open group. */
export interface Branch {
  /** The uid of the group; empty for the outermost groups. */
  readonly uid: string;
  /** How deep its children are. */
  readonly level: number;
  /** How many children there are; undefined until it is known. */
  readonly total: number | undefined;
  /** The open ones among them, in order. */
  readonly opened: readonly OpenChild[];
  /** How many rows the branch has, with the branches in it. */
  readonly rowCount: number;
}

interface OpenChild {
  /** The place among its siblings, from 0. */
  readonly index: number;
  readonly branch: Branch;
}

/** Where a row is. */
export interface Place {
  readonly branch: Branch;
  /** The place among its siblings, from 0. */
  readonly index: number;
}

/** Makes a branch. Children that are not there any more are left out. */
export function newBranch(
  uid: string,
  level: number,
  total: number | undefined,
  children: readonly OpenChild[],
): Branch {
  const opened = children.filter(({ index }) => index < (total ?? 0)).sort((a, b) => a.index - b.index);
  // The row of a branch that is being read is a place holder.
  const rowCount = opened.reduce((sum, { branch }) => sum + branch.rowCount, total ?? 1);
  return { uid, level, total, opened, rowCount };
}

/** Returns where a row of a branch is. */
export function placeAt(branch: Branch, row: number): Place {
  if (branch.total === undefined) return { branch, index: 0 };
  let within = 0;
  for (const { index, branch: inner } of branch.opened) {
    const at = index + within;
    if (row <= at) break;
    if (row <= at + inner.rowCount) return placeAt(inner, row - at - 1);
    within += inner.rowCount;
  }
  return { branch, index: row - within };
}

/** Returns the row of the child of a group; undefined if the branch has no such row. */
export function rowOf(branch: Branch, parent: string, index: number): number | undefined {
  let within = 0;
  let found: number | undefined;
  const isHere = branch.uid === parent && index < (branch.total ?? 1);
  for (const { index: at, branch: inner } of branch.opened) {
    if (isHere && at >= index) break;
    const row = isHere ? undefined : rowOf(inner, parent, index);
    if (row !== undefined) found ??= at + within + 1 + row;
    within += inner.rowCount;
  }
  return isHere ? index + within : found;
}

/** Returns the branch of a group, if it is open. */
export function branchOf(branch: Branch, uid: string): Branch | undefined {
  if (branch.uid === uid) return branch;
  for (const { branch: inner } of branch.opened) {
    const found = branchOf(inner, uid);
    if (found) return found;
  }
  return undefined;
}
