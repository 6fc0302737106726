// Writes the packages of an image, in portions: one transaction with all of a large image would stop all other writes.
import { mapSliced } from "../../../base/slices.ts";
import { rootOf } from "../../../model/uid.ts";
import type { Database } from "../../../storage/database.ts";
import type { WriteContext } from "../../../storage/engine/session.ts";
import { type ImageRow, lockImage } from "../../../storage/images/images.ts";
import {
  addImagePackages,
  type ImagePackage,
  openPackages,
  readImagePackages,
  removeImagePackages,
} from "../../../storage/images/packages.ts";
import { removeUnusedPackages } from "../../../storage/images/removal.ts";
import { contentLimits } from "./limits.ts";
import { keyNumbersOf } from "./package-keys.ts";

/** The packages that SBOMs of some kinds name. */
export interface NamedPackages {
  /** The bits of the kinds. */
  readonly kinds: number;
  /** By package URL, the bits of the kinds that name it. */
  readonly packages: ReadonlyMap<string, number>;
}

/** Makes the packages of an image those that SBOMs name. Packages of other kinds of SBOMs stay. Running it again changes nothing. */
export async function writePackages(
  database: Database,
  newContext: () => WriteContext,
  { no, repoUid }: Pick<ImageRow, "no" | "repoUid">,
  { kinds, packages }: NamedPackages,
): Promise<void> {
  const known = await readAll(database, no);
  const gone = known.flatMap(({ no: number, purl, sources }) => {
    const bits = sources & kinds & ~(packages.get(purl) ?? 0);
    return bits === 0 ? [] : [{ number, bits }];
  });
  const stored = new Map(known.map(({ purl, sources }) => [purl, sources]));
  const added = [...packages].flatMap(([purl, wanted]) => {
    const bits = wanted & ~(stored.get(purl) ?? 0);
    return bits === 0 ? [] : [{ purl, bits }];
  });
  const organization = rootOf(repoUid);
  for (const [bits, all] of Map.groupBy(added, (each) => each.bits))
    for (const portion of portionsOf(all)) {
      const wanted = await mapSliced(portion, ({ purl }) => ({ purl, keys: keyNumbersOf(organization, purl) }));
      await database.write(newContext(), async (tx) => {
        if (!(await lockImage(tx, no))) return;
        const numbers = await openPackages(tx, organization, wanted);
        await addImagePackages(tx, no, bits, [...numbers.values()]);
      });
    }
  for (const [bits, all] of Map.groupBy(gone, (each) => each.bits))
    for (const portion of portionsOf(all)) {
      const numbers = portion.map(({ number }) => number);
      await database.write(newContext(), async (tx) => {
        await removeImagePackages(tx, no, bits, numbers);
        await removeUnusedPackages(tx, numbers);
      });
    }
}

async function readAll(database: Database, image: number): Promise<ImagePackage[]> {
  const all: ImagePackage[] = [];
  for (;;) {
    const page = await database.read((session) =>
      readImagePackages(session, image, all.at(-1)?.no ?? 0, contentLimits.portion),
    );
    all.push(...page);
    if (page.length < contentLimits.portion) return all;
  }
}

function portionsOf<T>(items: readonly T[]): T[][] {
  const { portion } = contentLimits;
  return Array.from({ length: Math.ceil(items.length / portion) }, (_, i) =>
    items.slice(i * portion, (i + 1) * portion),
  );
}
