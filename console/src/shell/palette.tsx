// The palette: views and resources by a few letters, or a resource by its uid. Loaded when it is opened first.
import { useQuery } from "@connectrpc/connect-query";
import { useNavigate } from "@tanstack/react-router";
import { type KeyboardEvent, useId, useState } from "react";
import { type FoundResource, ResourceKind, SearchService } from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { isOperator, useMe } from "../api/access.ts";
import { shortUid } from "../api/uids.ts";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";
import { useViews } from "./navigation.tsx";
import { Dialog, useDelayed } from "./parts.tsx";

/** Where a resource of each kind is shown. */
const addresses: Readonly<
  Record<number, { readonly to: string; readonly search: object; readonly text: TextId } | undefined>
> = {
  [ResourceKind.GROUP]: { to: "/o/$org/groups/$", search: {}, text: "one.groups" },
  [ResourceKind.IDENTITY]: { to: "/o/$org/identities/$", search: {}, text: "one.identities" },
  [ResourceKind.ROLE]: { to: "/o/$org/roles/$", search: {}, text: "one.roles" },
  [ResourceKind.IDENTITY_PROVIDER]: {
    to: "/o/$org/identities/$",
    search: { tab: "providers" },
    text: "one.identity_providers",
  },
  [ResourceKind.REPO]: { to: "/o/$org/registry/$", search: {}, text: "one.repos" },
};

interface Choice {
  readonly key: string;
  readonly name: string;
  readonly note: string;
  readonly open: () => unknown;
}

/** The dialog. Arrow keys choose, Enter opens. */
export function Palette({ org, onClose }: { readonly org: string; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const choices = useChoices(org, typed.trim());
  // Another list begins at its top.
  const keys = choices.map(({ key }) => key).join(" ");
  const [listed, setListed] = useState(keys);
  if (listed !== keys) {
    setListed(keys);
    setChosen(0);
  }
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    onClose();
    void choice.open();
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
          className="palette-input"
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
        <div id={listId} role="listbox" aria-label={t("palette.results")} className="palette-list">
          {choices.map((choice, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys.
            <div
              key={choice.key}
              id={optionId(index)}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              className="palette-option"
              onClick={() => choose(choice)}
            >
              <bdi>{choice.name}</bdi> <span className="muted">{choice.note}</span>
            </div>
          ))}
        </div>
        {choices.length === 0 && <p role="status">{t("palette.none")}</p>}
      </div>
    </Dialog>
  );
}

function useChoices(org: string, typed: string): readonly Choice[] {
  const { t } = useTexts();
  const navigate = useNavigate();
  const views = useViews(org).map(
    ({ to, text }): Choice => ({
      key: to,
      name: t(text),
      note: t("palette.view"),
      open: () => navigate({ to, params: { org, _splat: "" } }),
    }),
  );
  const me: Choice = { key: "/me", name: t("nav.me"), note: t("palette.view"), open: () => navigate({ to: "/me" }) };
  const operate: Choice = { ...me, key: "/operate", name: t("nav.operate"), open: () => navigate({ to: "/operate" }) };
  const { data: caller } = useMe();
  const query = useDelayed(typed, 120);
  const { data } = useQuery(
    SearchService.method.search,
    { parent: org, query, pageSize: 8 },
    { enabled: org !== "" && query !== "", refetchInterval: false },
  );
  const wanted = typed.toLowerCase();
  const found = typed === "" || query !== typed ? [] : (data?.resources ?? []);
  return [
    ...[...views, me, ...(isOperator(caller) ? [operate] : [])].filter(({ name }) =>
      name.toLowerCase().startsWith(wanted),
    ),
    ...found.flatMap((one) => choiceOf(one)),
  ];

  function choiceOf({ kind, uid, name }: FoundResource): Choice[] {
    const address = addresses[kind];
    if (!address) return [];
    const { to, search, text } = address;
    // The address is data: the router cannot check it.
    const open = () =>
      navigate({ to, params: { org, _splat: uid }, search } as unknown as Parameters<typeof navigate>[0]);
    return [{ key: `${kind} ${uid}`, name, note: `${t(text)} ${shortUid(uid)}`, open }];
  }
}
