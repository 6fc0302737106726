// An entry of a list of fixes, such as "CVE-2019-1 XSA-1 (partial)": the ids of vulnerabilities and other words.

/** A vulnerability that an entry names. */
export interface EntryVulnerability {
  readonly id: string;
  /** Other ids of the same vulnerability. */
  readonly aliases: readonly string[];
  /** Other vulnerabilities of the entry. */
  readonly related: readonly string[];
}

/** The contents of an entry: its vulnerabilities, and its other words as remarks. */
export interface Entry {
  readonly vulnerabilities: readonly EntryVulnerability[];
  /** The words that are not ids, as they stand in the entry. */
  readonly remarks: readonly string[];
}

/** A remark in parentheses, also one that is not closed, or a comment. */
const remarkPattern = /\([^)]*\)?|(?:^|\s)#.*$/gs;

// Vendors have ids of many forms: XSA-1, TALOS-2017-0499, VSV00004, GHSA-xxxx-xxxx-xxxx, whose parts may have no digit.
const idPattern = /^(?:(?:GHSA|CGA)(?:-[a-z0-9]{4}){3}|(?=.*\d)[a-z][a-z0-9]*(?:[-_][a-z0-9.:]+)+|[A-Z]{2,}\d+)$/i;

/** Parses an entry. Different CVEs are different vulnerabilities; other ids are aliases. Without a CVE, the first id has them. */
export function parseEntry(text: string): Entry {
  const remarks: string[] = [];
  const words = text
    .replace(remarkPattern, (remark) => {
      remarks.push(remark.trim());
      return " ";
    })
    // Both slips occur in Alpine's database.
    .replace(/\bCVE[ _](?=\d{4}-\d)/gi, "CVE-")
    .split(/[\s,;&/|+]+/)
    .filter((word) => word !== "");
  const ids = words.map(canonicalId);
  // A word such as "CVE-2030-1.patch" is the id and a remark.
  remarks.push(...words.filter((word, i) => ids[i] === undefined || (isCve(ids[i]) && !isWhole(word, ids[i]))));
  return { vulnerabilities: vulnerabilitiesOf([...new Set(ids.filter((id) => id !== undefined))]), remarks };
}

function vulnerabilitiesOf(ids: readonly string[]): EntryVulnerability[] {
  const cves = ids.filter((id) => id.startsWith("CVE-"));
  const named = cves.length > 0 ? cves : ids.slice(0, 1);
  const aliases = ids.filter((id) => !named.includes(id));
  return named.map((id) => ({ id, aliases, related: named.filter((other) => other !== id) }));
}

function isCve(id: string): boolean {
  return id.startsWith("CVE-");
}

/** Whether a word is the id alone, but for its case and punctuation around it. */
function isWhole(word: string, id: string): boolean {
  return (
    word
      .toUpperCase()
      .replace(/^["'[]+|["'\].:]+$/g, "")
      .replaceAll("_", "-") === id
  );
}

/** Returns the id in the spelling of its issuer; undefined when the word is not an id. */
function canonicalId(word: string): string | undefined {
  const id = word.replace(/^["'[]+|["'\].:]+$/g, "");
  // https://www.cve.org: four digits of a year and four or more of a number. What follows is of the distribution.
  const [, year = "", number = ""] = /^cve[-_](\d{4})[-_](\d{1,19})(?![0-9])/i.exec(id) ?? [];
  if (year !== "") return `CVE-${year}-${number}`;
  if (!idPattern.test(id)) return undefined;
  const [, prefix = "", rest = ""] = /^(ghsa|cga)(-.*)$/i.exec(id) ?? [];
  if (prefix !== "") return prefix.toUpperCase() + rest.toLowerCase();
  return /^(?:cve|xsa|cnvd|talos)-/i.test(id) ? id.toUpperCase() : id;
}
