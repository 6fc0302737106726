// Writes messages as JSON text. The text of a frozen message is memoized, as is that of a frozen list in the first field of a message: list
// responses have their page there.
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { memoizeFrozen } from "../../base/memoize-frozen.ts";

/** Writes a message of one type as text. */
export type TextWriter = (message: Message) => string;

/** Converts a message to a value for JSON.stringify. */
type ToJson = (schema: DescMessage, message: Message) => unknown;

/**
 * Makes writers, one per message type on first use, of the JSON that `toJson` returns. Each text ends with `end`.
 */
export function newTextWriters(toJson: ToJson, end = ""): (schema: DescMessage) => TextWriter {
  const made = new Map<DescMessage, TextWriter>();
  return (schema) => {
    const known = made.get(schema);
    if (known) return known;
    const writer = newTextWriter(schema, toJson, end);
    made.set(schema, writer);
    return writer;
  };
}

function newTextWriter(schema: DescMessage, toJson: ToJson, end: string): TextWriter {
  const write: TextWriter = (message) => JSON.stringify(toJson(schema, message)) + end;
  const [first] = schema.fields.toSorted((a, b) => a.number - b.number);
  // A list of a well-known type does not contain plain messages.
  const isPaged =
    first?.fieldKind === "list" && first.message && !first.message.typeName.startsWith("google.protobuf.");
  return memoizeFrozen(isPaged ? pagedWriter(first.localName, first.jsonName, first.message, toJson, write) : write);
}

function pagedWriter(
  localName: string,
  jsonName: string,
  itemSchema: DescMessage,
  toJson: ToJson,
  write: TextWriter,
): TextWriter {
  const opening = `{${JSON.stringify(jsonName)}:[`;
  const textOf = memoizeFrozen((items: readonly Message[]) =>
    items.map((item) => JSON.stringify(toJson(itemSchema, item))).join(),
  );
  return (message) => {
    const items = (message as unknown as Readonly<Record<string, readonly Message[]>>)[localName]!;
    if (items.length === 0 || !Object.isFrozen(items)) return write(message);
    const rest = write({ ...message, [localName]: [] } as Message);
    // `toJson` decides whether an empty list is written.
    const isWritten = rest.startsWith(`${opening}]`);
    const others = rest.startsWith("{}") ? rest.slice(1) : `,${rest.slice(1)}`;
    return opening + textOf(items) + (isWritten ? rest.slice(opening.length) : `]${others}`);
  };
}
