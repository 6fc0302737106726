// The palette: actions, views and resources by a few letters, or a resource by its uid. Loaded when it is opened first.
import { useComputedColorScheme, useMantineColorScheme } from "@mantine/core";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { SubscriptionsService } from "../../../gen/chainguard/platform/events/v2beta1/subscriptions_pb.ts";
import { GroupInvitesService } from "../../../gen/chainguard/platform/iam/v2beta1/group_invites_pb.ts";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { IdentitiesService } from "../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import { MembershipsService } from "../../../gen/gatehouse/iam/v1/memberships_pb.ts";
import type { FoundResource } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { isOperator, missingFor, useMe } from "../api/access.ts";
import { detailOf } from "../api/resources.ts";
import { wordsIn } from "../api/words.ts";
import { signOut } from "../session/session.ts";
import type { TextId } from "../texts/catalogues.ts";
import { type Texts, useTexts } from "../texts/texts.ts";
import { clickShortcut, usePageActions } from "./actions.ts";
import { Dialog } from "./dialog.tsx";
import { shownOf, useFound } from "./found-resources.ts";
import { Icon, type IconName } from "./icon.tsx";
import { useViews } from "./navigation.tsx";
import { namesakeMark, useOrganizations } from "./organization.tsx";
import styles from "./palette.module.css";

interface Choice {
  readonly key: string;
  readonly name: string;
  readonly note: string;
  readonly icon?: IconName;
  /** Why the caller may not choose it. */
  readonly reason?: string | undefined;
  readonly open: () => unknown;
}

/** Scrolls an option into the list. */
function showOption(option: HTMLDivElement | null): void {
  option?.scrollIntoView({ block: "nearest" });
}

/** The dialog. Arrow keys choose, Enter opens. */
export function Palette({
  org,
  onHelp,
  onClose,
}: {
  readonly org: string;
  readonly onHelp: () => void;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const { choices, isTruncated, isSearching } = useChoices(org, typed.trim(), onHelp);
  // Another list begins at its top.
  const keys = choices.map(({ key }) => key).join(" ");
  const [listed, setListed] = useState(keys);
  if (listed !== keys) {
    setListed(keys);
    setChosen(0);
  }
  const choose = (choice: Choice | undefined) => {
    if (!choice || choice.reason !== undefined) return;
    onClose();
    // The dialog gives the focus back first: what opens takes it.
    setTimeout(() => void choice.open());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined) setChosen((to + choices.length) % Math.max(choices.length, 1));
    else if (event.key === "Enter") choose(choices[chosen]);
    else return;
    event.preventDefault();
  };
  const optionId = (index: number) => `${listId}-${index}`;
  return (
    <Dialog title={t("palette.title")} onClose={onClose}>
      <div className="stack">
        <input
          className={styles.input}
          role="combobox"
          aria-label={t("palette.label")}
          aria-expanded={choices.length > 0}
          aria-controls={listId}
          {...(choices.length > 0 && { "aria-activedescendant": optionId(chosen) })}
          placeholder={t("palette.label")}
          value={typed}
          maxLength={1024}
          data-autofocus
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <div id={listId} role="listbox" aria-label={t("palette.results")} className={styles.list}>
          {choices.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys.
            <div
              key={choice.key}
              ref={index === chosen ? showOption : null}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              {...(choice.reason !== undefined && { "aria-disabled": true })}
              className={styles.option}
              onClick={() => choose(choice)}
            >
              <span className={styles.name}>
                <Icon name={choice.icon ?? "arrow-right"} /> <bdi>{choice.name}</bdi>
              </span>{" "}
              <span className={styles.note}>
                {choice.reason !== undefined && <Icon name="blocked" />} {choice.reason ?? choice.note}
              </span>
            </div>
          ))}
        </div>
        <p role="status" className="muted small">
          {isTruncated && t("palette.more")}
          {choices.length === 0 && t(isSearching ? "picker.searching" : "palette.none")}
        </p>
      </div>
    </Dialog>
  );
}

/** The kinds of resources that the caller can create, wherever the page is. `dialog` is in the address of the view. */
const creations = [
  { method: GroupsService.method.createGroup, to: "/o/$org/groups/$", search: {}, text: "palette.newGroup" },
  {
    method: IdentitiesService.method.createIdentity,
    to: "/o/$org/workloads/$",
    search: {},
    text: "palette.newIdentity",
  },
  {
    method: GroupInvitesService.method.createGroupInvite,
    to: "/o/$org/sign-in/$",
    search: { tab: "invites" },
    text: "palette.newInvite",
  },
  { method: RolesService.method.createRole, to: "/o/$org/roles/$", search: {}, text: "palette.newRole" },
  {
    method: RoleBindingsService.method.createRoleBinding,
    to: "/o/$org/access",
    search: { dialog: "grant" },
    text: "palette.grant",
  },
  {
    method: MembershipsService.method.removeMember,
    to: "/o/$org/people/$",
    // The list, where somebody is chosen first.
    search: { dialog: undefined },
    text: "palette.removeMember",
  },
  {
    method: SubscriptionsService.method.createSubscription,
    to: "/o/$org/events/$",
    search: {},
    text: "palette.newSubscription",
  },
] as const;

function useChoices(org: string, typed: string, onHelp: () => void) {
  const { t } = useTexts();
  const navigate = useNavigate();
  // The address is data: the router cannot check it.
  const go = (to: string, params: object, search: object) =>
    navigate({ to, params, search } as unknown as Parameters<typeof navigate>[0]);
  const { data: caller } = useMe();
  const { setColorScheme } = useMantineColorScheme();
  const scheme = useComputedColorScheme("light");
  const onPage = usePageActions().map(
    ({ text, missing, act }): Choice => ({
      key: `page ${text}`,
      name: text,
      note: t("palette.onPage"),
      open: act,
      reason: reasonOf(missing),
    }),
  );
  const inOrganization = (org === "" ? [] : creations)
    .map(
      ({ method, to, search, text }): Choice => ({
        key: text,
        name: t(text),
        note: t("palette.action"),
        reason: reasonOf(missingFor(caller, method, org)),
        open: () => go(to, { org, _splat: "" }, { dialog: "new", ...search }),
      }),
    )
    .filter(({ name }) => !onPage.some((one) => one.name === name));
  const views = useViews(org).map(
    ({ to, text, key, icon }): Choice => ({
      key: to,
      icon,
      name: t(text),
      note: `${t("palette.view")} · g ${key}`,
      open: () => go(to, { org, _splat: "" }, {}),
    }),
  );
  const view = (to: string, text: TextId, key: string): Choice => ({
    key: to,
    name: t(text),
    note: `${t("palette.view")} · g ${key}`,
    open: () => go(to, {}, {}),
  });
  const setting = (text: TextId, open: () => unknown): Choice => ({
    key: text,
    name: t(text),
    note: t("palette.action"),
    open,
  });
  const allOrganizations = useOrganizations() ?? [];
  const mark = namesakeMark(allOrganizations);
  const organizations = allOrganizations
    .filter(({ uid }) => uid !== org)
    .map(
      (one): Choice => ({
        key: `organization ${one.uid}`,
        name: one.name,
        note: `${t("palette.organization")} ${mark(one)}`,
        open: () => go("/o/$org/overview", { org: one.uid }, {}),
      }),
    );
  const { found, isTruncated, isSearching } = useFound(org, typed);
  const fixed = [
    ...onPage,
    ...inOrganization,
    ...views,
    view("/me", "nav.me", "m"),
    ...(isOperator(caller) ? [view("/operate", "nav.operate", "t")] : []),
    setting("palette.copyAs", () => clickShortcut("c")),
    setting("palette.keys", onHelp),
    setting("palette.scheme", () => setColorScheme(scheme === "dark" ? "light" : "dark")),
    setting("palette.signOut", signOut),
    ...(typed === "" ? [] : organizations),
  ];
  const words = wordsIn(typed);
  const allowed = fixed.filter(({ reason }) => reason === undefined);
  return {
    choices: [
      ...allowed.filter(({ name }) => words.isIn(name)),
      ...found.flatMap((one) => choiceOf(one, t, (to, uid, search) => go(to, { org, _splat: uid }, search))),
      ...allowed.filter(({ name }) => !words.isIn(name) && words.isMeantBy(name)),
      // What the caller may not do comes last, and says why.
      ...fixed.filter(({ name, reason }) => reason !== undefined && words.isMeantBy(name)),
    ],
    isTruncated,
    isSearching,
  };

  function reasonOf(missing: readonly string[]): string | undefined {
    return missing.length === 0 ? undefined : t("state.missing", { capabilities: missing.join(", ") });
  }
}

/** Returns a resource that was found as a choice. */
function choiceOf(found: FoundResource, t: Texts, go: (to: string, uid: string, search: object) => unknown): Choice[] {
  const { kind, uid, name } = found;
  const shown = shownOf(kind);
  if (!shown) return [];
  const { uid: selected = uid, search = {} } = shown.address?.(found) ?? {};
  const note = [t(shown.text), detailOf(found)].filter((text) => text !== "").join(" · ");
  const open = () => go(shown.to, selected, search);
  return [{ key: `${kind} ${uid || name}`, name: name || t("picker.notJoined"), note, icon: shown.icon, open }];
}
