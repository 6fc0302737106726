// Arbitrary group trees with their rows, for property tests.
import fc from "fast-check";
import { depthOf, isWithin } from "../../src/model/uid.ts";
import type { ResourceRow } from "../../src/storage/collection/collection.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import type { Transaction } from "../../src/storage/engine/session.ts";
import type { Order, SortField, Source } from "../../src/storage/list/list-rows.ts";
import {
  bindingRow,
  type GroupRow,
  groupRow,
  groups,
  type IdentityRow,
  identities,
  identityRow,
  type RoleBindingRow,
  type RoleRow,
  roleBindings,
  roleRow,
  roles,
} from "./fixtures.ts";

/** Rows of every collection; parents stand before their children. */
export interface Forest {
  readonly groups: GroupRow[];
  readonly identities: IdentityRow[];
  /** Some without parent. */
  readonly roles: RoleRow[];
  readonly roleBindings: RoleBindingRow[];
}

/** A name longer than the sort prefix, of code points that SQL counts as one and JavaScript as two units. */
const long = "😀".repeat(383);

/**
 * Names with a common prefix, also longer than the sort prefix; no language sorts them by bytes, and UTF-16 sorts them
 * differently.
 */
export const names = [
  "a",
  "a b",
  "a-b",
  "a.b",
  "a0",
  "a1",
  "a_b",
  "ab",
  "b",
  "é",
  "～",
  "😀",
  `${long}a`,
  `${long}ab`,
  `${long}b`,
  `${long}😀～`,
  `${long}😀😀`,
];

/** Few values, so many rows are equal. */
const node = fc.record({
  above: fc.nat(),
  name: fc.constantFrom(...names),
  createTime: fc.integer({ min: 1, max: 3 }),
  updateTime: fc.integer({ min: 1, max: 3 }),
  kind: fc.integer({ min: 1, max: 2 }),
});

const maxDepth = 4;

/** Returns a forest of 1 to `size` groups. */
export function forests(size: number): fc.Arbitrary<Forest> {
  const nodes = fc.array(node, { minLength: 1, maxLength: size });
  return fc.record({ nodes, others: fc.array(node, { maxLength: size }), salt: fc.nat() }).map(grow);
}

type Node = typeof node extends fc.Arbitrary<infer T> ? T : never;

function grow({ nodes, others, salt }: { nodes: Node[]; others: Node[]; salt: number }): Forest {
  const forest: Forest = { groups: [], identities: [], roles: [], roleBindings: [] };
  nodes.forEach(({ above, ...more }, i) => {
    // One in four is a root.
    const parent = above % 4 === 0 ? undefined : forest.groups[above % (forest.groups.length || 1)];
    const isTooDeep = parent && depthOf(parent.uid) >= maxDepth;
    forest.groups.push(groupRow(parent && !isTooDeep ? parent.uid : null, `${salt} group ${i}`, more));
  });
  const groupAt = (n: number) => forest.groups[n % forest.groups.length]!.uid;
  for (let i = 0; i < 3; i++) forest.identities.push(identityRow(i ? groupAt(i) : null, `${salt} identity ${i}`));
  for (let i = 0; i < 4; i++) forest.roles.push(roleRow(i < 2 ? null : groupAt(i), `${salt} role ${i}`));
  others.forEach(({ above, createTime }, i) => {
    const [identity, role] = [forest.identities[i % 3]!, forest.roles[i % 4]!];
    const binding = bindingRow(groupAt(above), identity, role, { createTime });
    if (!forest.roleBindings.some(({ uid }) => uid === binding.uid)) forest.roleBindings.push(binding);
  });
  return forest;
}

/** Writes all rows. */
export async function insertForest(tx: Transaction, forest: Forest): Promise<void> {
  for (const row of forest.groups) await insertRow(tx, groups, row);
  for (const row of forest.identities) await insertRow(tx, identities, row);
  for (const row of forest.roles) await insertRow(tx, roles, row);
  for (const row of forest.roleBindings) await insertRow(tx, roleBindings, row);
}

const fields: readonly SortField[] = ["uid", "name", "createTime", "updateTime"];

/** All sort orders. */
export const orders: readonly Order[] = fields.flatMap((field) => [
  { field, descending: false },
  { field, descending: true },
]);

/** One list of sources of each kind; `pick` chooses the groups. */
export function sourcesOf({ groups }: Forest, rows: readonly ResourceRow[], pick: number): Record<string, Source[]> {
  const at = (n: number) => groups[(pick + n) % groups.length]!.uid;
  const apart: string[] = [];
  for (const uid of [at(0), at(1), at(2)]) {
    if (!apart.some((other) => isWithin(uid, other) || isWithin(other, uid))) apart.push(uid);
  }
  const row = rows.length > 0 ? [{ type: "row" as const, uid: rows[pick % rows.length]!.uid }] : [];
  return {
    subtree: [{ type: "subtree", uid: at(0) }],
    children: [{ type: "children", uid: at(0) }],
    roots: [{ type: "children", uid: null }],
    row,
    "rows that do not exist": [{ type: "row", uid: `${at(0)}/ffffffffffffffff` }],
    nothing: [],
    "union of groups and subtrees": apart.flatMap((uid): Source[] => [
      { type: "row", uid },
      { type: "subtree", uid },
    ]),
    "union of roots and children": [
      { type: "children", uid: null },
      ...apart.map((uid): Source => ({ type: "children", uid })),
    ],
  };
}
