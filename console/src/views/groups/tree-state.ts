// What the tree shows: open groups are read a page at a time, and only where the tree is looked at.
import { create } from "@bufbuild/protobuf";
import { createQueryOptions, useTransport } from "@connectrpc/connect-query";
import { useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { UIDPFilterSchema } from "../../../../gen/chainguard/platform/common/uidp_pb.ts";
import { type Group, GroupsService } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { GroupTreeService } from "../../../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { isAtOrAbove } from "../../api/access.ts";
import { parentOf } from "../../api/uids.ts";
import { useDelayed } from "../../shell/parts.tsx";
import { type Branch, newBranch, type Place } from "./branches.ts";

const { listGroups } = GroupsService.method;
const { countGroupContents, findGroupPosition } = GroupTreeService.method;

/** The children of a group that one call reads: the largest page of the API. */
export const pageSize = 200;

/** How long the tree has to stand still before pages are read that nobody may want to see, in milliseconds. */
const pauseMs = 80;

/** The open groups, and how to change them. */
export interface TreeState {
  /** The outermost groups, and everything that is open in them. */
  readonly root: Branch;
  readonly error: unknown;
  isOpen(uid: string): boolean;
  /** Opens or closes the group at a place. */
  open(group: Group, index: number, isOpen: boolean): void;
  /** Returns the place of a group among its siblings; undefined until it is known. */
  indexOf(uid: string): number | undefined;
  /** Takes note of where groups are. */
  note(places: ReadonlyMap<string, number>): void;
}

/** The groups at the places that are looked at. */
export interface TreePages {
  readonly error: unknown;
  groupAt(place: Place): Group | undefined;
  /** Returns how many groups a group contains; undefined until it is known. */
  countOf(uid: string): number | undefined;
}

/** Follows the open groups under `roots`. Those in `always` are open at first, and the groups of `path` are located. */
export function useTree(roots: readonly Group[], always: readonly string[], path: readonly Group[]): TreeState {
  const transport = useTransport();
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [places, setPlaces] = useState<ReadonlyMap<string, number>>(new Map());
  const rootUids = roots.map(({ uid }) => uid);
  const isInTree = (uid: string) => rootUids.some((root) => isAtOrAbove(root, uid));
  const isOpen = (uid: string) => changed.get(uid) ?? always.includes(uid);
  const opened = [...new Set([...always, ...changed.keys()])].filter((uid) => isOpen(uid) && isInTree(uid));
  const firstPages = useQueries({
    queries: opened.map((uid) => createQueryOptions(listGroups, pageRequest(uid, 0), { transport })),
  });
  const totals = new Map(
    opened.map((uid, i) => {
      const page = firstPages[i]?.data;
      return [uid, page && Number(page.totalCount ?? page.groups.length)];
    }),
  );
  const located = useLocated(path.filter(({ uid }) => (totals.get(parentOf(uid)) ?? 0) > pageSize && !places.has(uid)));
  const indexOf = (uid: string) => {
    const index = rootUids.indexOf(uid);
    return index >= 0 ? index : (places.get(uid) ?? located.get(uid));
  };
  const note: TreeState["note"] = (found) => {
    if ([...found].some(([uid, index]) => places.get(uid) !== index)) setPlaces(new Map([...places, ...found]));
  };
  const build = (uid: string, level: number): Branch => {
    const isChild = (other: string) => parentOf(other) === uid && !rootUids.includes(other);
    const children = opened.filter(isChild).flatMap((other) => {
      const index = indexOf(other);
      return index === undefined ? [] : [{ index, branch: build(other, level + 1) }];
    });
    return newBranch(uid, level, totals.get(uid), children);
  };
  const openRoots = roots.flatMap(({ uid }, index) => (isOpen(uid) ? [{ index, branch: build(uid, 1) }] : []));
  const interesting = new Set([...opened, ...path.map(({ uid }) => uid)]);
  const seen = firstPages.flatMap(({ data }) => [...placesIn(data?.groups ?? [], 0, interesting)]);
  useEffect(() => note(new Map(seen)));
  return {
    root: newBranch("", 0, roots.length, openRoots),
    error: firstPages.find(({ error, data }) => error && !data)?.error,
    isOpen,
    open: ({ uid }, index, open) => {
      note(new Map([[uid, index]]));
      setChanged(new Map(changed).set(uid, open));
    },
    indexOf,
    note,
  };
}

/** Finds the places of groups among their many siblings. */
function useLocated(groups: readonly Group[]): ReadonlyMap<string, number> {
  const transport = useTransport();
  const found = useQueries({
    queries: groups.map(({ uid, name }) =>
      createQueryOptions(findGroupPosition, { parent: parentOf(uid), name, groupUid: uid }, { transport }),
    ),
  });
  return new Map(groups.flatMap(({ uid }, i) => (found[i]?.data ? [[uid, found[i].data.skip] as const] : [])));
}

/** Reads the groups at places, and what they contain. */
export function useTreePages(tree: TreeState, roots: readonly Group[], places: readonly Place[]): TreePages {
  const transport = useTransport();
  const wanted = [...new Set(places.filter(({ branch }) => branch.uid !== "" && branch.total).map(keyOf))];
  const settled = useDelayed(wanted.join(","), pauseMs).split(",");
  const pages = useQueries({
    queries: wanted.map((key) => {
      const [uid = "", page = "0"] = key.split(" ");
      const options = createQueryOptions(listGroups, pageRequest(uid, Number(page)), { transport });
      return { ...options, enabled: page === "0" || settled.includes(key) };
    }),
  });
  const loaded = new Map(wanted.map((key, i) => [key, pages[i]?.data?.groups]));
  const shownRoots = places.some(({ branch }) => branch.uid === "") ? [roots.slice(0, pageSize)] : [];
  const counted = [...shownRoots, ...loaded.values()].filter((groups) => groups !== undefined && groups.length > 0);
  const counts = useQueries({
    queries: counted.map((groups) => {
      const request = { groupUids: groups!.map(({ uid }) => uid), kinds: ["groups"] };
      return createQueryOptions(countGroupContents, request, { transport });
    }),
  });
  const children = new Map(
    counts.flatMap(({ data }) => data?.groups ?? []).map(({ groupUid, counts: [count] }) => [groupUid, count]),
  );
  useEffect(() => {
    const shown = [...loaded].flatMap(([key, groups = []]) => {
      const isOpen = new Set(groups.map(({ uid }) => uid).filter((uid) => tree.isOpen(uid)));
      return [...placesIn(groups, Number(key.split(" ")[1]) * pageSize, isOpen)];
    });
    tree.note(new Map(shown));
  });
  return {
    error: pages.find(({ error, data }) => error && !data)?.error,
    groupAt: (place) =>
      place.branch.uid === "" ? roots[place.index] : loaded.get(keyOf(place))?.[place.index % pageSize],
    countOf: (uid) => {
      const count = children.get(uid);
      return count && Number(count.directCount);
    },
  };
}

function pageRequest(uid: string, page: number) {
  return { uidp: create(UIDPFilterSchema, { childrenOf: uid }), orderBy: "name", pageSize, skip: page * pageSize };
}

/** The name of the page that has a place. */
function keyOf({ branch, index }: Place): string {
  return `${branch.uid} ${Math.floor(index / pageSize)}`;
}

function* placesIn(groups: readonly Group[], from: number, wanted: ReadonlySet<string>): Generator<[string, number]> {
  for (const [i, { uid }] of groups.entries()) if (wanted.has(uid)) yield [uid, from + i];
}
