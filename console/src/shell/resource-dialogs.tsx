// The dialogs of a resource: one that creates or updates it, and one that deletes it.
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { useMutation, useTransport } from "@connectrpc/connect-query";
import { useRef } from "react";
import { queryClient } from "../api/transport.ts";
import { DeleteDialog, type DeleteDialogProps } from "./delete-dialog.tsx";
import { Dialog } from "./dialog.tsx";
import { leaveDraft, useDraft } from "./draft.ts";
import { type Difference, Form, type FormProps, useSave } from "./form.tsx";
import { CopyAs } from "./parts.tsx";
import { notify } from "./toast.tsx";

interface CallProps<I extends DescMessage, O extends DescMessage> {
  readonly title: string;
  readonly method: DescMethodUnary<I, O>;
  readonly request: MessageInitShape<I>;
  readonly onClose: () => unknown;
}

interface SaveDialogProps<I extends DescMessage, O extends DescMessage>
  extends CallProps<I, O>,
    Pick<FormProps, "fields" | "button" | "isDisabled" | "confirm" | "findConfirm" | "children"> {
  /** The request that "Copy as" shows, if it is not the one that is sent. */
  readonly copied?: MessageInitShape<I>;
  /** The message afterwards, such as "Group created". */
  readonly report?: string;
  /** The change of a resource: nothing is sent without one, nor over those of others. */
  readonly edit?: Pick<Edit<unknown, string>, "changed" | "conflict" | "tag">;
  /** Does more than to send the request, or sends another one. */
  readonly submit?: (send: Send<I, O>) => Promise<void>;
  /** Takes what the server shows once. */
  readonly onSecret?: (saved: MessageShape<O>) => void;
  /** Opens what was saved; without it the dialog is closed. */
  readonly onSaved?: (saved: MessageShape<O>) => unknown;
}

type Send<I extends DescMessage, O extends DescMessage> = (
  request?: MessageInitShape<I>,
  onSecret?: (saved: MessageShape<O>) => void,
) => Promise<void>;

/** The dialog that creates or updates a resource. Its children are the fields. */
export function SaveDialog<I extends DescMessage, O extends DescMessage>(props: SaveDialogProps<I, O>) {
  const { title, method, request, copied = request, edit, submit, onClose } = props;
  const { report, onSecret, onSaved = onClose, ...form } = props;
  const save = useSave(method);
  const send: Send<I, O> = (sent = request, takeSecret = onSecret) =>
    save(sent, { report, onSecret: takeSecret, onSaved, tag: edit?.tag() });
  return (
    <Dialog title={title} onClose={() => void onClose()}>
      <Form
        {...form}
        submit={() => (submit ? submit(send) : send())}
        isDisabled={form.isDisabled === true || edit?.changed.length === 0}
        onClose={() => void onClose()}
        footer={<CopyAs method={method} request={copied} />}
        {...edit?.conflict}
      />
    </Dialog>
  );
}

interface DeleteResourceDialogProps<I extends DescMessage, O extends DescMessage>
  extends CallProps<I, O>,
    Omit<DeleteDialogProps, "remove" | "footer" | "onClose"> {
  /** The message afterwards. */
  readonly report: string;
  /** Leaves the address of what was deleted; without it the dialog is closed. */
  readonly onDeleted?: () => unknown;
  /** Takes an error of the call, and throws the one that the dialog shows. */
  readonly onFailed?: (error: unknown) => Promise<never>;
}

/** The dialog that deletes a resource, or ends it for good. */
export function DeleteResourceDialog<I extends DescMessage, O extends DescMessage>({
  method,
  request,
  report,
  onClose,
  onDeleted = onClose,
  onFailed,
  ...dialog
}: DeleteResourceDialogProps<I, O>) {
  const { mutateAsync } = useMutation(method);
  const remove = async () => {
    await mutateAsync(request).catch(onFailed);
    notify(report);
    // Left first: the views would ask for what is deleted.
    await onDeleted();
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      {...dialog}
      remove={remove}
      onClose={() => void onClose()}
      footer={<CopyAs method={method} request={request} />}
    />
  );
}

/** The state of a form that changes a resource. */
interface Edit<Draft, Name extends string> {
  /** The values at the beginning. */
  readonly before: Draft;
  /** The values now. */
  readonly mine: Draft;
  readonly setMine: (draft: Draft) => void;
  /** The names of the values that it changes. */
  readonly changed: Name[];
  /** Reads the resource again. */
  readonly latest: () => Promise<Draft>;
  readonly conflict: Required<Pick<FormProps, "differences" | "onTakeTheirs">>;
  /** Returns the entity tag of what `latest` read, or undefined before it. */
  readonly tag: () => string | undefined;
}

/**
 * Returns the state of a form that changes a resource. `method` reads the resource again, `draftOf` has its fields as the form has
 * them, and `valuesOf` as a person compares them, by the names in the update mask.
 */
export function useEdit<I extends DescMessage, O extends DescMessage, Draft, Name extends string>(
  method: DescMethodUnary<I, O>,
  read: MessageShape<O> & { readonly uid: string },
  draftOf: (resource: MessageShape<O>) => Draft,
  valuesOf: (draft: Draft) => Readonly<Record<Name, string>>,
): Edit<Draft, Name> {
  const transport = useTransport();
  // The page reads the resource again while the form is open. A draft keeps what it began with: others may have changed the resource.
  const start = () => ({ before: draftOf(read), mine: draftOf(read) });
  const isFilled = (one: ReturnType<typeof start>) => JSON.stringify(one.mine) !== JSON.stringify(one.before);
  const [{ before, mine }, setState] = useDraft(editName(method, read.uid), start, isFilled);
  const setMine = (draft: Draft) => setState({ before, mine: draft });
  const tag = useRef<string>(undefined);
  const latest = async () => {
    const request = { uid: read.uid } as unknown as MessageInitShape<I>;
    const { header, message } = await transport.unary(method, undefined, undefined, undefined, request);
    tag.current = header.get("etag") ?? undefined;
    return draftOf(message);
  };
  const [valuesBefore, values] = [valuesOf(before), valuesOf(mine)];
  const changed = (Object.keys(values) as Name[]).filter((name) => values[name] !== valuesBefore[name]);
  const conflict = {
    differences: async () => differencesOf(changed, valuesBefore, valuesOf(await latest()), values),
    onTakeTheirs: async () => {
      const theirs = await latest();
      setState({ before: theirs, mine: theirs });
    },
  };
  return { before, mine, setMine, changed, latest, conflict, tag: () => tag.current };
}

function editName(method: DescMethodUnary, uid: string): string {
  return `${method.name} ${uid}`;
}

/** Leaves values for the form at another address that changes a resource, as `useEdit` reads them. */
export function leaveEdit<Draft>(
  address: string,
  method: DescMethodUnary,
  uid: string,
  before: Draft,
  mine: Draft,
): void {
  leaveDraft(address, editName(method, uid), { before, mine });
}

/**
 * Returns the fields that someone else has changed to something that the form does not say. `before` is what the form began with.
 */
function differencesOf<Name extends string>(
  names: readonly Name[],
  before: Readonly<Record<Name, string>>,
  now: Readonly<Record<Name, string>>,
  mine: Readonly<Record<Name, string>>,
): readonly Difference[] {
  return names
    .filter((name) => now[name] !== before[name] && now[name] !== mine[name])
    .map((name) => ({ field: name, theirs: now[name], mine: mine[name] }));
}
