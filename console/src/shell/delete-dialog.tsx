// The dialog in front of every deletion, and of what else cannot be undone.
import { type ReactNode, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./fields.tsx";
import { Form } from "./form.tsx";
import { Loading } from "./parts.tsx";

/** The properties of the dialog. */
export interface DeleteDialogProps {
  readonly title: string;
  /** The effect of the action, in a sentence. */
  readonly text: string;
  /** The text of the button: verb and noun. */
  readonly button: string;
  /** The obstacles, with links; null while they are read. */
  readonly blockers?: readonly ReactNode[] | null;
  /** The sentence above the blockers. */
  readonly blocked?: string;
  /** The text to type as a confirmation. For what can hardly be made again. */
  readonly name?: string;
  /** Whether something else stands in the way, which the children say. */
  readonly isDisabled?: boolean;
  readonly remove: () => Promise<void>;
  readonly onClose: () => void;
  readonly footer?: ReactNode;
  readonly children?: ReactNode;
}

/** Says what the deletion does, or what stands in the way. */
export function DeleteDialog({
  title,
  text,
  button,
  blockers = [],
  name,
  remove,
  onClose,
  ...props
}: DeleteDialogProps) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const isReading = blockers === null;
  const isBlocked = blockers !== null && blockers.length > 0;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        fields={[]}
        submit={remove}
        button={button}
        color="danger"
        isDisabled={props.isDisabled === true || isReading || isBlocked || (name !== undefined && typed !== name)}
        onClose={onClose}
        footer={props.footer}
      >
        {() => (
          <>
            {isReading && <Loading lines={2} />}
            {isBlocked && (
              <div className="notice warn">
                <p>{props.blocked}</p>
                <ul>
                  {blockers.map((blocker, index) => (
                    <li key={index}>{blocker}</li>
                  ))}
                </ul>
              </div>
            )}
            {!isReading && !isBlocked && (
              // The focus has to be in the form for Ctrl Enter, and not on the button that deletes.
              <p {...(name === undefined && { tabIndex: -1, "data-autofocus": true, ref: takeFocus })}>{text}</p>
            )}
            {props.children}
            {!isReading && !isBlocked && name !== undefined && (
              <TextField
                label={t("delete.typeName", { name })}
                value={typed}
                data-autofocus
                ref={takeFocus}
                onChange={setTyped}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Gives the focus to an element that appears once the obstacles are read: the dialog has given it to another one when it opened. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}
