// The dialog of an action on several rows: what is asked before, how far it is, and what became of each row.
import { Code, ConnectError } from "@connectrpc/connect";
import { type ReactNode, useEffect, useState } from "react";
import { missingFor, useMe } from "../api/access.ts";
import { formErrors } from "../api/field-errors.ts";
import { useTexts } from "../texts/texts.ts";
import type { BulkProps } from "./bulk.ts";
import { BulkResults } from "./bulk-results.tsx";
import { Dialog } from "./dialog.tsx";
import { TextField } from "./fields.tsx";
import { Form } from "./form.tsx";
import { Loading } from "./parts.tsx";
import { Failure } from "./states.tsx";
import { useBulkRun } from "./use-bulk-run.ts";

/** From how many deletions on their number has to be typed. */
const typedFrom = 11;

interface BulkDialogProps<Row> extends BulkProps<Row> {
  readonly title: (count: number) => string;
  /** The effect of the action, in a sentence. */
  readonly text?: string;
  /** The text of the button: verb and noun. */
  readonly button: string;
  /** True for a deletion: a row that is gone already counts as done. */
  readonly isDeletion?: boolean;
  /** The code of the error that says that a row needs nothing more. */
  readonly already?: Code;
  readonly isDisabled?: boolean;
  /** Leaves out rows of those that were read. */
  readonly keep?: (row: Row) => boolean;
  /** Acts on one row. Throws the reason if that fails. */
  readonly act: (row: Row) => Promise<unknown>;
  /** The fields of the action. */
  readonly children?: ReactNode;
}

/** The dialog. It acts on the rows that were selected when it opened, whose number it says. */
export function BulkDialog<Row>({ read, ...props }: BulkDialogProps<Row>) {
  const { isDeletion = false, already = isDeletion ? Code.NotFound : undefined, action, act, onDone } = props;
  const { t } = useTexts();
  const { data: me } = useMe();
  const { rows: found, error } = useRows(read);
  const rows = props.keep ? found?.filter(props.keep) : found;
  const run = useBulkRun<Row>({
    act: async (row) => {
      const missing = missingFor(me, action.method, action.placeOf(row));
      if (missing.length > 0) throw new Error(t("state.missing", { capabilities: missing.join(", ") }));
      await act(row).catch((failure) => {
        if (ConnectError.from(failure).code !== already) throw failure;
      });
    },
    // The message of the server names the uid, and the row has its name already.
    reasonOf: (failure) =>
      ConnectError.from(failure).code === Code.NotFound ? t("bulk.gone") : formErrors(t, failure, []).others.join(" "),
    onEnd: onDone,
  });
  const count = rows?.length ?? 0;
  const close = run.isRunning ? run.stop : props.onClose;
  return (
    <Dialog title={props.title(count)} onClose={close}>
      {error !== undefined && <Failure error={error} />}
      {!rows && error === undefined && <Loading lines={3} />}
      {rows && !run.results && (
        <Confirm {...props} count={count} isDeletion={isDeletion} onConfirm={() => run.start(rows)} />
      )}
      {run.results && <BulkResults run={run} results={run.results} nameOf={props.nameOf} onClose={close} />}
    </Dialog>
  );
}

/** Reads the selected rows once: what is confirmed must be what was counted. */
function useRows<Row>(read: (signal: AbortSignal) => Promise<readonly Row[]>) {
  const [first] = useState(() => read);
  const [state, setState] = useState<{ readonly rows?: readonly Row[]; readonly error?: unknown }>({});
  useEffect(() => {
    const reading = new AbortController();
    first(reading.signal).then(
      (rows) => setState({ rows }),
      (error: unknown) => !reading.signal.aborted && setState({ error }),
    );
    return () => reading.abort();
  }, [first]);
  return state;
}

interface ConfirmProps {
  readonly count: number;
  readonly text?: string;
  readonly button: string;
  readonly isDeletion: boolean;
  readonly isDisabled?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
  readonly children?: ReactNode;
}

function Confirm({ count, text, button, isDeletion, isDisabled = false, ...props }: ConfirmProps) {
  const { t } = useTexts();
  const [typed, setTyped] = useState("");
  const isTyped = isDeletion && count >= typedFrom;
  return (
    <Form
      fields={[]}
      submit={async () => props.onConfirm()}
      button={button}
      {...(isDeletion && { color: "danger" })}
      isDisabled={isDisabled || count === 0 || (isTyped && typed.trim() !== String(count))}
      onClose={props.onClose}
    >
      {() => (
        <>
          {/* The focus has to be in the form for Ctrl Enter, and not on the button that deletes. */}
          {text !== undefined && <p {...(!isTyped && { tabIndex: -1, ref: takeFocus })}>{text}</p>}
          {props.children}
          {isTyped && (
            <TextField
              label={t("delete.typeName", { name: String(count) })}
              inputMode="numeric"
              value={typed}
              ref={takeFocus}
              onChange={setTyped}
            />
          )}
        </>
      )}
    </Form>
  );
}

/** Gives the focus to an element that appears once the rows are read. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}
