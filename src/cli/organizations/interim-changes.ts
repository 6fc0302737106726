// Whether an organization changed while it was exported. The lists of an export are read one after another, not in one snapshot.
import { ChangesService } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { textAt } from "../resources/json.ts";

const { listChanges } = ChangesService.method;

/** The kinds in the change log that an export has. */
const exportedKinds: ReadonlySet<string> = new Set([
  "groups",
  "roles",
  "identities",
  "role_bindings",
  "identity_providers",
  "external_group_role_mappings",
  "account_associations",
  "repos",
  "repo_readmes",
  "tags",
  "subscriptions",
  "subscription_settings",
]);

/** Returns the present end of the change log; undefined if the caller may not read it. */
export async function logPosition(session: Session, parent: string): Promise<string | undefined> {
  try {
    return textAt(await session.call(listChanges, { parent, pageSize: 1 }), "resumeAfter");
  } catch (error) {
    if (error instanceof CommandFailure && error.status === "PermissionDenied") return undefined;
    throw error;
  }
}

/** Returns what to tell about changes since a position; empty if there were none. */
export async function changesSince(session: Session, parent: string, position: string | undefined): Promise<string> {
  if (position === undefined)
    return "You may not read the audit log, so it is unknown whether the organization changed during the export.";
  let after = position;
  for (;;) {
    const response = await session.call(listChanges, { parent, after, pageSize: 200 });
    const changes = (response.changes as { kind?: string }[] | undefined) ?? [];
    if (changes.some(({ kind = "" }) => exportedKinds.has(kind)))
      return "The organization changed during the export, which may have some of the changes only. Export it again.";
    if (textAt(response, "nextPageToken") === "") return "";
    after = textAt(response, "resumeAfter");
  }
}
