// Dialogs that give several people or workloads a role, take roles from them, and end and delete role bindings. Load the texts `access` with
// the one for ends.
import { Code } from "@connectrpc/connect";
import { useTransport } from "@connectrpc/connect-query";
import { useRef, useState } from "react";
import {
  type RoleBinding,
  RoleBindingsService,
} from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RoleBindingTermsService } from "../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { outermostWith, useMe } from "../api/access.ts";
import { groupText, identityText } from "../api/naming.ts";
import { useTexts } from "../texts/texts.ts";
import { readRows, rowsFrom } from "./all-pages.ts";
import type { BulkProps } from "./bulk.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { forEachOf } from "./bulk-run.ts";
import { EndField, isPossible, noEnd, termOf } from "./end-field.tsx";
import { Picker } from "./picker.tsx";
import { selectionLimit } from "./selection.ts";
import { useCall } from "./use-call.ts";

const { createRoleBinding, deleteRoleBinding, listRoleBindings } = RoleBindingsService.method;
const { updateRoleBindingTerm } = RoleBindingTermsService.method;

interface OfIdentities<Row> extends BulkProps<Row> {
  /** The organization, or the group in and below which roles are taken. */
  readonly within: string;
  readonly identityOf: (row: Row) => string;
}

/** The dialog that gives a role at a group. Who has it there already needs nothing. */
export function GiveRole<Row>({ within, identityOf, ...props }: OfIdentities<Row>) {
  const { t } = useTexts();
  const call = useCall(createRoleBinding);
  const [roleUid, setRole] = useState("");
  const { data: me } = useMe();
  const [parent, setParent] = useState(() => outermostWith(me, createRoleBinding, within)[0] ?? "");
  return (
    <BulkDialog
      {...props}
      action={{ ...props.action, placeOf: () => parent }}
      title={(count) => t("bulk.give.title", { count })}
      button={t("bulk.give.button")}
      already={Code.AlreadyExists}
      isDisabled={roleUid === "" || parent === ""}
      act={(row) => call({ parent, roleBinding: { identityUid: identityOf(row), roleUid } })}
    >
      <Picker kind="role" label={t("bulk.role")} within={within} value={roleUid} onChange={setRole} />
      <Picker kind="group" label={t("bulk.place")} within={within} value={parent} onChange={setParent} />
    </BulkDialog>
  );
}

interface OfBindings<Row> extends BulkProps<Row> {
  /** Returns the uid of the role binding of a row; empty if it has none that the caller may list: then it stays. */
  readonly uidOf: (row: Row) => string;
}

/** The dialog that deletes role bindings. */
export function RemoveBindings<Row>({ uidOf, ...props }: OfBindings<Row>) {
  const { t } = useTexts();
  const call = useCall(deleteRoleBinding);
  return (
    <BulkDialog
      {...props}
      isDeletion
      title={(count) => t("bulk.bindings.title", { count })}
      text={t("bulk.bindings.text")}
      button={t("bulk.bindings.button")}
      keep={(row) => uidOf(row) !== ""}
      act={(row) => call({ uid: uidOf(row) })}
    />
  );
}

/** The dialog that gives role bindings an end, or none. */
export function SetEnds<Row>({ uidOf, ...props }: OfBindings<Row>) {
  const { t } = useTexts();
  const call = useCall(updateRoleBindingTerm);
  const [end, setEnd] = useState(noEnd);
  const term = termOf(end);
  return (
    <BulkDialog
      {...props}
      title={(count) => t("bulk.ends.title", { count })}
      button={t(end.choice === "" ? "access.removeEnd" : "access.setEnd")}
      isDisabled={!isPossible(end)}
      keep={(row) => uidOf(row) !== ""}
      act={(row) =>
        call({ term: { uid: uidOf(row), ...term }, updateMask: { paths: ["ttl" in term ? "ttl" : "expire_time"] } })
      }
    >
      <EndField value={end} errors={{}} isFirst onChange={setEnd} />
    </BulkDialog>
  );
}

/** The dialog that takes a role, or all, from people or workloads: it acts on their role bindings. */
export function TakeRoles<Row>({ within, identityOf, ...props }: OfIdentities<Row>) {
  const { t } = useTexts();
  const transport = useTransport();
  const call = useCall(deleteRoleBinding);
  const [roleUid, setRole] = useState("");
  const bindingsOf = useRef(new Map<Row, readonly RoleBinding[]>());

  async function read(signal: AbortSignal) {
    await forEachOf(await props.read(signal), async (row) => {
      const request = { identity: identityOf(row), uidp: { descendantsOf: within } };
      const list = { method: listRoleBindings, request, rowsOf: readBindings };
      bindingsOf.current.set(row, await readRows(rowsFrom(transport, list, 0, signal), selectionLimit));
    });
    return [...bindingsOf.current.values()].flat();
  }

  return (
    <BulkDialog<RoleBinding>
      action={{ ...props.action, placeOf: ({ uid }) => uid, Dialog: () => null }}
      read={read}
      isDeletion
      title={(count) => t("bulk.bindings.title", { count })}
      text={t("bulk.bindings.text")}
      button={t("bulk.bindings.button")}
      keep={({ role }) => roleUid === "" || role?.uid === roleUid}
      nameOf={({ identity, role, group }) =>
        [identityText(t, identity), role?.name ?? "…", groupText(t, group?.name)].join(" · ")
      }
      act={({ uid }) => call({ uid })}
      onDone={(done) => props.onDone(withoutBindings(bindingsOf.current, new Set(done)))}
      onClose={props.onClose}
    >
      <Picker kind="role" label={t("bulk.takenRole")} within={within} value={roleUid} onChange={setRole} />
    </BulkDialog>
  );
}

function readBindings({ roleBindings }: { readonly roleBindings: readonly RoleBinding[] }): readonly RoleBinding[] {
  return roleBindings;
}

/** Returns the rows of which all role bindings are done. */
function withoutBindings<Row>(bindingsOf: ReadonlyMap<Row, readonly RoleBinding[]>, done: ReadonlySet<RoleBinding>) {
  return [...bindingsOf].filter(([, bindings]) => bindings.every((one) => done.has(one))).map(([row]) => row);
}
