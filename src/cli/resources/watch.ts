// `list --watch`: prints the list, then each change. It polls the list and compares, because fewer callers may read the
// change log than the list.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@bufbuild/protobuf";
import { isTransient } from "../client/retry.ts";
import type { Session } from "../client/session.ts";
import { jsonText, printable, yamlText } from "../escape.ts";
import { wrongUsage } from "../failure.ts";
import type { Output } from "../output/output.ts";
import type { Column, View } from "../output/view.ts";
import { cellText } from "../output/view.ts";
import { note } from "../shell.ts";
import { textAt } from "./json.ts";
import { type Listed, readList } from "./listing.ts";
import { withNames } from "./path-names.ts";
import type { Options, Resource } from "./resource.ts";

/** The minimum polling interval, in milliseconds. */
const pollMs = 2000;
/** A reading takes at most a tenth of the time, so large lists are polled less often. */
const restFactor = 9;
/** The maximum delay before a server that does not respond is asked again, in milliseconds. */
const maxRestMs = 30_000;
/** The lifetime of a session, in milliseconds: the next one finds a token that another process renewed. */
const sessionMs = 60_000;

/** The change of a resource since the list before. Resources of the first list count as added. */
type Event = "added" | "changed" | "deleted";

interface Seen {
  readonly text: string;
  readonly row: JsonObject;
}

/** Prints the list and its changes until the program is interrupted. */
export async function watchResources(
  open: () => Promise<Session>,
  resource: Resource,
  options: Options,
): Promise<never> {
  let seen: ReadonlyMap<string, Seen> | undefined;
  let write: Writer | undefined;
  for (;;) {
    using session = await open();
    checkFormat(session.output);
    const until = performance.now() + sessionMs;
    while (performance.now() < until) {
      const startedAt = performance.now();
      const listed = await readAgain(session, resource, options, seen !== undefined);
      if (listed) {
        write ??= openWriter(session, listed.view);
        const now = byUid(listed);
        await write(changesBetween(seen ?? new Map(), now), (view, rows) => withNames(session, resource, view, rows));
        seen = now;
      }
      await sleep(Math.min(maxRestMs, Math.max(pollMs, restFactor * (performance.now() - startedAt))));
    }
  }
}

function checkFormat({ format, hasQuery }: Output): void {
  if (format === "tree" || format === "none") throw wrongUsage(`--watch has no format ${format}`);
  if (hasQuery) throw wrongUsage("--watch and --query exclude each other");
}

/** Reads the list. Returns undefined while a server that has responded before does not. */
async function readAgain(session: Session, resource: Resource, options: Options, isAgain: boolean) {
  try {
    return await readList(session, resource, options);
  } catch (error) {
    if (!isAgain || !isTransient(error)) throw error;
    note(session.shell, `gatehouse: ${error.message}; trying again`);
    return undefined;
  }
}

function byUid({ view, rows }: Listed): Map<string, Seen> {
  return new Map(rows.map((row) => [textAt(row, view.id ?? "uid"), { text: JSON.stringify(row), row }]));
}

function changesBetween(before: ReadonlyMap<string, Seen>, now: ReadonlyMap<string, Seen>): JsonObject[] {
  const come = [...now].flatMap(([uid, { text, row }]) => {
    const known = before.get(uid);
    return known?.text === text ? [] : [toChange(known ? "changed" : "added", row)];
  });
  const gone = [...before].filter(([uid]) => !now.has(uid)).map(([, { row }]) => toChange("deleted", row));
  return [...come, ...gone];
}

function toChange(event: Event, object: JsonObject): JsonObject {
  return { event, object };
}

/** Returns the view with the names of rows. */
type Name = (view: View, rows: readonly JsonObject[]) => Promise<View>;

type Writer = (changes: readonly JsonObject[], name: Name) => Promise<void>;

/** Prints changes in the session's format: one JSON text per line, or one YAML document each. */
function openWriter({ shell: { stdout }, output }: Session, view: View): Writer {
  const print = openPrinter(output, view);
  return async (changes, name) => {
    // Backpressure: waits for a slow reader.
    if (changes.length > 0 && !stdout.write(await print(changes, name))) await once(stdout, "drain");
  };
}

type Printer = (changes: readonly JsonObject[], name: Name) => Promise<string>;

function openPrinter({ format, hasHeaders }: Output, view: View): Printer {
  if (format === "json") return async (changes) => changes.map((change) => `${jsonText(change)}\n`).join("");
  if (format === "yaml")
    return async (changes) =>
      (await Promise.all(changes.map((change) => yamlText(change)))).map((text) => `---\n${text}`).join("");
  const columns = withEvent(
    format === "wide" || format === "csv" ? view.columns : view.columns.filter(({ wide }) => !wide),
  );
  if (format === "id")
    return async (changes) =>
      changes.map(({ object }) => `${printable(cellText(object as JsonObject, view.id ?? "uid"))}\n`).join("");
  if (format === "name")
    return async (changes, name) => {
      const rows = changes.map(({ object }) => object as JsonObject);
      return (await import("../output/name-lines.ts")).nameLines(await name(view, rows), rows);
    };
  let isFirst = hasHeaders;
  const widths: number[] = [];
  return async (changes) => {
    const titles = isFirst;
    isFirst = false;
    if (format === "csv") return (await import("../output/csv.ts")).csvText(columns, changes, titles);
    return await (await import("../output/table.ts")).tableText(columns, changes, titles, widths);
  };
}

function withEvent(columns: readonly Column[]): Column[] {
  const ofObject = ({ value, ...column }: Column) => ({
    ...column,
    value: ({ object }: JsonObject) => cellText(object as JsonObject, value),
  });
  return [{ title: "event", value: "event" }, ...columns.map(ofObject)];
}
