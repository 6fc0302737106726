// The body of a call, as a form or as JSON. Both edit the same text.
import { useId, useState } from "react";
import { useTexts } from "../../texts/texts.ts";
import { parsedBody } from "./check-draft.ts";
import { type FormField, fits, kindOf } from "./fields.ts";
import styles from "./form.module.css";
import { FormContext, type FormState, problemText } from "./form-context.ts";
import { MessageFields, ValueField } from "./value-field.tsx";

interface BodyProps {
  readonly form: Omit<FormState, "onJson">;
  /** Undefined for a method without a schema. */
  readonly field: FormField | undefined;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** The body with a switch. A body that the form cannot show is edited as JSON, with the reason. */
export function Body({ form, field, text, onChange }: BodyProps) {
  const { t } = useTexts();
  const id = useId();
  const [mode, setMode] = useState<"form" | "json">("form");
  const value = parsedBody(text);
  const reason = reasonAgainstForm(form, field, value);
  const shown = reason === undefined ? mode : "json";
  const change = (changed: unknown) => onChange(JSON.stringify(changed ?? {}, null, 2));
  return (
    <section className="stack" aria-labelledby={id}>
      <div className={styles.head}>
        <h3 id={id} className={styles.title}>
          {t("reference.body")}
        </h3>
        <fieldset className="choices" aria-label={t("reference.form.view")}>
          {(["form", "json"] as const).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === shown}
              disabled={one === "form" && reason !== undefined}
              onClick={() => setMode(one)}
            >
              {t(`reference.form.${one}`)}
            </button>
          ))}
        </fieldset>
      </div>
      {reason !== undefined && <p className="muted small">{t(reason)}</p>}
      {shown === "form" && field ? (
        <FormContext value={{ ...form, onJson: () => setMode("json") }}>
          {kindOf(form.document, field.schema) === "message" ? (
            <MessageFields field={field} value={value} path="" onChange={change} />
          ) : (
            <ValueField field={{ ...field, name: t("reference.body") }} value={value} path="" onChange={change} />
          )}
        </FormContext>
      ) : (
        <JsonText {...{ form, text, onChange }} />
      )}
    </section>
  );
}

function reasonAgainstForm({ document }: BodyProps["form"], field: FormField | undefined, value: unknown) {
  if (!field) return "reference.form.noSchema";
  if (value instanceof Error) return "reference.form.notJson";
  const kind = kindOf(document, field.schema);
  return kind === "json" || !fits(kind, value) ? "reference.form.misfit" : undefined;
}

function JsonText({ form: { violations }, text, onChange }: Omit<BodyProps, "field">) {
  const { t } = useTexts();
  const id = useId();
  return (
    <>
      <textarea
        className="input"
        aria-label={t("reference.body")}
        rows={Math.min(16, text.split("\n").length + 1)}
        spellCheck={false}
        value={text}
        aria-invalid={violations.length > 0 || undefined}
        aria-describedby={violations.length > 0 ? id : undefined}
        onChange={({ target }) => onChange(target.value)}
      />
      {violations.length > 0 && (
        <ul id={id} className={`danger small ${styles.problems}`}>
          {violations.map((one) => (
            <li key={`${one.path} ${one.rule}`}>
              <code>{one.path || t("reference.body")}</code>: {problemText(t, one)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
