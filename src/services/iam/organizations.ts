// What an organization says of every group in it.
import { newEpochMemory } from "../../authz/epoch-memory.ts";
import { findRow } from "../../storage/collection.ts";
import type { Database } from "../../storage/database.ts";
import { rootOf } from "../../uid.ts";
import { type GroupRow, groupCollection } from "./rows.ts";

/**
 * Kind and status of a group are those of its organization. Rows of subgroups have none of their own, so that a change of the
 * organization is seen in all of them at once.
 */
export type Standing = Pick<GroupRow, "kind" | "status">;

/** How many organizations are remembered. */
const maxOrganizations = 10_000;

const none: Standing = { kind: 0, status: 0 };

/**
 * Makes what finds the standing of a group. It remembers: whoever changes the standing of an organization changes access too
 * (`tx.changeAccess`), with which other servers learn of it.
 */
export function newStandings({ database }: { readonly database: Database }) {
  const memory = newEpochMemory<Standing>(maxOrganizations);

  async function read(epoch: number, uid: string): Promise<Standing> {
    const { kind, status } = (await findRow(database.session, groupCollection, uid)) ?? none;
    const standing = { kind, status };
    memory.keep(epoch, uid, standing);
    return standing;
  }

  const at = (epoch: number, uid: string) => memory.find(epoch, uid) ?? read(epoch, uid);

  return (row: GroupRow): Standing | Promise<Standing> => {
    if (row.parent === null) return row;
    const uid = rootOf(row.uid);
    const epoch = database.accessEpoch.current();
    return typeof epoch === "number" ? at(epoch, uid) : epoch.then((number) => at(number, uid));
  };
}
