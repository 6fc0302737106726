// A field for a text, a number, a boolean or a choice.
import { type ReactNode, useId, useState } from "react";
import { useSessionState } from "../../session/session.ts";
import { useTexts } from "../../texts/texts.ts";
import { resolve } from "../documents.ts";
import { Description } from "../parts.tsx";
import { type FormField, kindOf } from "./fields.ts";
import styles from "./form.module.css";
import { useForm, useProblem } from "./form-context.ts";
import { type NamedByUid, namedByUid } from "./named-by-uid.ts";
import { UidControl } from "./uid-control.tsx";

/** The value of a field, and how it changes. Undefined means that it is not set. */
export interface ValueProps {
  readonly field: FormField;
  readonly value: unknown;
  readonly path: string;
  readonly onChange: (value: unknown) => void;
  /** A button behind the name of an item. */
  readonly action?: ReactNode;
}

/** A field with its name, its comment as a hint, and what is wrong with its value. */
export function ScalarField({ field, value, path, onChange, action }: ValueProps) {
  const { t } = useTexts();
  const id = useId();
  const named = useNamedByUid(field);
  const [isTyped, setTyped] = useState(false);
  const uid = String(value ?? "");
  const isChosen = named !== undefined && !isTyped && (uid === "" || named.isUid(uid));
  const change = () => {
    setTyped(isChosen);
    // Names are chosen for uids only.
    if (uid !== "" && !named?.isUid(uid)) onChange(undefined);
  };
  const problem = useProblem(path);
  const hint = useHint(field);
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(Boolean);
  const typed = (
    <>
      <Control
        id={id}
        {...{ field, value, onChange }}
        described={described.length > 0 ? described.join(" ") : undefined}
        isInvalid={problem !== undefined}
      />
      {hint !== undefined && <Hint id={`${id}-hint`} text={hint} />}
      {problem !== undefined && <Problem id={`${id}-problem`} text={problem} />}
    </>
  );
  return (
    <div className="field">
      <div className={styles.head}>
        <label htmlFor={id}>
          <FieldName field={field} />
        </label>
        <span className="row">
          {named !== undefined && (
            <button type="button" className="link small" onClick={change}>
              {t(isChosen ? "reference.form.typeUid" : "reference.form.chooseName")}
            </button>
          )}
          {action}
        </span>
      </div>
      {isChosen ? (
        <UidControl
          kind={named.kind}
          name={field.name}
          value={uid}
          hint={hint === undefined ? undefined : <Description text={hint} />}
          {...{ id, problem, typed }}
          onChange={(chosen) => onChange(chosen === "" ? undefined : chosen)}
        />
      ) : (
        typed
      )}
    </div>
  );
}

/** Returns the resource that a field names by its uid. Without a session nobody can read names. */
function useNamedByUid(field: FormField): NamedByUid | undefined {
  const form = useForm();
  return useSessionState() === "signed-in" ? namedByUid(form, field) : undefined;
}

/** The name of a field, marked if it is required. */
export function FieldName({ field: { name, isRequired } }: { readonly field: FormField }) {
  const { t } = useTexts();
  return (
    <>
      <code>{name}</code> {isRequired && <span className="danger small">{t("reference.required")}</span>}
    </>
  );
}

/** Returns the first sentence of a field's comment; items have none. */
export function useHint({ schema, field }: FormField): string | undefined {
  const text = schema.description ?? "";
  if (text === "") return undefined;
  const [sentence = ""] = /^[\s\S]*?\.(?=\s|$)/.exec(text) ?? [text];
  return field?.type === "google.protobuf.FieldMask" ? text : sentence;
}

export function Hint({ id, text }: { readonly id?: string; readonly text: string }) {
  return (
    <div className="muted small" id={id}>
      <Description text={text} />
    </div>
  );
}

export function Problem({ id, text }: { readonly id?: string; readonly text: string }) {
  return (
    <p className={`danger small ${styles.problem}`} id={id}>
      {text}
    </p>
  );
}

interface ControlProps {
  readonly id: string;
  readonly field: FormField;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly described: string | undefined;
  readonly isInvalid: boolean;
}

function Control({ id, field, value, onChange, described, isInvalid }: ControlProps) {
  const { document } = useForm();
  const { schema } = resolve(document, field.schema);
  const kind = kindOf(document, field.schema);
  const shared = { id, "aria-describedby": described, "aria-invalid": isInvalid || undefined };
  const text = value === undefined ? "" : String(value);
  if (kind === "boolean" || kind === "choice")
    return (
      <select
        {...shared}
        className="select"
        value={text}
        onChange={({ target }) => onChange(chosen(kind, target.value))}
      >
        <option value="">–</option>
        {choicesOf(kind, schema.enum, text).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    );
  const change = (typed: string) => onChange(typed === "" ? undefined : typedValue(kind, typed));
  const input = { ...shared, className: "input", value: text, spellCheck: false, autoComplete: "off" } as const;
  if (isLong(schema.pattern, schema.maxLength, text))
    return (
      <textarea {...input} rows={Math.min(12, text.split("\n").length + 1)} onChange={(e) => change(e.target.value)} />
    );
  return (
    <input
      {...input}
      inputMode={kind === "number" ? "decimal" : "text"}
      placeholder={placeholderOf(field)}
      onChange={({ target }) => change(target.value)}
    />
  );
}

/** Returns the choices of a list; the value that is there is among them. */
function choicesOf(kind: "boolean" | "choice", values: readonly unknown[] = [], text: string): readonly string[] {
  const names = kind === "boolean" ? ["true", "false"] : values.map(String).filter((one) => !/_UNSPECIFIED$/.test(one));
  return text === "" || names.includes(text) ? names : [...names, text];
}

function chosen(kind: "boolean" | "choice", text: string): unknown {
  if (text === "") return undefined;
  return kind === "boolean" ? text === "true" : text;
}

/** Returns what is typed. A number that is not complete stays a text. */
function typedValue(kind: string, text: string): unknown {
  const number = Number(text);
  return kind === "number" && String(number) === text && Number.isFinite(number) ? number : text;
}

/** Whether a text may have lines: then `Enter` begins one. */
function isLong(pattern: string | undefined, maxLength = 0, text: string): boolean {
  return text.includes("\n") || (maxLength > 4096 && (pattern === undefined || new RegExp(pattern, "u").test("a\nb")));
}

/** Returns an example of texts with a form of their own. */
function placeholderOf({ schema, field }: FormField): string | undefined {
  if (schema.example !== undefined) return String(schema.example);
  if (schema.format === "date-time") return "2026-01-31T12:00:00Z";
  if (schema.contentEncoding === "base64") return "base64";
  return field?.type === "google.protobuf.Duration" ? "3600s" : undefined;
}
