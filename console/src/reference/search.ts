// Search over names, paths and fields.
import type { Grpc } from "./documents.ts";

/** The results of a search. */
export interface Found {
  /** A service or a type. */
  readonly name: string;
  readonly method?: string;
  /** Where in it the words are: a path or a field. */
  readonly where: string;
}

/** The most results of a search that are shown. */
const maxFound = 50;

/** Returns methods, types and fields that contain all words, names first. */
export function search(grpc: Grpc, documents: readonly string[], text: string): readonly Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...parts: readonly string[]) => {
    const all = parts.join(" ").toLowerCase();
    return words.every((word) => all.includes(word));
  };
  const byName: Found[] = [];
  const byPart: Found[] = [];
  const types = new Set<string>();
  for (const [name, { document, methods }] of Object.entries(grpc.services)) {
    if (!documents.includes(document)) continue;
    for (const { name: method, input, output, routes } of methods) {
      collect(grpc, input, types);
      collect(grpc, output, types);
      const path = routes[0] ? `${routes[0].method} ${routes[0].path}` : "";
      if (has(name, method)) byName.push({ name, method, where: path });
      else if (has(name, method, path)) byPart.push({ name, method, where: path });
    }
  }
  for (const name of types) {
    const { fields = [], values = [] } = grpc.types[name]!;
    if (has(name)) byName.push({ name, where: "" });
    else
      for (const member of [...fields, ...values])
        if (has(name, member.name)) byPart.push({ name, where: member.name });
  }
  return [...byName, ...byPart].slice(0, maxFound);
}

/** Adds a type and those of its fields. */
function collect(grpc: Grpc, name: string, types: Set<string>): void {
  if (types.has(name)) return;
  types.add(name);
  for (const { message, enum: values } of grpc.types[name]?.fields ?? [])
    for (const one of [message, values]) if (one !== undefined) collect(grpc, one, types);
}
