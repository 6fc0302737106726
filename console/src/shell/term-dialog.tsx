// The dialog that sets, changes and removes the end of a role binding. Load the texts `access` and `capabilities` with it.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import type { RoleBinding } from "../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import {
  type RoleBindingTerm,
  RoleBindingTermsService,
} from "../../../gen/gatehouse/access/v1/role_binding_terms_pb.ts";
import { may, useMe } from "../api/access.ts";
import { useTexts } from "../texts/texts.ts";
import { AccessPreview, useSimulation } from "./access-preview.tsx";
import { bindingNames } from "./binding-names.ts";
import { useDraft } from "./draft.ts";
import { EndField, endAt, endFields, isPossible, noEnd, outlivesText, termOf } from "./end-field.tsx";
import { SaveDialog } from "./resource-dialogs.tsx";
import { TermPill } from "./term-pill.tsx";

const { listRoleBindingTerms, updateRoleBindingTerm } = RoleBindingTermsService.method;

interface TermDialogProps {
  readonly binding: RoleBinding;
  readonly onClose: () => Promise<void>;
}

/** The dialog. It begins with the end that the role binding has. */
export function TermDialog(props: TermDialogProps) {
  const { data: me } = useMe();
  const { uid } = props.binding;
  const mayList = may(me, listRoleBindingTerms, uid);
  const { data } = useQuery(listRoleBindingTerms, { uidp: { ids: [uid] }, pageSize: 1 }, { enabled: mayList });
  if (mayList && !data) return null;
  return <TermForm {...props} term={data?.terms[0]} />;
}

function TermForm({ binding, term, onClose }: TermDialogProps & { readonly term: RoleBindingTerm | undefined }) {
  const { t } = useTexts();
  const { uid } = binding;
  const [end, setEnd] = useDraft("term.end", term?.expireTime ? endAt(timestampDate(term.expireTime)) : noEnd);
  const value = { uid, ...termOf(end) };
  const request = { term: value, updateMask: { paths: ["ttl" in value ? "ttl" : "expire_time"] } };
  const isRemoval = end.choice === "";
  const isReady = isPossible(end) && !(isRemoval && !term?.expireTime);
  const change = isReady ? ({ case: "updateTerm", value: request } as const) : undefined;
  const { data: simulated, isBlocked } = useSimulation(change);
  // Another end changes nothing now: the preview has nothing to say then.
  const hasEffects = (simulated?.effects.length ?? 0) + (simulated?.obstacles.length ?? 0) > 0;
  return (
    <SaveDialog
      title={t("access.endTitle", bindingNames(t, binding))}
      method={updateRoleBindingTerm}
      request={request}
      fields={endFields}
      button={t(isRemoval ? "access.removeEnd" : term?.expireTime ? "access.changeEnd" : "access.setEnd")}
      report={t(isRemoval ? "access.done.endRemoved" : "access.done.endSet")}
      isDisabled={!isReady || isBlocked}
      onClose={onClose}
    >
      {(errors) => (
        <>
          {term && (
            <div>
              <TermPill startTime={term.startTime} expireTime={term.expireTime} />
            </div>
          )}
          <EndField value={end} errors={errors} obstacle={outlivesText(t, simulated)} isFirst onChange={setEnd} />
          {hasEffects && <AccessPreview change={change} />}
        </>
      )}
    </SaveDialog>
  );
}
