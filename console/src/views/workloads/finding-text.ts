// The words of the linter of rules in the language of the reader.

/** The ends of what the API says of a similar name, and the ids of the sentences for them. */
const similar = [
  [" that begins the same", "trust.finding.begins"],
  [" that ends the same", "trust.finding.ends"],
  [" with another character in place of a dot", "trust.finding.dot"],
] as const;

/** Splits what the API says of a finding: the id of the sentence, what it is about in English, and the id of the text for that. */
export function partsOfFinding(who: string) {
  const [end, sentence] = similar.find(([end]) => who.endsWith(end)) ?? (["", "trust.finding"] as const);
  const what = who.slice(0, who.length - end.length);
  return { sentence, what, id: `trust.who.${what.replaceAll(/[^a-z]+/g, "-")}` };
}
