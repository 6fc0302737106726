import type { CollectionTables } from "../storage/collection/collection.ts";
import { eventCollections } from "../storage/events/rows.ts";
import { iamCollections } from "../storage/iam/collections.ts";
import { registryCollections } from "../storage/registry/rows.ts";
import { vulnerabilityCollections } from "./vulnerabilities/collections.ts";

/** All collections. */
export const collections: readonly CollectionTables[] = [
  ...iamCollections,
  ...registryCollections,
  ...vulnerabilityCollections,
  ...eventCollections,
];
