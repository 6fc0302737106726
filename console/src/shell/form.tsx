// The form of a dialog: violations stand below their field, the others above the form.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { type FormErrors, formErrors, noErrors } from "../api/field-errors.ts";
import { queryClient } from "../api/transport.ts";
import { useTexts } from "../texts/texts.ts";
import { useClosing } from "./closing.tsx";
import { discardDrafts, draftsToForget, useOpenDrafts } from "./draft.ts";
import { notify } from "./toast.tsx";

/** A field that someone else has changed while the form was open. */
export interface Difference {
  readonly field: string;
  readonly theirs: string;
  readonly mine: string;
}

/** A question that a second click answers, and the text of its button. */
export interface Confirmation {
  readonly text: string;
  readonly button: string;
}

/** The properties of a form. */
export interface FormProps {
  /** The names of the fields, as the API names them. */
  readonly fields: readonly string[];
  /** Sends the form. What it throws is shown in the form. */
  readonly submit: () => Promise<void>;
  /** The text of the button that sends: verb and noun. */
  readonly button: string;
  readonly color?: string;
  readonly isDisabled?: boolean;
  readonly onClose: () => void;
  /** The text of the button that closes; "Cancel" without one. */
  readonly cancel?: string;
  /** Shown left of the buttons, such as `CopyAs`. */
  readonly footer?: ReactNode;
  /** Reads the resource again, and returns what someone else has changed since the form was opened. */
  readonly differences?: () => Promise<readonly Difference[]>;
  /** Takes the values of the other change into the form. */
  readonly onTakeTheirs?: () => Promise<void>;
  /** A warning of something that cannot be undone. It is shown when the form is sent, and another click then sends it. */
  readonly confirm?: Confirmation | undefined;
  /** The same, if only the server knows whether there is something to confirm. */
  readonly findConfirm?: () => Promise<Confirmation | undefined>;
  /** The fields, with what is wrong with them. */
  readonly children: (errors: Readonly<Record<string, string>>) => ReactNode;
}

/** A form. Ctrl Enter sends it. */
export function Form({
  fields,
  submit,
  button,
  color,
  isDisabled = false,
  onClose,
  footer,
  confirm,
  children,
  ...props
}: FormProps) {
  const { t } = useTexts();
  const closing = useClosing();
  const [errors, setErrors] = useState<FormErrors>(noErrors);
  const [isSending, setSending] = useState(false);
  const [conflict, setConflict] = useState<readonly Difference[]>([]);
  const [warning, setWarning] = useState<Confirmation>();
  const shown = warning && (props.findConfirm !== undefined || warning.text === confirm?.text) ? warning : undefined;
  const send = async (form: HTMLFormElement | null) => {
    if (isSending || isDisabled) return;
    setSending(true);
    setErrors(noErrors);
    try {
      // The warning comes first: what the check for conflicts finds is shown once, and the next click sends the form.
      const needed = confirm ?? (await props.findConfirm?.());
      if (needed?.text !== shown?.text) setWarning(needed);
      if (needed && needed.text !== shown?.text) return;
      const found = conflict.length > 0 ? [] : ((await props.differences?.()) ?? []);
      setConflict(found);
      if (found.length > 0) return;
      const forgetDrafts = draftsToForget();
      await submit();
      forgetDrafts();
    } catch (error) {
      const found = formErrors(t, error, fields);
      setErrors(found);
      const [first] = Object.keys(found.fields);
      if (first !== undefined) form?.querySelector<HTMLElement>(`[name="${first}"]`)?.focus();
    } finally {
      setSending(false);
    }
  };
  return (
    <form
      className="stack"
      noValidate
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        event.stopPropagation();
        void send(event.currentTarget);
      }}
      onKeyDown={(event) => {
        if (event.ctrlKey && event.key === "Enter") void send(event.currentTarget);
      }}
    >
      {errors.others.map((text) => (
        <p key={text} className="notice bad" role="alert">
          {text}
        </p>
      ))}
      <Restored />
      {children(errors.fields)}
      {conflict.length > 0 && (
        <Conflict
          differences={conflict}
          onTakeTheirs={() => {
            setConflict([]);
            props.onTakeTheirs?.().catch((error) => setErrors(formErrors(t, error, fields)));
          }}
        />
      )}
      {shown && (
        <p className="notice warn" role="alert">
          {shown.text}
        </p>
      )}
      <div className="row actions">
        {footer}
        <div className="grow" />
        <Button variant="default" onClick={() => closing(onClose)}>
          {props.cancel ?? t("action.cancel")}
        </Button>
        <Button type="submit" {...(color !== undefined && { color })} loading={isSending} disabled={isDisabled}>
          {conflict.length > 0 ? t("conflict.mine") : (shown?.button ?? button)}
        </Button>
      </div>
    </form>
  );
}

/** Says that the form has what was typed before. */
function Restored() {
  const { t } = useTexts();
  const { isRestored } = useOpenDrafts();
  if (!isRestored) return null;
  const discard = (button: HTMLElement) => {
    button.closest("form")?.querySelector<HTMLElement>("[data-autofocus], [name]")?.focus();
    discardDrafts();
  };
  return (
    <div className="notice row" role="status">
      <p className="grow">{t("draft.restored")}</p>
      <Button variant="default" size="compact-sm" onClick={({ currentTarget }) => discard(currentTarget)}>
        {t("draft.discard")}
      </Button>
    </div>
  );
}

/** Shows the fields that someone else has changed while the form was open. */
function Conflict({
  differences,
  onTakeTheirs,
}: {
  readonly differences: readonly Difference[];
  readonly onTakeTheirs: () => void;
}) {
  const { t } = useTexts();
  return (
    <div className="notice warn" role="alert">
      <h3>{t("conflict.title")}</h3>
      <p>{t("conflict.text")}</p>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("conflict.field")}</th>
            <th scope="col">{t("conflict.theirs")}</th>
            <th scope="col">{t("conflict.yours")}</th>
          </tr>
        </thead>
        <tbody>
          {differences.map(({ field, theirs, mine }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>
                <bdi>{theirs}</bdi>
              </td>
              <td>
                <bdi>{mine}</bdi>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div>
        <Button variant="default" size="sm" onClick={onTakeTheirs}>
          {t("conflict.take")}
        </Button>
      </div>
    </div>
  );
}

interface SaveOptions<O> {
  /** The entity tag of the resource that the person has seen: another state of it is not changed. */
  readonly tag?: string | undefined;
  /** The message, such as "Group created". None is shown without it. */
  readonly report?: string | undefined;
  /** Takes what the server shows once, before the views read their data again. */
  readonly onSecret?: ((saved: O) => void) | undefined;
  /** Closes the form, or opens what was saved. */
  readonly onSaved?: (saved: O) => unknown;
}

/**
 * Returns a function that calls a method, has the views read their data again, and then reports it and closes the form. Deletions do it
 * in another order: views would ask for what is deleted.
 */
export function useSave<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const transport = useTransport();
  return async (
    request: MessageInitShape<I>,
    { report, onSecret, onSaved, tag }: SaveOptions<MessageShape<O>>,
  ): Promise<void> => {
    const headers = tag === undefined ? {} : { "if-match": tag };
    const saved = await callUnaryMethod(transport, method, request, { headers });
    onSecret?.(saved);
    await queryClient.invalidateQueries();
    if (report !== undefined) notify(report);
    await onSaved?.(saved);
  };
}

/**
 * Returns a function that calls a method by a button without a form, and then reports it. What the call throws is reported, too.
 */
export function useSaveNow<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const { t } = useTexts();
  const save = useSave(method);
  return async (request: MessageInitShape<I>, report: string): Promise<void> => {
    try {
      await save(request, { report });
    } catch (error) {
      notify(formErrors(t, error, []).others.join(" "));
    }
  };
}
