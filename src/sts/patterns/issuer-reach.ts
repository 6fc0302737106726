// Finds issuer patterns that match no issuer: only issuers in canonical spelling are compared with a pattern (claim-match.ts), so a
// pattern with an upper-case host or the default port denies every token.
import { RE2JS } from "re2js";
import { checkIssuerSpelling } from "../../model/issuer-url.ts";
import type { PatternNode } from "./syntax.ts";

/** The characters of a pattern in order. Undefined stands for a part that may match several texts. */
type Characters = readonly (string | undefined)[];

const hostCharacters = [..."abcdefghijklmnopqrstuvwxyz0123456789-.:[]_"];
const pathCharacter = /^[A-Za-z0-9._~!$&'()*+,;=:@%/-]$/;

/**
 * Returns why no issuer in canonical spelling matches a pattern, or undefined if one may. Only what the pattern must match is checked,
 * so some patterns that match nothing have no problem here.
 *
 * For `https://Issuer\\.example/[a-z]+` returns that the host must be written as "https://issuer.example".
 */
export function checkReach(root: PatternNode): string | undefined {
  const problems = alternativesOf(root).map(problemOf);
  return problems.includes(undefined) ? undefined : `can never match: ${problems[0]}`;
}

function alternativesOf(node: PatternNode): readonly PatternNode[] {
  if (node.kind === "choice") return node.items.flatMap(alternativesOf);
  const [only, ...others] = node.kind === "sequence" ? node.items : [];
  return only && others.length === 0 && "items" in only ? alternativesOf(only) : [node];
}

function problemOf(node: PatternNode): string | undefined {
  const nodes = node.kind === "sequence" ? node.items : [node];
  const characters = nodes.map(characterOf);
  if (!characters.includes(undefined)) return about(checkIssuerSpelling(characters.join("")));
  // The parts of a scheme are in a group: too much to follow.
  if (!characters.includes("/")) return undefined;
  const hostStart = characters.indexOf("/") + 2;
  const slash = characters.indexOf("/", hostStart);
  const end = slash < 0 ? characters.length : slash;
  // Behind a part such as `(/path)?` nobody knows whether the host has ended.
  const split = nodes.findIndex(
    (each, i) => i >= hostStart && i < end && characters[i] === undefined && mayHaveSlash(each),
  );
  const host = characters.slice(hostStart, split < 0 ? end : split);
  const schemes = characters.slice(0, hostStart).includes(undefined)
    ? ["https://", "http://"]
    : [characters.slice(0, hostStart).join("")];
  const problems = schemes.map((scheme) => checkHost(scheme, host, split < 0));
  return (problems.includes(undefined) ? undefined : problems[0]) ?? checkPath(characters.slice(end));
}

function mayHaveSlash(node: PatternNode): boolean {
  if (node.kind === "repeat") return mayHaveSlash(node.item);
  return node.kind === "set" ? RE2JS.compile(node.text).testExact("/") : node.kind !== "literal";
}

function characterOf(node: PatternNode): string | undefined {
  if (node.kind === "literal") return node.text;
  if (node.kind !== "set" || node.text === "." || /^\\[pPdDwWsS]/.test(node.text)) return undefined;
  // A set with one member, such as `\\.`; `[A-Z]` has none that a host has.
  const regex = RE2JS.compile(node.text);
  const members = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((char) =>
    regex.testExact(char),
  );
  return members.length === 1 ? members[0] : undefined;
}

/** Checks the host with its port, or only its beginning. */
function checkHost(scheme: string, characters: Characters, isWhole: boolean): string | undefined {
  if (isWhole && !characters.includes(undefined)) return about(checkIssuerSpelling(scheme + characters.join("")));
  const wrong = characters.find((char) => char !== undefined && !hostCharacters.includes(char));
  if (wrong !== undefined) return `the host of an issuer has no ${JSON.stringify(wrong)}`;
  const port = isWhole ? /:([0-9]+)$/.exec(characters.map((char) => char ?? "*").join(""))?.[1] : undefined;
  const isDefault = port === (scheme === "https://" ? "443" : "80");
  return isDefault ? `an issuer does not name the default port ${port}` : undefined;
}

function checkPath(characters: Characters): string | undefined {
  const wrong = characters.find((char) => char !== undefined && !pathCharacter.test(char));
  if (wrong !== undefined) return `an issuer has no ${JSON.stringify(wrong)} in its path`;
  const segments: Characters[] = [];
  for (let rest = characters.slice(1); ; ) {
    const slash = rest.indexOf("/");
    segments.push(slash < 0 ? rest : rest.slice(0, slash));
    if (slash < 0) break;
    rest = rest.slice(slash + 1);
  }
  // The last segment may be empty: an issuer may end with a slash.
  const exact = segments.filter(
    (each, index) => !each.includes(undefined) && (each.length > 0 || index < segments.length - 1),
  );
  return exact.map((each) => about(checkIssuerSpelling(`https://host/${each.join("")}/x`))).find((problem) => problem);
}

function about(problem: string | undefined): string | undefined {
  return problem && `an issuer ${problem}`;
}
