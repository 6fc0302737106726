import { Fragment } from "react";
import { isOperator, useMe } from "../api/access.ts";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";
import { Dialog } from "./dialog.tsx";
import { views } from "./navigation.tsx";

const keys: readonly (readonly [string, TextId])[] = [
  ["Ctrl K", "keys.palette"],
  ["/", "keys.filter"],
  ["↑ ↓ Home End PgUp PgDn", "keys.move"],
  ["Space", "keys.select"],
  ["Shift ↑ ↓", "keys.extend"],
  [".", "keys.bar"],
  ["→ ←", "keys.open"],
  ["Enter", "keys.enter"],
  ["w", "keys.why"],
  ["n", "keys.new"],
  ["e", "keys.edit"],
  ["Del", "keys.delete"],
  ["c", "keys.copyAs"],
  ["Shift F10", "keys.menu"],
  ["U", "keys.utc"],
  ["[", "app.collapse"],
  ["Ctrl Enter", "keys.send"],
  ["Esc", "keys.close"],
  ["?", "keys.help"],
];

/** The list of all keys. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const opening: readonly { readonly key: string; readonly text: TextId }[] = [
    ...views,
    { key: "m", text: "nav.me" },
    ...(isOperator(me) ? ([{ key: "t", text: "nav.operate" }] as const) : []),
  ];
  return (
    <Dialog title={t("app.help")} onClose={onClose}>
      <dl className="facts">
        {opening.map(({ key, text }) => (
          <KeyLine key={key} combination={`g ${key}`}>
            {t("keys.view", { view: t(text) })}
          </KeyLine>
        ))}
        {keys.map(([combination, text]) => (
          <KeyLine key={combination} combination={combination}>
            {t(text)}
          </KeyLine>
        ))}
      </dl>
    </Dialog>
  );
}

function KeyLine({ combination, children }: { readonly combination: string; readonly children: string }) {
  return (
    <Fragment>
      <dt>
        <kbd>{combination}</kbd>
      </dt>
      <dd>{children}</dd>
    </Fragment>
  );
}
