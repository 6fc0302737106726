// Texts to search advisories for, more of them than a server remembers: sent in turn, each is a new one to it.
import type { Advisory } from "../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";

/** The number of texts to find: a server caches a thousand searches. */
const wanted = 1500;

/** A text that so many advisories contain is not rare. */
const manyMatches = 1000;

/** Different texts that few advisories contain each: a CVE without its last digit. */
export function rareTexts(advisories: readonly Advisory[]): string[] {
  const texts = advisories.map(({ aliases }) => aliases[0]!.slice(0, -1));
  return enough([...new Set(texts)]);
}

/** Different texts, from one character to whole names, that a thousand advisories contain, or more, up to all. */
export function commonTexts(advisories: readonly Advisory[]): string[] {
  const found: string[] = [];
  // A frequent text has only frequent parts, so only extensions of frequent parts are counted at the next length.
  for (let length = 1, common = new Set<string>(); length === 1 || common.size > 0; length++) {
    const counts = new Map<string, number>();
    for (const advisory of advisories)
      for (const part of partsOf(advisory, length, common)) counts.set(part, (counts.get(part) ?? 0) + 1);
    common = new Set([...counts].filter(([, count]) => count >= manyMatches).map(([part]) => part));
    found.push(...common);
  }
  return enough(found);
}

function partsOf({ artifactName, componentName, aliases }: Advisory, length: number, common: ReadonlySet<string>) {
  const parts = new Set<string>();
  for (const line of [artifactName, componentName, ...aliases].map((text) => text.toLowerCase())) {
    for (let at = 0; at + length <= line.length; at++) {
      const part = line.slice(at, at + length);
      if (length === 1 || (common.has(part.slice(0, -1)) && common.has(part.slice(1)))) parts.add(part);
    }
  }
  return parts;
}

function enough(texts: readonly string[]): string[] {
  if (texts.length < wanted) throw new Error(`there are only ${texts.length} different texts to search for`);
  const step = texts.length / wanted;
  return Array.from({ length: wanted }, (_, i) => texts[Math.floor(i * step)]!);
}
