// Reading the fields of a message by descriptor, without the cost of reflection: protobuf-es keeps a field under its local
// name, and the set member of a oneof under that of the oneof.
import type { DescField, Message } from "@bufbuild/protobuf";

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/** The value of a field; undefined for an unset message, an unset optional field, and a oneof member that is not the set one. */
export function readField(message: Message, field: DescField): unknown {
  const members = message as unknown as Readonly<Record<string, unknown>>;
  if (!field.oneof) return members[field.localName];
  const chosen = members[field.oneof.localName] as OneofValue;
  return chosen.case === field.localName ? chosen.value : undefined;
}
