// Lists of objects whose known members become messages.
import { create } from "@bufbuild/protobuf";
import { type RecordSeverity, RecordSeveritySchema } from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Members } from "../document.ts";
import { severityJson } from "./json.ts";

/** The items read from a list. */
export interface Items<T> {
  readonly items: T[];
  /** The list as it is, where an item has members that the messages do not hold. */
  readonly whole: JsonObject[] | undefined;
}

/** Reads a list. `read` reports an item that it drops, and returns undefined; `toJson` is the way back. */
export function readItems<T>(
  owner: Members,
  name: string,
  read: (item: Members) => T | undefined,
  toJson: (item: T) => JsonObject,
): Items<T> {
  const items: T[] = [];
  const whole: JsonObject[] = [];
  let hasMore = false;
  for (const item of owner.objects(name)) {
    const message = read(item);
    if (message === undefined) continue;
    const more = item.rest();
    hasMore ||= Object.keys(more).length > 0;
    items.push(message);
    whole.push({ ...toJson(message), ...more });
  }
  return { items, whole: hasMore ? whole : undefined };
}

/** Members whose values are objects without a schema in OSV. */
export function objectsOf(owner: Members, names: readonly string[]): JsonObject {
  const kept = names.map((name) => [name, owner.object(name) && owner.json(name)] as const);
  return Object.fromEntries(kept.filter(([, value]) => value !== undefined));
}

/** Reads the severities of a record or a package. */
export function readSeverities(owner: Members): Items<RecordSeverity> {
  return readItems(owner, "severity", readSeverity, severityJson);
}

function readSeverity(item: Members): RecordSeverity | undefined {
  const [type, score] = [item.text("type"), item.text("score")];
  if (type === "" || score === "") item.drop("", "must have a type and a score");
  return type === "" || score === "" ? undefined : create(RecordSeveritySchema, { type, score });
}
