// The tree, with the keys of the ARIA pattern (https://www.w3.org/WAI/ARIA/apg/patterns/treeview/).
import { Button } from "@mantine/core";
import { type CSSProperties, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { parentOf } from "../../api/uids.ts";
import { useTexts } from "../../texts/texts.ts";
import { pageSize, type Row, type TreeState } from "./tree-state.ts";

type GroupRow = Extract<Row, { kind: "group" }>;

/** How long two letters of a name may be apart when one types ahead, in milliseconds. */
const typeAheadMs = 700;

/** Shows the tree. One row is in the tab order; the arrows move to the others. */
export function Tree({
  label,
  tree,
  selected,
  onSelect,
}: {
  readonly label: string;
  readonly tree: TreeState;
  readonly selected: string;
  readonly onSelect: (uid: string) => void;
}) {
  const groups = tree.rows.filter((row): row is GroupRow => row.kind === "group");
  const [current, setCurrent] = useState("");
  const inTabOrder = [current, selected, groups[0]?.group.uid].find((uid) =>
    groups.some(({ group }) => group.uid === uid),
  );
  const place = useRef<HTMLDivElement>(null);
  const typed = useRef({ text: "", at: 0 });

  const moveTo = (uid: string | undefined) => {
    if (uid === undefined) return;
    setCurrent(uid);
    place.current?.querySelector<HTMLElement>(`[data-uid="${uid}"]`)?.focus();
  };
  const onKeyDown = (event: KeyboardEvent, row: GroupRow) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== event.currentTarget) return;
    const next = targetOf(event.key, row, groups);
    if (next !== undefined) moveTo(next);
    else if (event.key === "ArrowRight" && !row.isOpen) tree.open(row.group.uid, true);
    else if (event.key === "ArrowLeft" && row.isOpen) tree.open(row.group.uid, false);
    else if (event.key === "Enter" || event.key === " ") onSelect(row.group.uid);
    else if (!typeAhead(event, typed.current, groups, row, moveTo)) return;
    event.preventDefault();
  };
  return (
    <div className="tree" role="tree" aria-label={label} ref={place}>
      {tree.rows.map((row) => {
        if (row.kind === "range") return <Range key={`range ${row.parent}`} row={row} onTurn={tree.turn} />;
        if (row.kind === "loading") return <LoadingRow key={`loading ${row.parent}`} level={row.level} />;
        const { uid } = row.group;
        return (
          <Branch
            key={uid}
            row={row}
            isSelected={uid === selected}
            isInTabOrder={uid === inTabOrder}
            onTwist={() => tree.open(uid, !row.isOpen)}
            onSelect={() => {
              setCurrent(uid);
              onSelect(uid);
            }}
            onKeyDown={(event) => onKeyDown(event, row)}
          />
        );
      })}
    </div>
  );
}

/** Returns the uid that a key moves to; undefined for a key that does not move. */
function targetOf(key: string, row: GroupRow, groups: readonly GroupRow[]): string | undefined {
  const index = groups.indexOf(row);
  const at = (position: number) => groups[Math.min(Math.max(position, 0), groups.length - 1)]?.group.uid;
  if (key === "ArrowDown") return at(index + 1);
  if (key === "ArrowUp") return at(index - 1);
  if (key === "Home") return at(0);
  if (key === "End") return at(groups.length - 1);
  if (key === "PageDown") return at(index + 10);
  if (key === "PageUp") return at(index - 10);
  if (key === "ArrowRight" && row.isOpen && (groups[index + 1]?.level ?? 0) > row.level) return at(index + 1);
  if (key === "ArrowLeft" && !row.isOpen)
    return groups.find(({ group }) => group.uid === parentOf(row.group.uid))?.group.uid;
  return undefined;
}

/** Moves to the next group whose name begins with what was typed. Letters with a meaning elsewhere act only within a word. */
function typeAhead(
  { key, timeStamp }: KeyboardEvent,
  typed: { text: string; at: number },
  groups: readonly GroupRow[],
  row: GroupRow,
  moveTo: (uid: string | undefined) => void,
): boolean {
  if (key.length !== 1 || !/[\p{L}\p{N}._-]/u.test(key)) return false;
  const isSame = timeStamp - typed.at < typeAheadMs && typed.text !== "";
  if (!isSame && /[neg]/.test(key)) return false;
  typed.text = isSame ? typed.text + key : key;
  typed.at = timeStamp;
  const start = groups.indexOf(row) + (isSame ? 0 : 1);
  const ordered = [...groups.slice(start), ...groups.slice(0, start)];
  moveTo(ordered.find(({ group }) => group.name.toLowerCase().startsWith(typed.text.toLowerCase()))?.group.uid);
  return true;
}

function Branch({
  row,
  isSelected,
  isInTabOrder,
  onTwist,
  onSelect,
  onKeyDown,
}: {
  readonly row: GroupRow;
  readonly isSelected: boolean;
  readonly isInTabOrder: boolean;
  readonly onTwist: () => void;
  readonly onSelect: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}) {
  const { t } = useTexts();
  const { group, level, position, size, isOpen, count } = row;
  const branch = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isSelected) branch.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  return (
    <div
      ref={branch}
      className="branch"
      style={{ "--level": level } as CSSProperties}
      role="treeitem"
      data-uid={group.uid}
      aria-level={level + 1}
      {...(position > 0 && { "aria-posinset": position })}
      aria-setsize={size}
      aria-expanded={isOpen}
      aria-selected={isSelected}
      tabIndex={isInTabOrder ? 0 : -1}
      onKeyDown={onKeyDown}
      onClick={onSelect}
    >
      <span
        className="twist"
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          onTwist();
        }}
      >
        <svg viewBox="0 0 12 12" aria-hidden="true">
          <path d="M4 2l5 4-5 4z" />
        </svg>
      </span>
      <bdi className="name">{group.name}</bdi>
      {group.verified && <span className="good count">✓ {t("groups.verified")}</span>}
      <bdi className="note">{group.description}</bdi>
      {count !== undefined && <span className="count">{t("groups.children", { count })}</span>}
    </div>
  );
}

function LoadingRow({ level }: { readonly level: number }) {
  return (
    <div className="branch" style={{ "--level": level } as CSSProperties} role="none">
      <div className="bone grow" />
    </div>
  );
}

/** Which of many children are shown, and the way to the others. */
function Range({ row, onTurn }: { readonly row: Extract<Row, { kind: "range" }>; readonly onTurn: TreeState["turn"] }) {
  const { t } = useTexts();
  const { parent, level, skip, total } = row;
  const to = Math.min(skip + pageSize, total);
  return (
    <div className="branch" style={{ "--level": level } as CSSProperties} role="none">
      <Button
        variant="default"
        size="compact-sm"
        disabled={skip === 0}
        aria-label={t("groups.previous")}
        onClick={() => onTurn(parent, skip - pageSize)}
      >
        ‹
      </Button>
      <span>{t("groups.range", { from: skip + 1, to, total })}</span>
      <Button
        variant="default"
        size="compact-sm"
        disabled={to >= total}
        aria-label={t("groups.next")}
        onClick={() => onTurn(parent, skip + pageSize)}
      >
        ›
      </Button>
    </div>
  );
}
