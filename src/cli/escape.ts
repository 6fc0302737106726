// Escapes untrusted text for a terminal: characters that a terminal interprets, or that hide or reorder others, become
// visible.

/**
 * Control, format and bidirectional characters, line separators, lone surrogates, and other characters without a glyph.
 * Variation selectors stay, because emoji need them.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}[\p{Default_Ignorable_Code_Point}--[\uFE00-\uFE0F]]]/gv;

/** Reports whether a shell and xargs read a text as one word, unchanged, and programs do not read it as a flag. */
export function isPlainWord(text: string): boolean {
  return /^[\p{L}\p{N}\p{M}_@%+:,.\/=][\p{L}\p{N}\p{M}_@%+:,.\/=\-]*$/v.test(text) && !hasUnsafe(text);
}

/** Returns the text on one line: line breaks and tabs become spaces, other unsafe characters `\u{9b}`. */
export function printable(text: string): string {
  return text.replace(unsafe, (char) => (char === "\n" || char === "\t" ? " " : escaped(char)));
}

/** Like `printable`, but keeps line breaks. */
export function printableLines(text: string): string {
  return text.replace(unsafe, (char) => (char === "\n" ? char : char === "\t" ? " " : escaped(char)));
}

/** Returns the text of a CSV cell, which may contain line breaks and tabs. */
export function escapeCell(text: string): string {
  return text.replace(unsafe, (char) => (/[\n\t]/.test(char) ? char : escaped(char)));
}

/** Returns a value as JSON. Unsafe characters become `\u009b` (RFC 8259 §7), so parsers read the same value. */
export function jsonText(value: unknown, indent?: number): string {
  return escapeJson(JSON.stringify(value, null, indent));
}

/** Like `jsonText`, for text that is JSON already, or part of it. */
export function escapeJson(text: string): string {
  return text.replace(unsafe, (char) =>
    char === "\n" ? char : Array.from({ length: char.length }, (_, i) => escapedUnit(char.charCodeAt(i))).join(""),
  );
}

/**
 * Texts that readers of YAML 1.1 take for another value: null, merge key, value key, boolean, number, time
 * (https://yaml.org/type/). YAML 1.2 takes most of them for texts.
 */
const notTextInYaml11 =
  /^(?:[~=]|<<|null|y|n|yes|no|on|off|true|false|[-+]?\.?(?:inf|nan)|[-+]?0[xob][\da-f_]*|[-+]?[\d._][\d._,:]*(?:e[-+]?\d*)?|[-+]?e[-+]?\d+|\d{4}-\d\d?-\d\d?(?:[t\s].*)?)$/is;

/** A text that begins with a blank line. As a block scalar, the writer does not say how far it is indented. */
const beginsBlank = /^ *\n/;

/**
 * Returns a value as YAML. Texts with unsafe characters are double-quoted, with escapes such as `\U0000009b` (YAML
 * 1.2.2 §5.7), and so are those that YAML 1.1 takes for other values. `commentOf` returns a comment for a text, which it follows on its line.
 */
export async function yamlText(value: unknown, commentOf?: (text: string) => string | undefined): Promise<string> {
  const { Document, Scalar, visit } = await import("yaml");
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value !== "string") return;
      if ([notTextInYaml11, beginsBlank].some((each) => each.test(node.value as string)) || hasUnsafe(node.value))
        node.type = Scalar.QUOTE_DOUBLE;
      const comment = commentOf?.(node.value);
      if (comment) node.comment = ` ${printable(comment)}`;
    },
  });
  return document.toString().replace(unsafe, (char) => (/[\n\t]/.test(char) ? char : escapedPoint(char)));
}

/** Reports whether a text contains unsafe characters other than line breaks and tabs. */
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
