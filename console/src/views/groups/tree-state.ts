// The rows of the tree: opened groups are read a page at a time, closed ones are not read.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { type Group, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { parentOf } from "../../api/uids.ts";

/** The children of a group that the tree shows at a time. */
export const pageSize = 100;

/** A line of the tree. */
export type Row =
  | {
      readonly kind: "group";
      readonly group: Group;
      readonly level: number;
      /** The place among the siblings; 0 if it is unknown. */
      readonly position: number;
      readonly size: number;
      readonly isOpen: boolean;
      readonly count: number | undefined;
    }
  | {
      readonly kind: "range";
      readonly parent: string;
      readonly level: number;
      readonly skip: number;
      readonly total: number;
    }
  | { readonly kind: "loading"; readonly parent: string; readonly level: number };

/** What the tree shows, and how to change it. */
export interface TreeState {
  readonly rows: readonly Row[];
  readonly error: unknown;
  open(uid: string, isOpen: boolean): void;
  /** Shows another page of the children of a group. */
  turn(uid: string, skip: number): void;
}

/**
 * Reads the groups under `roots`. Those in `always` are open at first. `selected` is the first child of its parent if the page
 * of its siblings does not have it.
 */
export function useTree(roots: readonly Group[], always: readonly string[], selected: Group | undefined): TreeState {
  const transport = useTransport();
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [skips, setSkips] = useState<ReadonlyMap<string, number>>(new Map());
  const isOpen = (uid: string) => changed.get(uid) ?? always.includes(uid);
  const opened = [...new Set([...always, ...changed.keys()])].filter(isOpen);
  const results = useQueries({
    queries: opened.map((uid) =>
      createQueryOptions(
        GroupsService.method.listGroups,
        { uidp: create(UIDPFilterSchema, { childrenOf: uid }), orderBy: "name", pageSize, skip: skips.get(uid) ?? 0 },
        { transport },
      ),
    ),
  });
  const children = new Map(opened.map((uid, index) => [uid, results[index]?.data]));

  function rowsUnder(groups: readonly Group[], level: number, skip: number, size: number): Row[] {
    return groups.flatMap((group, index): Row[] => {
      const page = isOpen(group.uid) ? children.get(group.uid) : undefined;
      const count = page?.totalCount === undefined ? undefined : Number(page.totalCount);
      const common = { level, position: skip + index + 1, size, isOpen: isOpen(group.uid), count };
      return [{ kind: "group", group, ...common }, ...rowsIn(group.uid, level + 1)];
    });
  }

  function rowsIn(parent: string, level: number): Row[] {
    if (!isOpen(parent)) return [];
    const page = children.get(parent);
    if (!page) return [{ kind: "loading", parent, level }];
    const [skip, total] = [skips.get(parent) ?? 0, Number(page.totalCount ?? page.groups.length)];
    const isElsewhere =
      selected && parentOf(selected.uid) === parent && !page.groups.some(({ uid }) => uid === selected.uid);
    const rows = [
      ...(isElsewhere ? rowsUnder([selected], level, -1, total) : []),
      ...rowsUnder(page.groups, level, skip, total),
    ];
    return total > pageSize ? [...rows, { kind: "range", parent, level, skip, total }] : rows;
  }

  return {
    rows: rowsUnder(roots, 0, 0, roots.length),
    error: results.find(({ error, data }) => error && !data)?.error,
    open: (uid, open) => setChanged(new Map(changed).set(uid, open)),
    turn: (uid, skip) => setSkips(new Map(skips).set(uid, Math.max(0, skip))),
  };
}
