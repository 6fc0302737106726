import { rootOf } from "../../model/uid.ts";

/** Removes the uid of an identity provider from a callback path for other organizations, which must not learn it. */
export function shownMethod(method: string, groupUid: string): string {
  const [, path = method, providerUid = ""] = /^(.+?)\/([0-9a-f]{40}(?:\/.*)?)$/.exec(method) ?? [];
  return providerUid === "" || rootOf(providerUid) === rootOf(groupUid) ? method : path;
}

/** Whether the method of a change, as it is shown, is the named one: the whole path, or its end from a `/` or `.` on. */
export function isMethod(shown: string, named: string): boolean {
  return shown === named || shown.endsWith(`/${named}`) || shown.endsWith(`.${named}`);
}
