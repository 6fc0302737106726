// Prints resources as the tree of their uids.
import type { JsonObject } from "@bufbuild/protobuf";
import { ancestorsOf } from "../../model/uid.ts";
import { printable } from "../escape.ts";
import { cellText, type View } from "./view.ts";

interface Node {
  readonly label: string;
  readonly children: Node[];
}

/** Returns one line per row, below its nearest ancestor in the list. */
export function treeText(view: View, rows: readonly JsonObject[]): string {
  const nodes = new Map<string, Node>();
  const roots: Node[] = [];
  // In byte order an ancestor comes first.
  const sorted = rows.map((row) => ({ row, uid: cellText(row, "uid") })).sort((a, b) => (a.uid < b.uid ? -1 : 1));
  for (const { row, uid } of sorted) {
    const node = { label: labelOf(view, row), children: [] };
    const above = ancestorsOf(uid).findLast((ancestor) => nodes.has(ancestor));
    (above === undefined ? roots : nodes.get(above)!.children).push(node);
    nodes.set(uid, node);
  }
  return byLabel(roots)
    .map((root) => `${root.label}\n${branches(root.children, "")}`)
    .join("");
}

function branches(nodes: readonly Node[], indent: string): string {
  return byLabel(nodes)
    .map(({ label, children }, i) => {
      const isLast = i === nodes.length - 1;
      return `${indent}${isLast ? "└─ " : "├─ "}${label}\n${branches(children, indent + (isLast ? "   " : "│  "))}`;
    })
    .join("");
}

function byLabel(nodes: readonly Node[]): Node[] {
  return nodes.toSorted((a, b) => a.label.localeCompare(b.label, "en"));
}

/** Returns the first non-empty columns and the uid. */
function labelOf({ columns }: View, row: JsonObject): string {
  const texts = columns
    .filter(({ value, wide }) => value !== "uid" && !wide)
    .map(({ value }) => printable(cellText(row, value)))
    .filter((text) => text !== "");
  return `${texts[0] ?? ""} (${printable(cellText(row, "uid"))})`;
}
