import { Fragment } from "react";
import type { TextId } from "../texts/catalogues.ts";
import { useTexts } from "../texts/texts.ts";
import { views } from "./navigation.tsx";
import { Dialog } from "./parts.tsx";

const keys: readonly (readonly [string, TextId])[] = [
  ["Ctrl K", "keys.palette"],
  ["/", "keys.filter"],
  ["↑ ↓ Home End", "keys.move"],
  ["→ ←", "keys.open"],
  ["Enter", "keys.enter"],
  ["w", "keys.why"],
  ["n", "keys.new"],
  ["e", "keys.edit"],
  ["Del", "keys.delete"],
  ["Ctrl Enter", "keys.send"],
  ["Esc", "keys.close"],
  ["?", "keys.help"],
];

/** The list of all keys. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  const opening = [...views.map(({ key, text }) => ({ key, text })), { key: "m", text: "nav.me" } as const];
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
