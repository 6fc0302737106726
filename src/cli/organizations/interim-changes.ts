// Whether an organization changed while it was exported. The lists of an export are read one after another, not in one snapshot.
import { type DescField, getOption, hasOption } from "@bufbuild/protobuf";
import { ChangesService } from "../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { OrganizationResourceSchema } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { resource } from "../../../gen/google/api/resource_pb.ts";
import type { Session } from "../client/session.ts";
import { CommandFailure } from "../failure.ts";
import { textAt } from "../resources/json.ts";

const { listChanges } = ChangesService.method;

/** The kinds in the change log that an export has, such as `role_bindings`. */
export const exportedKinds: ReadonlySet<string> = new Set(OrganizationResourceSchema.fields.map(kindOf));

/** Returns the kind of what a member of OrganizationResource has. Settings have no plural: their kind is the name of the member. */
function kindOf({ name, message }: DescField): string {
  if (!message || !hasOption(message, resource)) return name;
  return getOption(message, resource).plural.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Returns the present end of the change log; undefined if the caller may not read it. */
export async function logPosition(session: Session, parent: string): Promise<string | undefined> {
  try {
    return textAt(await session.call(listChanges, { parent, pageSize: 1 }), "resumeAfter");
  } catch (error) {
    if (error instanceof CommandFailure && error.status === "PermissionDenied") return undefined;
    throw error;
  }
}

/** Returns what to tell about changes since a position; empty if there were none. `further` are kinds that this export has as well. */
export async function changesSince(
  session: Session,
  parent: string,
  position: string | undefined,
  further: readonly string[],
): Promise<string> {
  if (position === undefined)
    return "You may not read the audit log, so it is unknown whether the organization changed during the export.";
  let after = position;
  for (;;) {
    const response = await session.call(listChanges, { parent, after, pageSize: 200 });
    const changes = (response.changes as { kind?: string }[] | undefined) ?? [];
    if (changes.some(({ kind = "" }) => exportedKinds.has(kind) || further.includes(kind)))
      return "The organization changed during the export, which may have some of the changes only. Export it again.";
    if (textAt(response, "nextPageToken") === "") return "";
    after = textAt(response, "resumeAfter");
  }
}
