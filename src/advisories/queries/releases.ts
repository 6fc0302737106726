// Releases of distributions, which every source writes in its own way: "12", "debian-12.5", "v3.18", "22.04:LTS", "jammy".

/**
 * Whether two texts may name the same release. Only numbers are compared with numbers and names with names: nothing tells that
 * "jammy" is 22.04, and a query that finds too much hides nothing. Of "8" and "8.6" one includes the other.
 */
export function mayBeSameRelease(a: string, b: string): boolean {
  const [left, right] = [partsOf(a), partsOf(b)];
  if (left.numbers.length > 0 && right.numbers.length > 0) {
    return left.numbers.every((number, i) => i >= right.numbers.length || number === right.numbers[i]);
  }
  const areNames = left.numbers.length === 0 && right.numbers.length === 0;
  if (areNames) return left.name.endsWith(right.name) || right.name.endsWith(left.name);
  // Tumbleweed has no numbers other than the dates of its snapshots.
  return ![left, right].some(({ name }) => name === tumbleweed) || [left, right].some(isDated);
}

const tumbleweed = "tumbleweed";

function isDated({ numbers: [first = 0, ...others] }: { numbers: number[] }): boolean {
  return others.length === 0 && String(first).length === "20260131".length;
}

function partsOf(release: string) {
  const lower = release.toLowerCase();
  const cpe =
    /cpe:(?:[/]|2[.]3:)[^,\s]+/.exec(lower)?.[0] ?? (/^[a-z_]+:[0-9.]+::/.test(lower) ? `cpe:/a::${lower}` : "");
  if (cpe !== "") return { numbers: numbersOf(cpe), name: "" };
  if (lower.includes(tumbleweed)) return { numbers: [], name: tumbleweed };
  const [numbers = ""] = /[0-9]+(?:[.][0-9]+)*/.exec(lower) ?? [];
  return { numbers: splitNumbers(numbers), name: lower };
}

/** Products whose version is that of the distribution. Others are installed on a release that their version does not tell. */
const distributions =
  /^(?:enterprise_linux|rhel_(?:aus|e4s|els|eus|tus)|leap|(?:suse[-_])?(?:sle|sle[ds])(?:[-_].+)?)$/;

/** Returns the numbers of the release that a CPE names; also as Red Hat's records in OSV have it: "enterprise_linux:8::appstream". */
function numbersOf(cpe: string): number[] {
  const [, , product = "", version = "", update = "", edition = ""] = cpe.replace(/^cpe:(?:[/]|2[.]3:)/, "").split(":");
  const [, base = ""] = /^el([0-9]+)$/.exec(edition) ?? [];
  if (base !== "" || !distributions.test(product)) return splitNumbers(base);
  const [, pack = ""] = /^sp([0-9]+)$/.exec(update) ?? [];
  const [numbers = ""] = /^[0-9]+(?:[.][0-9]+)*$/.exec(version) ?? [];
  return splitNumbers(numbers === "" || pack === "" ? numbers : `${numbers}.${pack}`);
}

function splitNumbers(text: string): number[] {
  return text === "" ? [] : text.split(".").map(Number);
}
