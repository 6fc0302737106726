// Converts users and groups of SCIM clients for the audit log.
import type { JsonObject } from "@bufbuild/protobuf";
import type { RowView } from "../../../resource/row-view.ts";
import { textOf, withParts } from "../../../resource/sentence-form.ts";

/** The kinds of changes of users and groups. */
export const [scimUserKind, scimGroupKind] = ["scim_users", "scim_groups"] as const;

/** The log has the names and ids of people and groups only, and shows them unchanged. */
export const provisioningViews: readonly RowView[] = [scimUserKind, scimGroupKind].map((kind) => ({
  kind,
  show: (row) => ({ ...(row as JsonObject) }),
  sentence: withParts({
    resource: ({ displayName, userName }, { resourceUid }) => ({
      uid: resourceUid,
      name: textOf(displayName) || textOf(userName),
    }),
  }),
}));
