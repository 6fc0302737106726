// The last step of the wizard: what to copy, the first exchange, and the way back.
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useState } from "react";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ReposService } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { RepositoriesService } from "../../../../gen/gatehouse/registry/v1/repositories_pb.ts";
import { may, missingFor, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { Form } from "../../shell/form.tsx";
import { Verdict } from "../../shell/look.tsx";
import { ActionButton, Code } from "../../shell/parts.tsx";
import { notify } from "../../shell/toast.tsx";
import { useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { wasUsed } from "./identity-facts.ts";
import type { KindId, Values } from "./wizard-kinds.ts";
import { guideOf, registryLine, type Task, tasks } from "./wizard-script.ts";

const { getIdentity, deleteIdentity } = IdentitiesService.method;
const { listRepos } = ReposService.method;
const { getRepository } = RepositoriesService.method;

interface GuideProps {
  readonly kind: KindId;
  readonly identity: Pick<Identity, "uid" | "name">;
  readonly values: Values;
  readonly task: Task["id"] | "none";
  readonly onDone: () => void;
  readonly onUndone: () => void;
}

/** Shows what to copy, and waits for the first exchange. */
export function Guide({ kind, identity, values, task: taskId, onDone, onUndone }: GuideProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const [isUndoing, setUndoing] = useState(false);
  const task = tasks.find(({ id }) => id === taskId) ?? tasks[2];
  const { isOfRegistry } = task;
  const host = useRegistryHost(isOfRegistry);
  if (isUndoing) return <Undo identity={identity} onDone={onUndone} onClose={() => setUndoing(false)} />;
  const about = { uid: identity.uid, url: location.origin, values, host, task };
  return (
    <div className="stack">
      <p>{t("wizard.guide", { name: identity.name })}</p>
      <Code what={t("wizard.file")} text={guideOf(kind, about)} />
      {isOfRegistry && host !== "" && (
        <>
          <p>{t("wizard.registry")}</p>
          <Code what={t("wizard.registryLine")} text={registryLine(host)} />
        </>
      )}
      {isOfRegistry && host === "" && <p className="muted">{t("wizard.noRegistry")}</p>}
      <FirstExchange uid={identity.uid} />
      <div className="row actions">
        <ActionButton missing={missingFor(me, deleteIdentity, identity.uid)} onClick={() => setUndoing(true)}>
          {t("wizard.undo")}
        </ActionButton>
        <div className="grow" />
        <Button data-autofocus onClick={onDone}>
          {t("wizard.done")}
        </Button>
      </div>
    </div>
  );
}

function FirstExchange({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data } = useQuery(getIdentity, { uid }, { refetchInterval: 3000, staleTime: 0 });
  return (
    <p role="status">
      {data && wasUsed(data) ? (
        <Verdict isGood>{t("wizard.seen")}</Verdict>
      ) : (
        <span className="muted">{t("wizard.waiting")}</span>
      )}
    </p>
  );
}

/** Asks once, and deletes the identity with its role. */
function Undo({
  identity: { uid, name },
  onDone,
  onClose,
}: {
  readonly identity: Pick<Identity, "uid" | "name">;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const { t } = useTexts();
  const { mutateAsync } = useMutation(deleteIdentity);
  const remove = async () => {
    await mutateAsync({ uid });
    notify(t("identities.done.deleted", { name }));
    onDone();
    await queryClient.invalidateQueries();
  };
  return (
    <Form fields={[]} submit={remove} button={t("wizard.undoButton")} color="danger" onClose={onClose}>
      {() => (
        <p tabIndex={-1} data-autofocus>
          {t("wizard.undoText", { name })}
        </p>
      )}
    </Form>
  );
}

/** Returns the host of the registry, which the server says of each repo; empty without one that the caller may list. */
function useRegistryHost(isEnabled: boolean): string {
  const { data: me } = useMe();
  const { org } = useWorkloadsAddress();
  const { data: repos } = useQuery(
    listRepos,
    { uidp: { descendantsOf: org }, pageSize: 1 },
    { enabled: isEnabled && may(me, listRepos, org) },
  );
  const repoUid = repos?.repos[0]?.uid ?? "";
  const { data } = useQuery(getRepository, { repoUid }, { enabled: repoUid !== "" });
  return data?.host ?? "";
}
