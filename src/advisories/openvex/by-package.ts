// Reads the advisories of a group package by package. The uids of all are in memory, and the advisories of one page.
import type {
  AdvisoryStatements,
  ListAdvisoryStatementsResponse,
} from "../../../gen/gatehouse/vulnerabilities/v1/records_pb.ts";
import { resourceExhausted } from "../../aip/errors.ts";
import { nextSlice } from "../../base/slices.ts";
import { pagesOf } from "../exported.ts";

/** Asks the API for advisories. */
export interface PackageSource {
  /** A page of `ListAdvisoryStatements` with the products alone. The first has an empty token. */
  products(pageToken: string): Promise<ListAdvisoryStatementsResponse>;
  /** The advisories with these uids, in this order, as many as fit into a response; those that were deleted are left out. */
  named(uids: readonly string[]): Promise<ListAdvisoryStatementsResponse>;
}

/** A package and its advisories, which can be read several times. */
export interface AdvisoriesByPackage {
  readonly id: string;
  readonly advisories: AsyncIterable<AdvisoryStatements>;
}

/** The number of advisories that a request names. */
const requested = 200;

/** Reads which advisories are on which package. `idOf` names the package of a product. Throws RESOURCE_EXHAUSTED for more than `most`. */
export async function groupByPackage(
  source: PackageSource,
  idOf: (product: string) => string | undefined,
  most: number,
) {
  const numbers = new Map<string, number>();
  /** By advisory: its uid, and the number of its package. */
  const [uids, owners]: [string[], number[]] = [[], []];
  for await (const { results } of pagesOf((token) => source.products(token))) {
    for (const { advisory, product } of results) {
      await nextSlice();
      const id = idOf(product);
      if (id === undefined || !advisory) continue;
      if (uids.length >= most)
        throw resourceExhausted(`a VEX repository takes ${most} advisories; publish groups below`);
      const number = numbers.get(id) ?? numbers.size;
      numbers.set(id, number);
      uids.push(advisory.uid);
      owners.push(number);
    }
  }
  const { sorted, ends } = sortByOwner(uids, owners, numbers.size);
  const read = newReader(source, sorted);
  return {
    /** Returns the packages in the order of the public ids of their first advisories. */
    *packages(): Generator<AdvisoriesByPackage> {
      for (const [id, number] of numbers) {
        const from = ends[number - 1] ?? 0;
        yield { id, advisories: { [Symbol.asyncIterator]: () => read(from, ends[number]!) } };
      }
    },
  };
}

/** Returns the uids by package, in their order, and where those of each package end. */
function sortByOwner(uids: readonly string[], owners: readonly number[], count: number) {
  const ends = new Uint32Array(count);
  for (const owner of owners) ends[owner]!++;
  for (let i = 1; i < count; i++) ends[i]! += ends[i - 1]!;
  const next = Uint32Array.from({ length: count }, (_, i) => ends[i - 1] ?? 0);
  const sorted = new Array<string>(uids.length);
  for (const [i, owner] of owners.entries()) sorted[next[owner]!++] = uids[i]!;
  return { sorted, ends };
}

/** Returns a function that reads the advisories from one place to another. It keeps the page that it read last. */
function newReader(source: PackageSource, uids: readonly string[]) {
  let page = { from: 0, to: 0, found: new Map<string, AdvisoryStatements>() };
  async function load(from: number): Promise<void> {
    const asked = uids.slice(from, from + requested);
    const { results, nextPageToken } = await source.named(asked);
    const found = new Map(results.map((each) => [each.advisory?.uid ?? "", each]));
    const read = nextPageToken === "" ? asked.length : asked.indexOf(results.at(-1)?.advisory?.uid ?? "") + 1;
    if (read === 0) throw new Error("a page of advisories has none");
    page = { from, to: from + read, found };
  }
  return async function* (from: number, to: number): AsyncGenerator<AdvisoryStatements> {
    // The whole range, if it fits into a page: it will be read again.
    if (from < page.from || to > page.to) await load(from);
    for (let i = from; i < to; i++) {
      await nextSlice();
      if (i >= page.to) await load(i);
      const each = page.found.get(uids[i]!);
      if (each) yield each;
    }
  };
}
