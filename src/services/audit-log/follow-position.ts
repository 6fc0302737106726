// The positions from which callers follow the audit log.
import { failedPrecondition, invalidField } from "../../aip/errors.ts";
import { rootOf } from "../../model/uid.ts";
import { findLogPosition } from "../../storage/change-log/history.ts";
import { hasAllAfter } from "../../storage/change-log/removal.ts";
import type { Session } from "../../storage/engine/session.ts";
import type { ChangeCursors, ParsedCursor } from "./change-cursors.ts";

/** Parses a cursor of an organization. Throws INVALID_ARGUMENT for anything else. */
export function parseCursor(cursors: ChangeCursors, field: string, text: string, organization: string): ParsedCursor {
  const cursor = cursors.parse(text, organization);
  if (!cursor) throw invalidField(field, "is neither the id of a change nor a resume_after value");
  return cursor;
}

/** Whether the log still has all changes after a cursor. A cursor that names a change must be one of the organization. */
export async function isFollowable(session: Session, cursor: ParsedCursor, organization: string): Promise<boolean> {
  if (!(await hasAllAfter(session, cursor))) return false;
  const found = cursor.isChange ? await findLogPosition(session, cursor.sequence) : undefined;
  return !found || rootOf(found.groupUid) === organization;
}

/** FAILED_PRECONDITION: the log lacks changes behind a cursor. */
export function changeNotKept() {
  return failedPrecondition(
    "CHANGE_NOT_KEPT",
    "the change that `after` names, or changes after it, were deleted by retention; list again without `after`",
    "after",
  );
}
