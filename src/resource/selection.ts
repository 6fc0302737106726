// Turns what a caller may see and what a caller asks for into the rows to be listed. A pure function of uids: the filter by
// access is part of the query, so that pages are full and totals count only what may be seen.
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

/** Which rows of a kind may be seen beside those below a granted group. */
export interface SelectionOptions {
  /** Whether the uid of a granted group can be that of a row, as it is for groups themselves. */
  readonly includesGranted: boolean;
  /** Whether rows without parent are shown to everybody who may list at all. */
  readonly includesRoots: boolean;
}

/** The rows of a resource that lie in the scope and pass the filter. The sources have no row in common. */
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
  if (filter.descendantsOf) found.push(below(filter.descendantsOf));
  if (filter.childrenOf) found.push(childrenOf(filter.childrenOf));
  if (filter.inRoot) found.push(inRoot);
  if (filter.ancestorsOf) found.push(rows(ancestorsOf(filter.ancestorsOf)));
  if (filter.ids.length > 0) found.push(rows([...new Set(filter.ids)]));
  return found;
}

function below(uid: string): Restriction {
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

/** Keeps the named rows. */
function rows(uids: readonly string[]): Restriction {
  return (sources) => uids.filter((uid) => isSelected(sources, uid)).map((uid) => ({ type: "row", uid }));
}

/** Whether the row with this uid is one of the sources, or would be if it still existed. */
export function isSelected(sources: readonly Source[], uid: string): boolean {
  return sources.some((source) => holds(source, uid));
}

function holds(source: Source, uid: string): boolean {
  if (source.type === "row") return source.uid === uid;
  if (source.type === "subtree") return isBelow(uid, source.uid);
  return parentOf(uid) === (source.uid ?? platformRoot);
}
