// Says which of many groups are in view, and moves to a name.
import { useEffect, useRef, useState } from "react";
import { TextField } from "../../shell/fields.tsx";
import { useDelayed } from "../../shell/parts.tsx";
import type { RowRange } from "../../shell/row-window.ts";
import { useTexts } from "../../texts/texts.ts";
import { type Branch, placeAt } from "./branches.ts";
import styles from "./jump-bar.module.css";
import { pageSize } from "./tree-state.ts";

/** How long the bar waits for another letter, in milliseconds. */
const pauseMs = 200;

/** Shown while the children of a group that has more than a page of them are in view. */
export function JumpBar({
  root,
  view,
  current,
  nameOf,
  onJump,
}: {
  readonly root: Branch;
  readonly view: RowRange;
  /** The row where the keyboard is, or to which the last jump led. */
  readonly current: number | undefined;
  readonly nameOf: (uid: string) => string | undefined;
  readonly onJump: (parent: string, name: string, isFocusWanted: boolean) => void;
}) {
  const { t } = useTexts();
  const range = rangeIn(root, view, current);
  const uid = range?.uid ?? "";
  const known = useRef(new Map<string, string>());
  const name = nameOf(uid);
  if (name !== undefined) known.current.set(uid, name);
  const [typed, setTyped] = useState("");
  const wanted = useDelayed(typed.trim(), pauseMs);
  const jump = useRef(() => {});
  jump.current = () => {
    if (wanted !== "" && uid !== "") onJump(uid, wanted, false);
  };
  // Once for each text, also if the rows move meanwhile.
  useEffect(() => jump.current(), [wanted]);
  if (!range) return null;
  const label = t("groups.jump", { name: known.current.get(uid) ?? "…" });
  return (
    <form
      className={styles.bar}
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== "") onJump(uid, typed.trim(), true);
      }}
    >
      <span className={styles.range}>
        <bdi>{known.current.get(uid) ?? "…"}</bdi> {t("groups.range", range)}
      </span>
      <TextField
        size="xs"
        aria-label={label}
        placeholder={t("groups.jumpPlaceholder")}
        value={typed}
        maxLength={512}
        onChange={setTyped}
      />
    </form>
  );
}

/**
 * Returns a group with more than a page of children and which of them are in view: the group where the keyboard is, or the one with most of
 * the rows in view.
 */
function rangeIn(root: Branch, { from, to }: RowRange, current: number | undefined) {
  const shown = new Map<Branch, number[]>();
  for (let row = from; row < to; row++) {
    const { branch, index } = placeAt(root, row);
    if (branch.uid !== "" && (branch.total ?? 0) > pageSize) shown.set(branch, [...(shown.get(branch) ?? []), index]);
  }
  const here = current !== undefined && current >= from && current < to ? placeAt(root, current).branch : undefined;
  const most = [...shown.keys()].sort((a, b) => shown.get(b)!.length - shown.get(a)!.length)[0];
  const branch = here && shown.has(here) ? here : most;
  const indexes = branch && shown.get(branch);
  if (!branch || !indexes) return undefined;
  return { uid: branch.uid, from: indexes[0]! + 1, to: indexes.at(-1)! + 1, total: branch.total ?? 0 };
}
