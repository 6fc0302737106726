// Text from elsewhere on its way to a terminal: characters that a terminal obeys, or that hide or reorder others, become visible.

/**
 * Control, format and bidirectional characters, line separators, lone surrogates, and whatever else has no glyph. Variation selectors
 * stay: emoji need them.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}[\p{Default_Ignorable_Code_Point}--[\uFE00-\uFE0F]]]/gv;

/** The text on one line: line breaks and tabs become spaces, other unsafe characters `\u{9b}`. */
export function printable(text: string): string {
  return text.replace(unsafe, (char) => (char === "\n" || char === "\t" ? " " : escaped(char)));
}

/** The same for text of several lines, which keeps its line breaks. */
export function printableLines(text: string): string {
  return text.replace(unsafe, (char) => (char === "\n" ? char : char === "\t" ? " " : escaped(char)));
}

/** The text of a CSV cell, which may have line breaks and tabs. */
export function escapeCell(text: string): string {
  return text.replace(unsafe, (char) => (/[\n\t]/.test(char) ? char : escaped(char)));
}

/** A value as JSON; unsafe characters become `\u009b` (RFC 8259 §7), so that a parser reads the same value. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent));
}

/** The same for a text that is JSON, or a part of one. */
export function escapeJson(text: string): string {
  return text.replace(unsafe, (char) =>
    char === "\n" ? char : Array.from({ length: char.length }, (_, i) => escapedUnit(char.charCodeAt(i))).join(""),
  );
}

/** A value as YAML; texts with unsafe characters are double-quoted, where `\U0000009b` stands for one (YAML 1.2.2 §5.7). */
export async function yamlText(value: unknown): Promise<string> {
  const { Document, Scalar, visit } = await import("yaml");
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === "string" && hasUnsafe(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return document.toString().replace(unsafe, (char) => (/[\n\t]/.test(char) ? char : escapedPoint(char)));
}

/** Whether a text has anything that is shown escaped; line breaks and tabs aside. */
export function hasUnsafe(text: string): boolean {
  return [...text.matchAll(unsafe)].some(([char]) => !/[\n\t]/.test(char));
}

function escaped(char: string): string {
  return `\\u{${char.codePointAt(0)!.toString(16)}}`;
}

function escapedUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

function escapedPoint(char: string): string {
  return `\\U${char.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
