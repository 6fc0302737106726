// What a group contains, as a link to the view that lists it.
import { Link, type LinkProps } from "@tanstack/react-router";
import { isKind, type Kind, kinds } from "../../shell/counts.ts";
import { useOrganizationUid } from "../../shell/organization.tsx";
import { isTextId, useTexts } from "../../texts/texts.ts";

/** The parts of views that list a kind of a group. */
const parts: Partial<Record<Kind, (uid: string) => Readonly<Record<string, string>>>> = {
  identities: (group) => ({ group }),
  role_bindings: (group) => ({ group }),
  access_request_rules: () => ({ tab: "rules" }),
  access_requests: () => ({ tab: "all" }),
  group_invites: () => ({ tab: "invites" }),
  account_associations: () => ({ tab: "accounts" }),
};

/** Says how many resources of a kind are in a group. Without a number, that the caller may not see them. */
export function ContentLink({
  kind,
  count,
  uid,
  isInDialog = false,
}: {
  readonly kind: string;
  readonly count: bigint | undefined;
  readonly uid: string;
  /** Whether the tree is behind a dialog. Next to it, a link to its groups would lead nowhere. */
  readonly isInDialog?: boolean;
}) {
  const { t } = useTexts();
  const org = useOrganizationUid();
  const text = isTextId(`one.${kind}`) ? t(`one.${kind}` as "one.groups") : kind.replaceAll("_", " ");
  if (count === undefined) return t("groups.hidden", { kind: text });
  if (!isKind(kind)) return `${count} ${text}`;
  const shown = t(`kind.${kind}`, { count: Number(count) });
  if (kind === "groups" && !isInDialog) return shown;
  const link = {
    to: kinds[kind],
    params: { org, _splat: kind === "groups" ? uid : "" },
    search: parts[kind]?.(uid) ?? {},
  };
  return <Link {...(link as LinkProps)}>{shown}</Link>;
}
