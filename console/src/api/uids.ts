/** Shortens a uid in the middle, as tables show it. */
export function shortUid(uid: string): string {
  const last = uid.slice(uid.lastIndexOf("/") + 1);
  return last.length > 12 ? `${last.slice(0, 4)}…${last.slice(-4)}` : last;
}

/** Whether a text could be a uid: one or more segments of hexadecimal digits. */
export function isUid(text: string): boolean {
  return /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/.test(text);
}

/** Returns the uid of the group that contains a group; empty for an organization. */
export function parentOf(uid: string): string {
  return uid.includes("/") ? uid.slice(0, uid.lastIndexOf("/")) : "";
}

/** Returns the uids of the groups that contain a group, the organization first. */
export function ancestorsOf(uid: string): string[] {
  const parent = parentOf(uid);
  return parent === "" ? [] : [...ancestorsOf(parent), parent];
}
