// `-o name`: prints what other commands accept as an argument.
import type { JsonObject } from "@bufbuild/protobuf";
import { isUid } from "../../model/uid.ts";
import { isPlainWord, printable } from "../escape.ts";
import { cellText, type View } from "./view.ts";

/**
 * Returns one line per row: its name, or its id if the name does not identify it. That is a name which is empty, which
 * another row has too, which reads as a uid or a flag, or which a shell or xargs would take apart: names come from others.
 */
export function nameLines(view: View, rows: readonly JsonObject[]): string {
  const names = rows.map((row) => view.nameOf?.(row) ?? cellText(row, "name"));
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  const lines = rows.map((row, i) => {
    const name = names[i]!;
    const isUsable = counts.get(name) === 1 && isPlainWord(name) && !isUid(name);
    return isUsable ? name : printable(cellText(row, view.id ?? "uid"));
  });
  return lines.map((line) => `${line}\n`).join("");
}
