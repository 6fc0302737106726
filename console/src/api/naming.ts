// The words for what has a name, and for what has none that the caller may know. A uid stands only where a person has not joined yet.
import { type Name, NameState } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { type Texts, useTexts } from "../texts/texts.ts";
import { useResolved } from "./resources.ts";
import { shortUid } from "./uids.ts";

/** Returns the name of a group, or words for one that the caller may not list. */
export function groupText(t: Texts, name: string | undefined): string {
  return name || t("names.group");
}

/** Returns the name of a person or workload, else the address, else words for one whose name the caller may not know. */
export function identityText(
  t: Texts,
  identity: { readonly uid: string; readonly name?: string | undefined; readonly email?: string } | undefined,
): string {
  const { uid = "", name, email } = identity ?? {};
  return name || email || t(uid.includes("/") ? "names.workload" : "names.notJoined", { uid: shortUid(uid) });
}

/** Returns the function that names a resource or person by uid: one of these, at most 200. It says "…" while they are read. */
export function useNamed(uids: readonly string[]): (uid: string) => string {
  const { t } = useTexts();
  const resolved = useResolved(uids);
  return (uid) => {
    const found = resolved.get(uid);
    return found ? resolvedText(t, found) : "…";
  };
}

/** Returns the words for what was resolved. */
export function resolvedText(t: Texts, { uid, name, email, state }: Name): string {
  if (name || email) return name || email;
  if (state === NameState.NOT_JOINED) return t("names.notJoined", { uid: shortUid(uid) });
  if (state === NameState.KNOWN) return t("names.none", { uid: shortUid(uid) });
  return t(state === NameState.DELETED ? "names.deleted" : "names.hidden");
}
