// A pull token: an identity with a key that the browser makes, and a token signed with it. Neither key nor token is sent to the server.
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { useMutation, useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { useState } from "react";
import { IdentitiesService, IdentitySchema } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import {
  RoleBindingSchema,
  RoleBindingsService,
} from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { RolesService } from "../../../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";
import type { Repo } from "../../../../gen/chainguard/platform/registry/v2beta1/repos_pb.ts";
import { dayMs } from "../../api/durations.ts";
import { newKey } from "../../api/new-key.ts";
import { parentOf } from "../../api/uids.ts";
import { Dialog } from "../../shell/dialog.tsx";
import { TextField } from "../../shell/fields.tsx";
import { Form, useSave } from "../../shell/form.tsx";
import { Code, CopyAs } from "../../shell/parts.tsx";
import { pullCommand, usePulledTag, useRepository } from "../../shell/pull.ts";
import { SecretOnce } from "../../shell/secret.tsx";
import { useTexts } from "../../texts/texts.ts";

const { createIdentity } = IdentitiesService.method;
const { createRoleBinding } = RoleBindingsService.method;
const { listRoles } = RolesService.method;

/** Nobody answers at this issuer: only the key of the identity counts. */
const issuer = "https://pull-token.gatehouse.internal";

interface Made {
  readonly uid: string;
  readonly token: string;
}

/** The dialog: a form, and then the token once. */
export function PullToken({ repo, onClose }: { readonly repo: Repo; readonly onClose: () => void }) {
  const { t } = useTexts();
  const [made, setMade] = useState<Made>();
  return (
    <Dialog title={t("registry.newPullToken")} onClose={onClose}>
      {made ? (
        <Login repo={repo} made={made} onClose={onClose} />
      ) : (
        <PullTokenForm repo={repo} onClose={onClose} onMade={setMade} />
      )}
    </Dialog>
  );
}

function PullTokenForm({
  repo,
  onClose,
  onMade,
}: {
  readonly repo: Repo;
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}) {
  const { t } = useTexts();
  const [name, setName] = useState("");
  const [days, setDays] = useState("90");
  // A repeated attempt does not create the identity again.
  const [created, setCreated] = useState<Made>();
  const { data: roles } = useQuery(listRoles, { name: "registry.pull", pageSize: 1 });
  const newIdentity = useMutation(createIdentity);
  const saveBinding = useSave(createRoleBinding);
  const parent = parentOf(repo.uid);
  const roleUid = roles?.roles[0]?.uid ?? "";
  const endMs = Date.now() + Number(days) * dayMs;
  const requestFor = (subject: string, issuerKeys: string) => ({
    parent,
    identity: create(IdentitySchema, {
      name,
      relationship: {
        case: "staticKeys",
        value: {
          issuer,
          subject,
          issuerKeys,
          ...(Number.isFinite(endMs) && { expirationTime: timestampFromMs(endMs) }),
        },
      },
    }),
  });
  const make = async (): Promise<Made> => {
    const [key, subject] = [await newKey(), crypto.randomUUID()];
    const { uid } = await newIdentity.mutateAsync(requestFor(subject, key.publicKeys));
    const seconds = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, sub: subject, aud: location.origin, iat: seconds, exp: Math.floor(endMs / 1000) };
    return { uid, token: await key.sign(claims) };
  };
  const submit = async () => {
    const made = created ?? (await make());
    setCreated(made);
    const roleBinding = create(RoleBindingSchema, { identityUid: made.uid, roleUid });
    await saveBinding({ parent, roleBinding }, { onSecret: () => onMade(made) });
  };
  return (
    <Form
      fields={["name", "expiration_time"]}
      submit={submit}
      button={t("registry.makePullToken")}
      isDisabled={name === "" || roleUid === "" || !(Number(days) > 0)}
      onClose={onClose}
      footer={<CopyAs method={createIdentity} request={requestFor("SUBJECT", "JSON_WEB_KEY_SET")} />}
    >
      {(errors) => (
        <>
          <p>{t("registry.pullTokenHelp")}</p>
          <TextField
            name="name"
            label={t("registry.tokenName")}
            description={t("registry.tokenNameHelp")}
            value={name}
            error={errors.name}
            data-autofocus
            onChange={setName}
          />
          <TextField
            name="expiration_time"
            label={t("registry.tokenDays")}
            description={t("registry.tokenDaysHelp")}
            inputMode="numeric"
            value={days}
            error={errors.expiration_time}
            onChange={setDays}
          />
        </>
      )}
    </Form>
  );
}

/** The commands of a new pull token, with the token itself. */
function Login({ repo, made, onClose }: { readonly repo: Repo; readonly made: Made; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { host, reference } = useRepository(repo.uid);
  const tag = usePulledTag(repo.uid);
  const commands = [
    `printf %s "$PULL_TOKEN" | docker login ${host} -u ${made.uid} --password-stdin`,
    ...(reference === "" || tag === null ? [] : [pullCommand(reference, tag)]),
  ];
  return (
    <div className="stack">
      <SecretOnce what={t("registry.pullToken")} value={made.token} fileName={`${repo.name}-pull-token.txt`} />
      <p>{t("registry.pullTokenUse")}</p>
      <Code what={t("registry.tokenCommands")} text={commands.join("\n")} />
      <div className="row">
        <div className="grow" />
        <Button onClick={onClose}>{t("action.close")}</Button>
      </div>
    </div>
  );
}
