// Reads message fields by descriptor without the cost of reflection: protobuf-es stores a field under its local name,
// and the set member of a oneof under the name of the oneof.
import type { DescField, Message } from "@bufbuild/protobuf";

interface OneofValue {
  readonly case: string | undefined;
  readonly value?: unknown;
}

/**
 * Returns the value of a field, or undefined for an unset message, an unset optional field, and a oneof member that is
 * not set.
 */
export function readField(message: Message, field: DescField): unknown {
  const members = message as unknown as Readonly<Record<string, unknown>>;
  if (!field.oneof) return members[field.localName];
  const chosen = members[field.oneof.localName] as OneofValue;
  return chosen.case === field.localName ? chosen.value : undefined;
}
