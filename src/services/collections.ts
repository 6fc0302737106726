import type { CollectionTables } from "../storage/collection.ts";
import { eventCollections } from "./events/rows.ts";
import { iamCollections } from "./iam/rows.ts";
import { registryCollections } from "./registry/rows.ts";
import { vulnerabilityCollections } from "./vulnerabilities/collections.ts";

/** Every collection that there is, for what concerns them all. */
export const collections: readonly CollectionTables[] = [
  ...iamCollections,
  ...registryCollections,
  ...vulnerabilityCollections,
  ...eventCollections,
];
