// The form of sentences about changes of a kind, as its declaration says.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

/** A change, as the audit log shows it. */
export interface ShownChange {
  readonly actorUid: string;
  readonly resourceUid: string;
  readonly method: string;
  readonly before?: JsonObject;
  readonly after?: JsonObject;
}

/** A part of a sentence: the uid of a resource or person, with its name at that time if the change has it; or a mere text. */
export interface PartSource {
  readonly uid?: string;
  readonly name?: string;
}

/** The form of the sentences of a kind. Parts come from what the audit log shows: a sentence says nothing that a change hides. */
export interface SentenceForm {
  /** The verbs of its changes: each has its own text. */
  readonly verbs: readonly string[];
  verbOf(change: ShownChange): string;
  /** Further parts besides `actor`, `resource` and `group`, or others in place of these; by name. */
  readonly parts: Readonly<Record<string, (shown: JsonObject, change: ShownChange) => PartSource>>;
}

/** The form of kinds that say nothing else: a resource is created, updated or deleted. */
export const resourceForm: SentenceForm = {
  verbs: ["created", "updated", "deleted"],
  verbOf: ({ before, after }) => (after === undefined ? "deleted" : before === undefined ? "created" : "updated"),
  parts: {},
};

/** Returns the form of resources whose sentences have further parts. */
export function withParts(parts: SentenceForm["parts"]): SentenceForm {
  return { ...resourceForm, parts };
}

/** Returns the form of entries that are written once, about one event. */
export function eventForm(verb: string, parts: SentenceForm["parts"] = {}): SentenceForm {
  return { verbs: [verb], verbOf: () => verb, parts };
}

/** Returns a member as text; empty for any other value. */
export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Returns the function that makes a part of the uid in a member. */
export function uidIn(member: string): SentenceForm["parts"][string] {
  return (shown) => ({ uid: textOf(shown[member]) });
}
