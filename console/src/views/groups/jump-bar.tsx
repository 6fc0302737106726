// Says which of many groups are in view, and moves to a name.
import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { useDelayed } from "../../shell/parts.tsx";
import type { RowRange } from "../../shell/row-window.ts";
import { useTexts } from "../../texts/texts.ts";
import { type Branch, placeAt } from "./branches.ts";
import { pageSize } from "./tree-state.ts";

/** How long the bar waits for another letter, in milliseconds. */
const pauseMs = 200;

/** Shown while the children of a group that has more than a page of them are in view. */
export function JumpBar({
  root,
  view,
  nameOf,
  onJump,
}: {
  readonly root: Branch;
  readonly view: RowRange;
  readonly nameOf: (uid: string) => string | undefined;
  readonly onJump: (parent: string, name: string, isFocusWanted: boolean) => void;
}) {
  const { t } = useTexts();
  const range = rangeIn(root, view);
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
      className="jump-bar"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== "") onJump(uid, typed.trim(), true);
      }}
    >
      <span className="range">
        <bdi>{known.current.get(uid) ?? "…"}</bdi> {t("groups.range", range)}
      </span>
      <TextInput
        size="xs"
        aria-label={label}
        placeholder={t("groups.jumpPlaceholder")}
        value={typed}
        maxLength={512}
        autoComplete="off"
        onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </form>
  );
}

/** Returns the group with more than a page of children that has most of the rows in view, and which of its children they are. */
function rangeIn(root: Branch, { from, to }: RowRange) {
  const shown = new Map<Branch, number[]>();
  for (let row = from; row < to; row++) {
    const { branch, index } = placeAt(root, row);
    if (branch.uid !== "" && (branch.total ?? 0) > pageSize) shown.set(branch, [...(shown.get(branch) ?? []), index]);
  }
  const [most] = [...shown].sort(([, a], [, b]) => b.length - a.length);
  if (!most) return undefined;
  const [{ uid, total = 0 }, indexes] = most;
  return { uid, from: indexes[0]! + 1, to: indexes.at(-1)! + 1, total };
}
