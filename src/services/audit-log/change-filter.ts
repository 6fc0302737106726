// The filter of a list of changes.
import {
  type ListChangesRequest,
  ListChangesRequestSchema,
  Outcome,
  WatchChangesRequestSchema,
} from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import type { FieldViolation } from "../../aip/errors.ts";
import { fromTimestamp } from "../../aip/timestamps.ts";
import { isWithin, rootOf } from "../../model/uid.ts";
import { type MessageRules, plainTextRule, type TextRule, uidRule } from "../../pipeline/text-rules.ts";
import type { readHistory } from "../../storage/change-log/history.ts";
import { haveWords, queryWords, wordsOf } from "../../storage/names/words.ts";
import { isMethod, shownMethod } from "./shown-method.ts";

/** The part of a request that selects changes. */
export type FilterRequest = Pick<
  ListChangesRequest,
  | "parent"
  | "resourceUid"
  | "method"
  | "outcome"
  | "actorUid"
  | "actorUids"
  | "kind"
  | "kinds"
  | "excludedKinds"
  | "query"
> &
  Partial<Pick<ListChangesRequest, "startTime" | "endTime">>;

/** How many actors, and how many kinds, a request names. */
const maxNamed = 20;

const kindRule: TextRule = { ...plainTextRule, maxLength: 64 };

/** The fields that the requests of lists and of streams have in common. */
const common: Omit<MessageRules, "schema"> = {
  fields: {
    actor_uids: uidRule,
    kinds: kindRule,
    excluded_kinds: kindRule,
    query: {
      ...plainTextRule,
      test: (text) => plainTextRule.test(text) && queryWords(text).length > 0,
      description: "must have a letter or digit",
      maxLength: 256,
    },
  },
  bounds: Object.fromEntries(["actor_uids", "kinds", "excluded_kinds"].map((field) => [field, { maxItems: maxNamed }])),
};

/** The rules of the request of a list. */
export const changeRules: MessageRules = { schema: ListChangesRequestSchema, ...common };

/** The rules of the request of a stream. */
export const watchRules: MessageRules = { schema: WatchChangesRequestSchema, ...common };

/** Returns the violations of a request that names more actors or kinds than it may, or an empty one. */
export function checkNamed({ actorUids, kinds, excludedKinds }: FilterRequest): FieldViolation[] {
  return Object.entries({ actor_uids: actorUids, kinds, excluded_kinds: excludedKinds }).flatMap(([field, items]) => {
    if (items.length > maxNamed) return [{ field, description: `must not have more than ${maxNamed} items` }];
    return items.includes("") ? [{ field, description: "must not have an empty item" }] : [];
  });
}

/** A change without its rows. */
export type Head = Awaited<ReturnType<typeof readHistory>>[number];

/** Decides which changes of an organization a request asks for. */
export interface ChangeFilter {
  /** Whether it excludes none. */
  readonly isEmpty: boolean;
  /** Whether it needs what is in the rows of changes. */
  readonly withContent: boolean;
  matches(head: Head): boolean;
}

/** Makes the filter of a request. */
export function newChangeFilter(request: FilterRequest): ChangeFilter {
  const { parent, resourceUid, method, startTime, endTime, outcome } = request;
  const actors = namedBy(request.actorUid, request.actorUids);
  const kinds = namedBy(request.kind, request.kinds);
  const excluded = new Set(request.excludedKinds);
  const words = queryWords(request.query);
  const start = startTime && fromTimestamp(startTime);
  const end = endTime && fromTimestamp(endTime);
  const texts = [resourceUid, method, ...words];
  const isAboutAll = parent === rootOf(parent) && !actors && !kinds && excluded.size === 0 && outcome === 0;
  return {
    isEmpty: isAboutAll && texts.join("") === "" && end === undefined,
    withContent: words.length > 0 || outcome !== Outcome.UNSPECIFIED,
    matches: (head) =>
      isWithin(head.groupUid, parent) &&
      (actors?.has(head.actor) ?? true) &&
      (kinds?.has(head.kind) ?? true) &&
      !excluded.has(head.kind) &&
      (resourceUid === "" || isWithin(head.uid, resourceUid)) &&
      (method === "" || isMethod(shownMethod(head.method, head.groupUid), method)) &&
      (start === undefined || head.time >= start) &&
      (end === undefined || head.time < end) &&
      (words.length === 0 || haveWords(wordsOf(head.name), words)) &&
      isOfOutcome(head, outcome),
  };
}

/** Returns what either field names; undefined if neither does. */
function namedBy(one: string, several: readonly string[]): ReadonlySet<string> | undefined {
  const named = new Set([one, ...several].filter((each) => each !== ""));
  return named.size === 0 ? undefined : named;
}

function isOfOutcome({ outcome }: Pick<Head, "outcome">, wanted: Outcome): boolean {
  if (wanted === Outcome.UNSPECIFIED) return true;
  // Changes of resources have no outcome: they were made. The entry of what was left out says neither.
  return wanted === Outcome.DENIED ? outcome === "denied" : outcome === "allowed" || outcome === "";
}
