// Selects the role bindings that an access review lists.

import { numberPlaceholder, textPlaceholder } from "../../engine/placeholders.ts";
import type { Scan } from "../../list/scan.ts";
import { sql } from "../../schema/drizzle.ts";
import { roleBindingCollection } from "../collections.ts";
import { everyBinding, unusedSince } from "../unused-bindings.ts";
import type { AccessReviewRow } from "./rows.ts";

/** Which role bindings a review lists. */
export interface ReviewSelection extends Pick<AccessReviewRow, "roleUids" | "holders"> {
  /** Only role bindings that were not used since this time, in milliseconds since the epoch; undefined for all. */
  readonly unusedSince: number | undefined;
  /** Role bindings that have ended by this time are left out. */
  readonly now: number;
}

/** Returns the scan that finds the role bindings of a review. */
export function reviewScan({ roleUids, holders, unusedSince: since, now }: ReviewSelection): Scan {
  const used = since === undefined ? everyBinding : unusedSince(since);
  return {
    kind: roleBindingCollection.kind,
    table: ({ roleBindings }) => roleBindings,
    uid: ({ roleBindings }) => roleBindings.uid,
    condition: {
      name: `reviewed.${used.name}`,
      build(dialect) {
        const { roleUid, identityUid, expireTime } = dialect.tables.roleBindings;
        const [roles, wanted] = [textPlaceholder("roles"), textPlaceholder("holders")];
        return sql`(${expireTime} is null or ${expireTime} > ${numberPlaceholder("now")})
          and (${roles} = '[]' or ${dialect.isAmong(roleUid, roles)})
          and (${wanted} = '' or case when ${identityUid} like '%/%' then 'WORKLOADS' else 'PEOPLE' end = ${wanted})
          and ${used.build(dialect)}`;
      },
      values: { ...used.values, now, holders, roles: JSON.stringify(roleUids) },
    },
  };
}
