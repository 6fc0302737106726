// Shows a plan to people: one line per change, with the fields of an update below it.
import { styleText } from "node:util";
import type { ApplyResourcesResponse, PlannedChange } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { PlannedAction, SpecKindSchema } from "../../../gen/gatehouse/apply/v1/apply_pb.ts";
import { printable } from "../escape.ts";

/** How many changes are shown. */
const maxShown = 1000;

type Color = "green" | "yellow" | "red" | "dim";

interface Style {
  readonly sign: string;
  readonly color: Color;
}

const styles: Readonly<Partial<Record<PlannedAction, Style>>> = {
  [PlannedAction.CREATE]: { sign: "+", color: "green" },
  [PlannedAction.UPDATE]: { sign: "~", color: "yellow" },
  [PlannedAction.DELETE]: { sign: "-", color: "red" },
  [PlannedAction.KEEP]: { sign: "=", color: "dim" },
};

/** Returns the lines of a plan. Colors are for terminals, and left out if NO_COLOR is set. */
export function* planLines(
  { changes }: Pick<ApplyResourcesResponse, "changes">,
  stream: NodeJS.WriteStream,
): Generator<string> {
  for (const change of changes.slice(0, maxShown)) {
    const { sign, color } = styles[change.action] ?? { sign: "?", color: "dim" };
    yield styleText(color, `${sign} ${titleOf(change)}`, { stream });
    for (const { field, oldValue, newValue } of change.fields)
      yield printable(`      ${field}: ${oldValue || "unset"} → ${newValue || "unset"}`);
  }
  if (changes.length > maxShown) yield `… and ${changes.length - maxShown} more`;
}

function titleOf({ kind, name, reason }: PlannedChange): string {
  const noun = (SpecKindSchema.value[kind]?.localName ?? "").toLowerCase().replaceAll("_", " ");
  return printable(`${noun} ${name}${reason === "" ? "" : ` (kept: ${reason})`}`);
}

/** Returns how many resources are created, updated, deleted and unchanged. */
export function summaryOf({ changes, unchangedCount }: ApplyResourcesResponse, isDone: boolean): string {
  const count = (action: PlannedAction) => changes.filter((change) => change.action === action).length;
  const counts = [
    [count(PlannedAction.CREATE), isDone ? "created" : "to create"],
    [count(PlannedAction.UPDATE), isDone ? "updated" : "to update"],
    [count(PlannedAction.DELETE), isDone ? "deleted" : "to delete"],
    [unchangedCount, "unchanged"],
  ] as const;
  return `${isDone ? "Applied" : "Plan"}: ${counts.map(([number, what]) => `${number} ${what}`).join(", ")}`;
}

/** Whether a plan changes anything. */
export function hasChanges({ changes }: Pick<ApplyResourcesResponse, "changes">): boolean {
  return changes.some(({ action }) => action !== PlannedAction.KEEP);
}
