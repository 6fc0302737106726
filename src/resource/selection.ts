// Combines the scope of a caller and the place filter of a request into the sources of a list. Access is part of the query, so
// pages are full and totals count only visible rows.
import type { Scope } from "../authz/access.ts";
import { ancestorsOf, isBelow, isWithin, parentOf, platformRoot } from "../model/uid.ts";
import type { Source } from "../storage/list/list-rows.ts";

/** The place filters of a list request; empty texts and lists mean no restriction. */
export interface PlaceFilter {
  readonly ancestorsOf: string;
  readonly descendantsOf: string;
  readonly childrenOf: string;
  readonly inRoot: boolean;
  readonly ids: readonly string[];
}

/** The rows of a kind that are visible in addition to those under a granted group. */
export interface SelectionOptions {
  /** Whether rows of this kind can themselves be the group of a grant, as groups can. */
  readonly includesGranted: boolean;
  /** Whether every caller who may list sees the rows without a parent. */
  readonly includesRoots: boolean;
}

/** Returns the sources of the rows that are in the scope and match the filter. No row is in two sources. */
export function selectSources(scope: Scope, filter: PlaceFilter | undefined, options: SelectionOptions): Source[] {
  const all = withScope(scope, options);
  return filter ? restrictions(filter).reduce((sources, restrict) => restrict(sources), all) : all;
}

function withScope(scope: Scope, { includesGranted, includesRoots }: SelectionOptions): Source[] {
  const granted = scope.flatMap((uid): Source[] => [
    ...(includesGranted ? [{ type: "row", uid } as const] : []),
    { type: "subtree", uid },
  ]);
  return includesRoots ? [{ type: "children", uid: null }, ...granted] : granted;
}

type Restriction = (sources: readonly Source[]) => Source[];

function restrictions(filter: PlaceFilter): Restriction[] {
  const found: Restriction[] = [];
  if (filter.descendantsOf) found.push(descendantsOf(filter.descendantsOf));
  if (filter.childrenOf) found.push(childrenOf(filter.childrenOf));
  if (filter.inRoot) found.push(inRoot);
  if (filter.ancestorsOf) found.push(rows(ancestorsOf(filter.ancestorsOf)));
  if (filter.ids.length > 0) found.push(rows([...new Set(filter.ids)]));
  return found;
}

function descendantsOf(uid: string): Restriction {
  return (sources) =>
    sources.flatMap((source): Source[] => {
      if (source.type === "row") return isBelow(source.uid, uid) ? [source] : [];
      if (source.uid === null) return [];
      if (isWithin(source.uid, uid)) return [source];
      return source.type === "subtree" && isBelow(uid, source.uid) ? [{ type: "subtree", uid }] : [];
    });
}

function childrenOf(uid: string): Restriction {
  return (sources) =>
    sources.flatMap((source): Source[] => {
      if (source.type === "row") return parentOf(source.uid) === uid ? [source] : [];
      if (source.uid === null) return [];
      if (source.type === "children") return source.uid === uid ? [source] : [];
      return isWithin(uid, source.uid) ? [{ type: "children", uid }] : [];
    });
}

const inRoot: Restriction = (sources) =>
  sources.filter((source) =>
    source.type === "row" ? parentOf(source.uid) === platformRoot : source.type === "children" && source.uid === null,
  );

/** Restricts the sources to the named rows. */
function rows(uids: readonly string[]): Restriction {
  return (sources) => uids.filter((uid) => isSelected(sources, uid)).map((uid) => ({ type: "row", uid }));
}

/** Whether the row with this uid is one of the sources, or would be if it still existed. */
export function isSelected(sources: readonly Source[], uid: string): boolean {
  return sources.some((source) => contains(source, uid));
}

function contains(source: Source, uid: string): boolean {
  if (source.type === "row") return source.uid === uid;
  if (source.type === "subtree") return isBelow(uid, source.uid);
  return parentOf(uid) === (source.uid ?? platformRoot);
}
