// Declares every table once. drizzle-kit reads them through tables.sqlite.ts and tables.postgres.ts.
import type { Columns } from "./columns.postgres.ts";
import { defineAccessRequestTables } from "./tables/access-requests.ts";
import { defineAccessReviewTables } from "./tables/access-reviews.ts";
import { defineCallOutcomeTables } from "./tables/call-outcomes.ts";
import { defineEventTables } from "./tables/events.ts";
import { defineIamTables } from "./tables/iam.ts";
import { defineImageUseTables } from "./tables/image-uses.ts";
import { defineImageTables } from "./tables/images.ts";
import { defineInstallationTables } from "./tables/installation.ts";
import { defineNameTables } from "./tables/names.ts";
import { defineProviderTables } from "./tables/providers.ts";
import { defineProvisioningTables } from "./tables/provisioning.ts";
import { defineRegistryTables } from "./tables/registry.ts";
import { defineSignInTables } from "./tables/sign-in.ts";
import { defineStatisticsTables } from "./tables/statistics.ts";
import { defineUsageTables } from "./tables/usage.ts";
import { defineVulnerabilityTables } from "./tables/vulnerabilities.ts";
import { defineWorkloadTables } from "./tables/workloads.ts";

/**
 * Defines the tables in one dialect.
 *
 * A resource has two tables. Its rows have the uid as the key, so a subtree is one contiguous range. Its entries list
 * every row under a key for each ancestor (`a`, `a/b`) and one for the children of its parent (`a/b/*`, or `/*` for a
 * row without parent), so every subtree can be read in any sort order.
 */
export function defineTables(columns: Columns) {
  const iam = defineIamTables(columns);
  const groupUid = () => iam.groups.uid;
  const roleUid = () => iam.roles.uid;
  const identityUid = () => iam.identities.uid;
  const providers = defineProviderTables(columns, groupUid, roleUid);
  const registry = defineRegistryTables(columns, groupUid);
  const repoUid = () => registry.repos.uid;
  const tagUid = () => registry.tags.uid;
  const providerUid = () => providers.identityProviders.uid;
  return {
    ...iam,
    ...providers,
    ...defineProvisioningTables(columns, providerUid),
    ...registry,
    ...defineVulnerabilityTables(columns, groupUid),
    ...defineEventTables(columns, groupUid),
    ...defineSignInTables(columns, groupUid, identityUid, providerUid),
    ...defineInstallationTables(columns),
    ...defineNameTables(columns),
    ...defineStatisticsTables(columns),
    ...defineWorkloadTables(columns, identityUid),
    ...defineUsageTables(columns, identityUid, groupUid),
    ...defineAccessRequestTables(columns, groupUid),
    ...defineCallOutcomeTables(columns, groupUid),
    ...defineImageTables(columns),
    ...defineImageUseTables(columns, repoUid, tagUid),
    ...defineAccessReviewTables(columns, groupUid),
  };
}

/** All tables, of either database. */
export type Tables = ReturnType<typeof defineTables>;
