// A row of the tree.
import { type CSSProperties, type KeyboardEvent, memo } from "react";
import type { Group } from "../../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { Pill } from "../../shell/look.tsx";
import { useTexts } from "../../texts/texts.ts";
import styles from "./tree-row.module.css";

interface TreeRowProps {
  /** Undefined while it is read: the keyboard may be there already. */
  readonly group: Group | undefined;
  /** How deep it is, from 0. */
  readonly level: number;
  /** Where it is, in pixels. */
  readonly top: number;
  /** The place among its siblings, from 1. */
  readonly position: number;
  readonly size: number;
  readonly isOpen: boolean;
  readonly isSelected: boolean;
  /** Whether the keyboard or a search is there. */
  readonly isCurrent: boolean;
  readonly isInTabOrder: boolean;
  /** How many groups it contains; undefined until it is known. */
  readonly count: number | undefined;
  readonly onTwist: () => void;
  readonly onSelect: () => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

/** A group, or its place. One element for both: what has the focus must not go while it is read. */
export function TreeRow(props: TreeRowProps) {
  const { t } = useTexts();
  const { group, level, top, isOpen, count } = props;
  // APG: a node without children has no aria-expanded.
  const isLeaf = !group || (count === 0 && !isOpen);
  return (
    <div
      className={props.isCurrent ? `${styles.branch} ${styles.current}` : styles.branch}
      style={{ "--level": level, transform: `translateY(${top}px)` } as CSSProperties}
      role="treeitem"
      data-uid={group?.uid}
      aria-level={level + 1}
      aria-posinset={props.position}
      aria-setsize={props.size}
      {...(!isLeaf && { "aria-expanded": isOpen })}
      {...(!group && { "aria-label": t("groups.loading") })}
      aria-selected={props.isSelected}
      tabIndex={props.isInTabOrder ? 0 : -1}
      onKeyDown={props.onKeyDown}
      onClick={props.onSelect}
    >
      <span
        className={styles.twist}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation();
          if (!isLeaf) props.onTwist();
        }}
      >
        {!isLeaf && (
          <svg viewBox="0 0 12 12" aria-hidden="true">
            <path d="M4 2l5 4-5 4z" />
          </svg>
        )}
      </span>
      {group ? <Content group={group} count={count} /> : <div className="bone grow" />}
    </div>
  );
}

/** The name and the state of a group. It stays while the tree scrolls. */
const Content = memo(({ group, count }: { readonly group: Group; readonly count: number | undefined }) => {
  const { t } = useTexts();
  return (
    <>
      <bdi className={styles.name}>{group.name}</bdi>
      {group.verified && <Pill tone="good">{t("groups.verified")}</Pill>}
      <bdi className={styles.note}>{group.description}</bdi>
      {count !== undefined && <span className={styles.count}>{t("groups.children", { count })}</span>}
    </>
  );
});
