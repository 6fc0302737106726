import { type TextId, useTexts } from "../texts/texts.ts";
import { Dialog } from "./parts.tsx";

const keys: readonly (readonly [string, TextId])[] = [
  ["g o", "keys.overview"],
  ["g g", "keys.groups"],
  ["g u", "keys.me"],
  ["/", "keys.filter"],
  ["↑ ↓ Home End", "keys.move"],
  ["→ ←", "keys.open"],
  ["n", "keys.new"],
  ["e", "keys.edit"],
  ["Del", "keys.delete"],
  ["?", "keys.help"],
];

/** The list of all keys. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTexts();
  return (
    <Dialog title={t("app.help")} onClose={onClose}>
      <dl className="facts">
        {keys.map(([combination, text]) => (
          <div key={combination} style={{ display: "contents" }}>
            <dt>
              <kbd>{combination}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
