// The tree, with the keys of the ARIA pattern (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/).
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { useMediaQuery } from "@mantine/hooks";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Group } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { GroupTreeService } from "../../../../gen/gatehouse/iam/v1/group_tree_pb.ts";
import { parentOf } from "../../api/uids.ts";
import { type Align, type RowWindow, useRowWindow } from "../../shell/row-window.ts";
import { Failure } from "../../shell/states.tsx";
import { type Branch, branchOf, type Place, placeAt, rowOf } from "./branches.ts";
import { JumpBar } from "./jump-bar.tsx";
import styles from "./tree.module.css";
import { TreeRow } from "./tree-row.tsx";
import { pageSize, type TreePages, type TreeState, useTreePages } from "./tree-state.ts";

/** The heights of a row in pixels, as in the style sheet: with a mouse, and for fingers. */
const rowPx = { wide: 36, narrow: 44 };

/** How long two letters of a name may be apart when one types ahead, in milliseconds. */
const typeAheadMs = 700;

/** How many rows are looked through for what was typed; a group with more children than a page asks the server. */
const searchedRows = 1000;

/** Where a row is, by the uid of the group that contains it: this stays when other groups open or close. */
interface Spot {
  readonly parent: string;
  readonly index: number;
}

/** Shows the tree. One row is in the tab order; the arrows move to the others. */
export function Tree({
  label,
  tree,
  roots,
  selected,
  onSelect,
}: {
  readonly label: string;
  readonly tree: TreeState;
  readonly roots: readonly Group[];
  readonly selected: string;
  readonly onSelect: (uid: string) => void;
}) {
  const isNarrow = useMediaQuery("(max-width: 767px)", false, { getInitialValueInEffect: false });
  const element = useRef<HTMLDivElement>(null);
  const { root } = tree;
  const shown = useRowWindow(element, root.rowCount, isNarrow ? rowPx.narrow : rowPx.wide);
  const [current, setCurrent] = useState<Spot>();
  const isFocusWanted = useRef(false);
  const typed = useRef({ text: "", at: 0 });

  const currentRow = current && rowOf(root, current.parent, current.index);
  const selectedRow = rowOfUid(tree, selected, roots);
  const inTabOrder = currentRow ?? selectedRow ?? 0;
  const rows = rowsOf(shown.rendered, root.rowCount, inTabOrder).map((row) => ({ row, place: placeAt(root, row) }));
  const pages = useTreePages(
    tree,
    roots,
    rows.map(({ place }) => place),
  );

  const moveTo: MoveTo = (row, { align, isFocusWanted: wantsFocus }) => {
    const { branch, index } = placeAt(root, row);
    isFocusWanted.current = wantsFocus;
    setCurrent({ parent: branch.uid, index });
    shown.reveal(row, align);
  };
  useReveal(selected, selectedRow, shown.reveal);
  // Before the browser goes on: the row that had the focus may be gone, and a key would be lost.
  useLayoutEffect(() => {
    if (!isFocusWanted.current) return;
    isFocusWanted.current = false;
    element.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true });
  });
  const jump = useJump(root, moveTo);

  const onKeyDown = (event: KeyboardEvent, row: number, place: Place) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const group = pages.groupAt(place);
    const isOpen = group !== undefined && tree.isOpen(group.uid);
    const perPage = Math.max(1, shown.view.to - shown.view.from - 2);
    const next = targetOf(event.key, { row, place, isOpen, perPage, root });
    if (next !== undefined) moveTo(next, { isFocusWanted: true });
    else if (takesLetter(event, typed.current)) {
      const { text } = typed.current;
      if ((place.branch.total ?? 0) > pageSize) void jump(place.branch.uid, text, { isFocusWanted: true });
      else moveTo(searchFrom(row + (text.length === 1 ? 1 : 0), text, root, pages) ?? row, { isFocusWanted: true });
    } else if (group && event.key === "ArrowRight" && !isOpen) tree.open(group, place.index, true);
    else if (group && event.key === "ArrowLeft" && isOpen) tree.open(group, place.index, false);
    else if (group && (event.key === "Enter" || event.key === " ")) onSelect(group.uid);
    else return;
    event.preventDefault();
  };

  return (
    <>
      <JumpBar
        root={root}
        view={shown.view}
        current={currentRow}
        nameOf={(uid) => nameOf(uid, root, tree, pages)}
        onJump={(parent, name, wantsFocus) => void jump(parent, name, { align: "start", isFocusWanted: wantsFocus })}
      />
      {Boolean(pages.error) && <Failure error={pages.error} />}
      <div className={styles.tree} role="tree" aria-label={label} ref={element}>
        <div className={styles.extent} role="none" style={{ height: shown.extentPx }}>
          {rows.map(({ row, place }) => {
            const group = pages.groupAt(place);
            const { branch, index } = place;
            const isOpen = group !== undefined && tree.isOpen(group.uid);
            return (
              <TreeRow
                key={`${branch.uid} ${index}`}
                group={group}
                level={branch.level}
                top={shown.topOf(row)}
                position={index + 1}
                size={branch.total ?? 1}
                isOpen={isOpen}
                isSelected={group !== undefined && group.uid === selected}
                isCurrent={row === currentRow}
                isInTabOrder={row === inTabOrder}
                count={group && pages.countOf(group.uid)}
                onKeyDown={(event) => onKeyDown(event, row, place)}
                onTwist={() => group && tree.open(group, index, !isOpen)}
                onSelect={() => {
                  setCurrent({ parent: branch.uid, index });
                  if (group) onSelect(group.uid);
                }}
              />
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Returns the rows that are in the document: those around the view, and the one that has or would get the focus. */
function rowsOf({ from, to }: { readonly from: number; readonly to: number }, count: number, extra: number): number[] {
  const rows = Array.from({ length: to - from }, (_, i) => from + i);
  if (extra >= 0 && extra < from) rows.unshift(extra);
  else if (extra >= to && extra < count) rows.push(extra);
  return rows;
}

/** Returns the row of a group, if it is in the tree. */
function rowOfUid(tree: TreeState, uid: string, roots: readonly Group[]): number | undefined {
  const index = tree.indexOf(uid);
  const parent = roots.some((root) => root.uid === uid) ? "" : parentOf(uid);
  return index === undefined ? undefined : rowOf(tree.root, parent, index);
}

/** Scrolls to the selected group once, when its row is known. */
function useReveal(selected: string, row: number | undefined, reveal: RowWindow["reveal"]): void {
  const revealed = useRef("");
  useEffect(() => {
    if (selected === "" || row === undefined || revealed.current === selected) return;
    revealed.current = selected;
    reveal(row, "middle");
  });
}

/** Returns a function that moves to the first child of a group whose name is not before a text. */
function useJump(root: Branch, moveTo: MoveTo) {
  const transport = useTransport();
  const latest = useRef({ root, moveTo, asked: 0 });
  Object.assign(latest.current, { root, moveTo });
  return async (parent: string, name: string, how: Parameters<MoveTo>[1]) => {
    const asked = ++latest.current.asked;
    const { skip } = await callUnaryMethod(transport, GroupTreeService.method.findGroupPosition, { parent, name });
    if (latest.current.asked !== asked) return;
    const total = branchOf(latest.current.root, parent)?.total ?? 0;
    const row = rowOf(latest.current.root, parent, Math.min(skip, total - 1));
    if (row !== undefined) latest.current.moveTo(row, how);
  };
}

/** Makes a row the one where the keyboard is, or would be. */
type MoveTo = (row: number, how: { readonly align?: Align; readonly isFocusWanted: boolean }) => void;

interface Move {
  readonly row: number;
  readonly place: Place;
  readonly isOpen: boolean;
  readonly perPage: number;
  readonly root: Branch;
}

/** Returns the row that a key moves to; undefined for a key that does not move. */
function targetOf(key: string, { row, place, isOpen, perPage, root }: Move): number | undefined {
  const last = root.rowCount - 1;
  if (key === "ArrowDown") return Math.min(row + 1, last);
  if (key === "ArrowUp") return Math.max(row - 1, 0);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key === "PageDown") return Math.min(row + perPage, last);
  if (key === "PageUp") return Math.max(row - perPage, 0);
  if (key === "ArrowRight" && isOpen && row < last && placeAt(root, row + 1).branch.level > place.branch.level)
    return row + 1;
  // The row in front of the first of its siblings is that of their parent.
  const first = rowOf(root, place.branch.uid, 0) ?? 0;
  if (key === "ArrowLeft" && !isOpen && first > 0) return first - 1;
  return undefined;
}

/** Takes a letter of a name that is typed. Letters and the space, which have a meaning elsewhere, act only within a name. */
function takesLetter({ key, timeStamp }: KeyboardEvent, typed: { text: string; at: number }): boolean {
  const isSame = timeStamp - typed.at < typeAheadMs && typed.text !== "";
  if (key.length !== 1 || !/[\p{L}\p{N}._ -]/u.test(key)) return false;
  if (!isSame && /[negc ]/.test(key)) return false;
  typed.text = isSame ? typed.text + key : key;
  typed.at = timeStamp;
  return true;
}

/** Returns the next row from here on, or from the beginning, whose name begins with a text. */
function searchFrom(start: number, text: string, root: Branch, pages: TreePages): number | undefined {
  for (let i = 0; i < Math.min(root.rowCount, searchedRows); i++) {
    const row = (start + i) % root.rowCount;
    if (pages.groupAt(placeAt(root, row))?.name.toLowerCase().startsWith(text.toLowerCase())) return row;
  }
  return undefined;
}

function nameOf(uid: string, root: Branch, tree: TreeState, pages: TreePages): string | undefined {
  const index = tree.indexOf(uid);
  const branch = branchOf(root, parentOf(uid)) ?? root;
  return index === undefined ? undefined : pages.groupAt({ branch, index })?.name;
}
