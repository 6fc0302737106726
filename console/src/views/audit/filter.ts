// The filter of the audit log: words such as `kind:groups`, and what is wrong with them.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isUid } from "../../api/uids.ts";

/** The fields of ListChanges that a filter sets. */
export interface ChangeFilter {
  readonly actorUid?: string;
  readonly resourceUid?: string;
  readonly kind?: string;
  readonly method?: string;
  readonly startTime?: ReturnType<typeof timestampFromDate>;
  readonly endTime?: ReturnType<typeof timestampFromDate>;
}

/** A parsed filter. */
export interface ParsedFilter {
  readonly filter: ChangeFilter;
  /** The words that are not understood. */
  readonly unknown: readonly string[];
}

/** Parses a filter. A uid alone names a resource. */
export function parseFilter(text: string): ParsedFilter {
  const filter: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== "")) {
    const field = fieldOf(word);
    if (field) Object.assign(filter, field);
    else unknown.push(word);
  }
  return { filter: filter as ChangeFilter, unknown };
}

function fieldOf(word: string): ChangeFilter | undefined {
  const [, name = "", value = ""] = /^(\w+):(.+)$/.exec(word) ?? [];
  if (isUid(word)) return { resourceUid: word };
  if (name === "actor" && isUid(value)) return { actorUid: value };
  if (name === "resource" && isUid(value)) return { resourceUid: value };
  if (name === "kind") return { kind: value };
  if (name === "method") return { method: value };
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) return undefined;
  if (name === "after") return { startTime: timestampFromDate(time) };
  if (name === "before") return { endTime: timestampFromDate(time) };
  return undefined;
}

/** Returns a filter with another word in place of those of the same name. */
export function withWord(text: string, name: string, value: string): string {
  const others = text.split(/\s+/).filter((word) => word !== "" && !word.startsWith(`${name}:`));
  return [...others, `${name}:${value}`].join(" ");
}
