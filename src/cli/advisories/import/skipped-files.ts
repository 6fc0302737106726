// The files of directories and archives that an import does not read, counted by the end of their names.

/** Ends of names that are counted one by one. */
const countedExtensions = 100;

/** Ends of names in a line. */
const shownExtensions = 5;

/** Counts files that are not read. */
export class SkippedFiles {
  readonly #counts = new Map<string, number>();

  /** Counts a file by the end of its name, such as `.md`. */
  add(extension: string): void {
    const known = extension || "without an extension";
    const name = this.#counts.has(known) || this.#counts.size < countedExtensions ? known : "others";
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  get count(): number {
    return [...this.#counts.values()].reduce((sum, each) => sum + each, 0);
  }

  /** Returns the counts, the most frequent end first. */
  entries(): [extension: string, count: number][] {
    return [...this.#counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  }

  /** Returns a line such as `3 files skipped (2 .md, 1 .txt)`; none if no file was skipped. */
  lines(): string[] {
    if (this.count === 0) return [];
    const [shown, others] = [this.entries().slice(0, shownExtensions), this.entries().slice(shownExtensions)];
    const parts = shown.map(([extension, count]) => `${count} ${extension}`);
    if (others.length > 0) parts.push(`${others.reduce((sum, [, count]) => sum + count, 0)} others`);
    return [`${this.count} ${this.count === 1 ? "file" : "files"} skipped (${parts.join(", ")})`];
  }
}

/** The message for an import that read no file but skipped some. */
export const noDocuments =
  "No file was read: advisories are in files named .json, .ndjson, .jsonl, .yaml or .yml, also with .gz behind, and in .zip.";
