import { findVerifiedRoots } from "../../../storage/iam/group-names.ts";
import type { GroupRow } from "../../../storage/iam/rows.ts";
import { inGroup, takenBy } from "../../kinds/import-checks.ts";
import { importKind, type Transfer } from "../../kinds/import-kind.ts";
import { refuseTakenName } from "./group-rules.ts";
import { group } from "./groups.ts";

/** The import of groups. */
export const groupImport: Transfer = {
  name: "group",
  declare: () =>
    importKind<typeof group.schema, GroupRow>({
      ...inGroup,
      isOfGroup: true,
      parentOf: (uid) => (uid.includes("/") ? inGroup.parentOf(uid) : undefined),
      resource: { ...group, toMessage: (row) => group.toMessage(row) },
      toRow: (message, own, before, { acceptsVerified }) => ({
        ...group.toRow(message),
        // Only an organization has a kind.
        ...(own.parent !== null && { kind: 0 }),
        verified: before?.verified || (acceptsVerified && own.parent === null && message.verified),
        status: before?.status ?? 0,
        resourceLimits: before?.resourceLimits ?? {},
        ...own,
      }),
      async check(session, after, before) {
        if (before?.verified && after.name !== before.name)
          return [{ field: "name", description: "must stay the same, because the organization is verified" }];
        if (!after.verified) return [];
        if (after.kind === 0) return [{ field: "kind", description: "is required for a verified organization" }];
        const other = (await findVerifiedRoots(session, after.name)).find(({ uid }) => uid !== after.uid);
        return takenBy(other, after.uid, "name", "is the name of a verified organization");
      },
      isIndependent: ({ verified }) => !verified,
      prepare: refuseTakenName,
    }),
};
