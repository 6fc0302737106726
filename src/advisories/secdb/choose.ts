// Chooses the database that an export writes: it is of one distribution, release and repository.
import { productOf, splitEcosystem } from "../ecosystems.ts";
import { readPurl } from "../purl.ts";
import type { Losses } from "../writing.ts";
import type { Claim } from "./claims.ts";

/** The identity of a security database. */
interface Choice {
  readonly distribution: string;
  readonly release: string;
  readonly repository: string;
}

/** A database, and the claims that belong to it. */
export interface Chosen extends Choice {
  readonly chosen: readonly Claim[];
}

/**
 * Keeps the claims of one database, and counts the others as lost. `ecosystem` names it, such as "Wolfi", "Alpine:v3.20" or
 * "Alpine:v3.20/community"; parts that it leaves open are chosen by the number of claims.
 */
export function chooseDatabase(claims: readonly Claim[], ecosystem: string, losses: Losses): Chosen {
  const wanted = choiceOf(ecosystem);
  const named = new Set(claims.map(({ distribution }) => distribution).filter((each) => each !== ""));
  // The flag has a default value, which few groups have packages of. A release is only there if a user named it.
  const isWanted = wanted.release + wanted.repository !== "" || named.has(wanted.distribution) || named.size === 0;
  const choice = {
    distribution: isWanted ? wanted.distribution : "",
    release: wanted.release,
    repository: wanted.repository,
  };
  let chosen = claims;
  for (const part of ["distribution", "release", "repository"] as const) {
    choice[part] ||= mostFrequent(chosen.map((claim) => claim[part]));
    // Packages without a distribution belong to that of `ecosystem`. A claim without a release or repository applies to every one.
    const holdsForAll = part !== "distribution" || choice.distribution === wanted.distribution;
    const fits = (claim: Claim) => claim[part] === choice[part] || (claim[part] === "" && holdsForAll);
    for (const claim of chosen) {
      const other = claim[part] === "" ? `an unknown ${part}` : `the ${part} ${claim[part]}`;
      if (!fits(claim)) losses.add(`a package of ${other}, not of ${choice[part]}`, claim.advisoryId);
    }
    chosen = chosen.filter(fits);
  }
  return { ...choice, chosen };
}

function choiceOf(text: string): Choice {
  const { ecosystem, release: rest } = splitEcosystem(text);
  const [release = "", ...repository] = rest.split("/");
  const distribution = readPurl(productOf(ecosystem, "x").purl)?.namespace || ecosystem.toLowerCase();
  return { distribution, release, repository: repository.join("/") };
}

/** Returns the most frequent text that is not empty, of several the first in order; empty when there is none. */
export function mostFrequent(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== "") counts.set(text, (counts.get(text) ?? 0) + 1);
  const [first] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return first?.[0] ?? "";
}
