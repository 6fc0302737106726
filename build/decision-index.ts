// Writes docs/decisions/README.md from the headings of the records and design pages: node build/decision-index.ts
import { globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The path of the index in the repository. */
export const indexPath = "docs/decisions/README.md";

const introduction = `# Decision records

A record explains a decision that had alternatives: its context, the decision, the alternatives, the consequences, and
what would change our mind. Write one only for a choice that surprises, in at most 400 words. How a feature works belongs
in a page of [docs/design](../design/architecture.md). A decision that a later one replaces is marked as superseded and
stays as it was; only its status line changes.

A new record takes the next number. Then run \`node build/decision-index.ts\`, which writes this page. The numbers of
former records lead to the design pages that have their content.
`;

interface Row {
  readonly number: string;
  readonly file: string;
  readonly title: string;
  readonly status: string;
}

/** Returns the text of the index: a row for each record, and one for each number whose content is in a design page. */
export function decisionIndex(): string {
  const rows = [
    ...globSync("docs/decisions/[0-9]*.md").map(recordRow),
    ...globSync("docs/design/*.md").flatMap(pageRows),
  ];
  const lines = rows
    .toSorted((a, b) => a.number.localeCompare(b.number))
    .map(({ number, file, title, status }) => `| [${number}](${file}) | ${title} | ${status} |`);
  return [introduction, "| record | decision | status |", "|---|---|---|", ...lines, ""].join("\n");
}

function recordRow(file: string): Row {
  const text = readFileSync(file, "utf8");
  const [, number, title] = /^# (\d{4}): (.+)$/m.exec(text) ?? [];
  const status = /^Status: ((?:.+\n)+)/m.exec(text)?.[1]?.replaceAll("\n", " ").trim();
  if (!number || !title || !status) throw new Error(`${file} has no heading "# 0000: title" or no line "Status: …"`);
  return { number, file: path.basename(file), title, status };
}

/** Returns a row for each number in the last line of a design page: "This page has the content of the decision records 0006, 0020." */
function pageRows(file: string): Row[] {
  const text = readFileSync(file, "utf8");
  const title = /^# (.+)$/m.exec(text)?.[1] ?? "";
  const numbers =
    /^This page has the content of the decision records? ([\d, ]+)\.$/m.exec(text)?.[1]?.split(", ") ?? [];
  return numbers.map((number) => ({ number, file: `../design/${path.basename(file)}`, title, status: "Design page" }));
}

if (import.meta.main) writeFileSync(indexPath, decisionIndex());
