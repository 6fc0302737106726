// Converts stored resources to the messages of an apply, which name other resources instead of their uids.
import type { Yield } from "../../base/yielding.ts";
import type { StoredResource } from "../kinds/kind.ts";
import type { Names } from "../kinds/names.ts";
import type { AnySpec, StoredRows } from "../kinds/spec.ts";
import { resources } from "../resources.ts";

/** Returns the stored resources, in the order of creation. Calls `pause` for each of them. */
export async function storedResources(
  { base, byKind }: StoredRows,
  names: Names,
  pause: Yield = () => undefined,
): Promise<readonly StoredResource[]> {
  const found: StoredResource[] = [];
  for (const { name, file } of resources) {
    const ofOrganization = name === "organization" && base?.parent === null ? [base] : [];
    for (const row of byKind.get(name) ?? ofOrganization) {
      const outside = file.outside?.(row) ?? "";
      found.push({ uid: row.uid, outside, resource: { case: name, value: file.toSpec(row, names) } as AnySpec });
      const paused = pause();
      if (paused) await paused;
    }
  }
  return found;
}
