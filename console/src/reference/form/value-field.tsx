// A field of any kind: a value, a list, a map or a message. A field without a form stays in JSON, with the reason.
import { type ReactNode, useRef } from "react";
import { flushSync } from "react-dom";
import { useTexts } from "../../texts/texts.ts";
import { pathOf } from "./check.ts";
import { type FormField, fieldsOf, fits, itemOf, kindOf, withMember } from "./fields.ts";
import styles from "./form.module.css";
import { useForm, useProblem } from "./form-context.ts";
import { MapEntries } from "./map-field.tsx";
import { FieldName, Hint, Problem, ScalarField, useHint, type ValueProps } from "./scalar-field.tsx";

/** A field with its value. */
export function ValueField(props: ValueProps) {
  const { document } = useForm();
  const kind = kindOf(document, props.field.schema);
  if (!fits(kind, props.value) || kind === "json") return <JsonField {...props} />;
  if (kind === "list") return <ListField {...props} />;
  if (kind === "map") return <MapField {...props} />;
  return kind === "message" ? <MessageField {...props} /> : <ScalarField {...props} />;
}

/** The fields of a message, without a frame. */
export function MessageFields({ field: message, value, path, onChange }: ValueProps) {
  const { t } = useTexts();
  const form = useForm();
  const fields = fieldsOf(form, message, path === "" ? form.given : []);
  const members = (value ?? {}) as Readonly<Record<string, unknown>>;
  const names = fields.map(({ name }) => name);
  const others = Object.keys(members).filter((name) => !names.includes(name));
  // An emptied text stays the chosen field of its oneof: its control would be gone while somebody types.
  const unset = ({ field, schema }: FormField) =>
    field?.oneof !== undefined && kindOf(form.document, schema) === "text" ? "" : undefined;
  const render = (field: FormField) => (
    <ValueField
      key={field.name}
      field={field}
      value={members[field.name]}
      path={pathOf(path, field.name)}
      onChange={(changed) => onChange(withMember(value, field.name, changed ?? unset(field)))}
    />
  );
  const shown = new Set<string>();
  return (
    <>
      {fields.map((field) => {
        const oneof = field.field?.oneof;
        if (oneof === undefined) return render(field);
        if (shown.has(oneof)) return null;
        shown.add(oneof);
        const choices = fields.filter((one) => one.field?.oneof === oneof);
        return <Oneof key={oneof} name={oneof} choices={choices} members={members} {...{ onChange, render }} />;
      })}
      {others.map((name) => (
        <OnlyJson key={name} name={name} path={pathOf(path, name)} reason={t("reference.form.otherMember")} />
      ))}
    </>
  );
}

/** The fields of which only one can be set. */
function Oneof({
  name,
  choices,
  members,
  onChange,
  render,
}: {
  readonly name: string;
  readonly choices: readonly FormField[];
  readonly members: Readonly<Record<string, unknown>>;
  readonly onChange: (value: unknown) => void;
  readonly render: (field: FormField) => ReactNode;
}) {
  const { t } = useTexts();
  const { document } = useForm();
  const set = choices.filter((one) => members[one.name] !== undefined);
  const choose = (chosen: string) => {
    const others = Object.entries(members).filter(([member]) => !choices.some((one) => one.name === member));
    const field = choices.find((one) => one.name === chosen);
    onChange(Object.fromEntries(field ? [...others, [chosen, emptyOf(kindOf(document, field.schema))]] : others));
  };
  return (
    <fieldset className={styles.group}>
      <legend>
        <code>{name}</code>
      </legend>
      <label className="field">
        {t("reference.form.oneof")}
        <select className="select" value={set[0]?.name ?? ""} onChange={({ target }) => choose(target.value)}>
          <option value="">–</option>
          {choices.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
      </label>
      {set.map(render)}
    </fieldset>
  );
}

/** Returns the value that a field has when it is added. */
function emptyOf(kind: string): unknown {
  if (kind === "list") return [];
  if (kind === "boolean") return true;
  return kind === "map" || kind === "message" ? {} : "";
}

function MessageField(props: ValueProps) {
  const { field, value, path, onChange, action } = props;
  const isSet = value !== undefined;
  return (
    <Group field={field} path={path} action={action}>
      {(focus) => (
        <>
          {isSet && <MessageFields {...props} />}
          {!action && (
            <AddOrRemove
              name={field.name}
              isSet={isSet}
              onChange={(set) => focus(() => onChange(set ? {} : undefined))}
            />
          )}
        </>
      )}
    </Group>
  );
}

function AddOrRemove({
  name,
  isSet,
  onChange,
}: {
  readonly name: string;
  readonly isSet: boolean;
  readonly onChange: (isSet: boolean) => void;
}) {
  const { t } = useTexts();
  return (
    <div>
      <button type="button" className="plain" data-add={!isSet || undefined} onClick={() => onChange(!isSet)}>
        {t(isSet ? "reference.form.remove" : "reference.form.add", { name })}
      </button>
    </div>
  );
}

function ListField({ field, value, path, onChange, action }: ValueProps) {
  const { t } = useTexts();
  const { document } = useForm();
  const items = (value ?? []) as readonly unknown[];
  const change = (changed: readonly unknown[]) => onChange(changed.length === 0 ? undefined : changed);
  return (
    <Group field={field} path={path} action={action}>
      {(focus) => (
        <>
          {items.map((item, index) => {
            const own = itemOf(field, index + 1);
            return (
              <ValueField
                key={index}
                field={own}
                value={item}
                path={pathOf(path, index)}
                onChange={(changed) => change(items.with(index, changed ?? emptyOf(kindOf(document, own.schema))))}
                action={
                  <button
                    type="button"
                    className={`plain ${styles.remove}`}
                    aria-label={t("reference.form.remove", { name: own.name })}
                    onClick={() => focus(() => change(items.toSpliced(index, 1)))}
                  >
                    ✕
                  </button>
                }
              />
            );
          })}
          <div>
            <button
              type="button"
              className="plain"
              data-add
              onClick={() => focus(() => change([...items, emptyOf(kindOf(document, itemOf(field, 1).schema))]))}
            >
              {t("reference.form.add", { name: field.name || t("reference.form.item") })}
            </button>
          </div>
        </>
      )}
    </Group>
  );
}

function MapField({ field, value, path, onChange, action }: ValueProps) {
  const { document } = useForm();
  return (
    <Group field={field} path={path} action={action}>
      {(focus) => (
        <MapEntries
          {...{ field, path, focus }}
          entries={Object.entries((value ?? {}) as object)}
          empty={emptyOf(kindOf(document, itemOf(field, "").schema))}
          onChange={(entries) => onChange(entries.length === 0 ? undefined : Object.fromEntries(entries))}
          render={(props) => <ValueField {...props} />}
        />
      )}
    </Group>
  );
}

/** A frame with the name of a field. Its content gets a function that makes a change, and moves the focus to what was added. */
function Group({
  field,
  path,
  action,
  children,
}: Pick<ValueProps, "field" | "path" | "action"> & {
  readonly children: (focus: (change: () => void) => void) => ReactNode;
}) {
  const frame = useRef<HTMLFieldSetElement>(null);
  const problem = useProblem(path);
  const hint = useHint(field);
  const focus = (change: () => void) => {
    const controls = () => [...(frame.current?.querySelectorAll<HTMLElement>("input, select, textarea") ?? [])];
    const before = controls();
    flushSync(change);
    const [added] = controls().filter((one) => !before.includes(one));
    (added ?? frame.current?.querySelector<HTMLElement>(":scope > div > [data-add]"))?.focus();
  };
  return (
    <fieldset className={styles.group} ref={frame}>
      <legend>
        <FieldName field={field} /> {action}
      </legend>
      {hint !== undefined && <Hint text={hint} />}
      {problem !== undefined && <Problem text={problem} />}
      {children(focus)}
    </fieldset>
  );
}

/** A value that the form cannot show. */
function JsonField({ field: { name, type }, path }: ValueProps) {
  const { t } = useTexts();
  const free = /^google\.protobuf\.(Struct|Value|ListValue|Any)$/.test(type ?? "");
  return <OnlyJson name={name} path={path} reason={t(free ? "reference.form.free" : "reference.form.misfit")} />;
}

function OnlyJson({ name, path, reason }: { readonly name: string; readonly path: string; readonly reason: string }) {
  const { t } = useTexts();
  const { onJson } = useForm();
  const problem = useProblem(path);
  return (
    <div className="field">
      <code>{name}</code>
      <p className="muted small">
        {reason}{" "}
        <button type="button" className="link" onClick={onJson}>
          {t("reference.form.toJson")}
        </button>
      </p>
      {problem !== undefined && <Problem text={problem} />}
    </div>
  );
}
