// The dialogs that create, change and delete rules of access requests.
import { useQuery } from "@connectrpc/connect-query";
import {
  type AccessRequestRule,
  AccessRequestRulesService,
} from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { useDraft } from "../../shell/draft.ts";
import { Picker } from "../../shell/picker.tsx";
import { DeleteResourceDialog, SaveDialog, useEdit } from "../../shell/resource-dialogs.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useRequestsAddress } from "./address.ts";
import { draftOf, fieldNames, newDraft, ruleOf, valuesOf } from "./rule-draft.ts";
import { RuleFields } from "./rule-fields.tsx";

const { getAccessRequestRule, createAccessRequestRule, updateAccessRequestRule, deleteAccessRequestRule } =
  AccessRequestRulesService.method;

/** Shows the dialog that is in the address. A new rule begins at `place`. */
export function RuleDialogs({ place }: { readonly place: string }) {
  const { data: me } = useMe();
  const { selected, search, open } = useRequestsAddress();
  const isOfRule = selected !== "" && (search.dialog === "edit" || search.dialog === "delete");
  const { data: rule } = useQuery(getAccessRequestRule, { uid: selected }, { enabled: isOfRule });
  const onClose = () => open("");
  if (search.dialog === "new" && may(me, createAccessRequestRule, place))
    return <NewRule place={place} onClose={onClose} />;
  if (!rule) return null;
  if (search.dialog === "edit" && may(me, updateAccessRequestRule, selected))
    return <EditRule rule={rule} onClose={onClose} />;
  if (search.dialog === "delete" && may(me, deleteAccessRequestRule, selected))
    return <DeleteRule rule={rule} onClose={onClose} />;
  return null;
}

function NewRule({ place, onClose }: { readonly place: string; readonly onClose: () => unknown }) {
  const { t } = useTexts();
  const { org } = useRequestsAddress();
  const [parent, setParent] = useDraft("newRule.parent", place);
  const [rule, setRule] = useDraft("newRule", newDraft);
  return (
    <SaveDialog
      title={t("requests.rules.new")}
      method={createAccessRequestRule}
      request={{ parent, accessRequestRule: ruleOf(rule) }}
      fields={[...fieldNames, "parent"]}
      button={t("requests.rules.create")}
      report={t("requests.rules.done.created", { name: rule.name })}
      isDisabled={rule.name === "" || rule.roleUids.length === 0 || parent === ""}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <RuleFields rule={rule} onChange={setRule} errors={errors} />
          <Picker
            kind="group"
            name="parent"
            label={t("requests.group")}
            description={t("requests.rules.groupHelp")}
            within={org}
            value={parent}
            error={errors.parent}
            onChange={setParent}
          />
        </>
      )}
    </SaveDialog>
  );
}

interface OfRule {
  readonly rule: AccessRequestRule;
  readonly onClose: () => unknown;
}

function EditRule({ rule, onClose }: OfRule) {
  const { t } = useTexts();
  const { uid } = rule;
  const edit = useEdit(getAccessRequestRule, rule, draftOf, valuesOf);
  const { before, mine, setMine, changed } = edit;
  return (
    <SaveDialog
      title={t("requests.rules.editTitle", { name: before.name })}
      method={updateAccessRequestRule}
      request={{ accessRequestRule: { uid, ...ruleOf(mine) }, updateMask: { paths: changed } }}
      fields={fieldNames}
      button={t("requests.rules.save")}
      report={t("requests.rules.done.updated", { name: mine.name })}
      edit={edit}
      onClose={onClose}
    >
      {(errors) => <RuleFields rule={mine} onChange={setMine} errors={errors} />}
    </SaveDialog>
  );
}

function DeleteRule({ rule, onClose }: OfRule) {
  const { t } = useTexts();
  const { uid, name } = rule;
  return (
    <DeleteResourceDialog
      title={t("requests.rules.deleteTitle", { name })}
      text={t("requests.rules.deleteText")}
      button={t("requests.rules.deleteButton")}
      method={deleteAccessRequestRule}
      request={{ uid }}
      report={t("requests.rules.done.deleted", { name })}
      onClose={onClose}
    />
  );
}
