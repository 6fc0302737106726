// One identity: what it asks of a token, what it holds, and whether a token would do.
import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { callUnaryMethod, useMutation, useQuery, useTransport } from "@connectrpc/connect-query";
import { Button, Textarea, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  IdentitiesService,
  type Identity,
  IdentitySchema,
} from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { RoleBindingsService } from "../../../../gen/chainguard/platform/iam/v2beta1/role_bindings_pb.ts";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { queryClient } from "../../api/transport.ts";
import { parentOf, shortUid } from "../../api/uids.ts";
import { DeleteDialog } from "../../shell/delete-dialog.tsx";
import { Form, useEdit, useSave } from "../../shell/form.tsx";
import { useKeys } from "../../shell/keyboard.ts";
import { ActionButton, Ago, CopyAs, Copyable, Dialog, Loading } from "../../shell/parts.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { notify } from "../../shell/toast.tsx";
import { timeText, useTexts } from "../../texts/texts.ts";
import { useIdentitiesAddress } from "./address.ts";
import { demandsOf, keysEndOf, typeOf } from "./identity-facts.ts";
import { TryToken } from "./try-token.tsx";
import { Seen } from "./workloads.tsx";

const { getIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;
const { listRoleBindings } = RoleBindingsService.method;

/** The selected identity. */
export function WorkloadDetails({ uid }: { readonly uid: string }) {
  const { data: me } = useMe();
  const mayGet = may(me, getIdentity, uid);
  const { data: identity, error, refetch } = useQuery(getIdentity, { uid }, { enabled: mayGet });
  if (me && !mayGet) return <Denied capabilities={requiredBy(getIdentity)} uid={uid} />;
  if (error && !identity) return <Failure error={error} onRetry={() => void refetch()} />;
  if (!identity) return <Loading />;
  return <Details identity={identity} />;
}

function Details({ identity }: { readonly identity: Identity }) {
  const { t, language } = useTexts();
  const { data: me } = useMe();
  const { org, search, show, close } = useIdentitiesAddress();
  const { uid, name, description, createTime } = identity;
  // A service of the platform takes no token from outside.
  const mayTry = may(me, AccessService.method.explainExchange, uid) && typeOf(identity) !== "servicePrincipal";
  const keysEnd = keysEndOf(identity);
  const [mayEdit, mayDelete] = [may(me, updateIdentity, uid), may(me, deleteIdentity, uid)];
  const keys = useMemo(
    () => ({
      ...(mayEdit && { e: () => void show("edit") }),
      ...(mayDelete && { Delete: () => void show("delete") }),
    }),
    [mayEdit, mayDelete, show],
  );
  useKeys(keys);
  return (
    <section className="card stack" aria-labelledby="identity-name">
      <h2 id="identity-name">
        <bdi>{name}</bdi>
      </h2>
      <div className="row">
        <ActionButton missing={missingFor(me, updateIdentity, uid)} onClick={() => void show("edit")}>
          {t("identities.edit")}
        </ActionButton>
        <ActionButton missing={missingFor(me, deleteIdentity, uid)} onClick={() => void show("delete")}>
          {t("identities.delete")}
        </ActionButton>
        {mayTry && (
          <Button variant="default" size="sm" onClick={() => void show("try")}>
            {t("try.title")}
          </Button>
        )}
        <CopyAs method={getIdentity} request={{ uid }} />
      </div>
      {description !== "" && (
        <p>
          <bdi>{description}</bdi>
        </p>
      )}
      <dl className="facts">
        <dt>{t("identities.type")}</dt>
        <dd>{t(`type.${typeOf(identity)}`)}</dd>
        {demandsOf(identity).map(([claim, value]) => (
          <div key={claim} className="contents">
            <dt>
              <code>{claim}</code>
            </dt>
            <dd>
              <code>
                <bdi>{value}</bdi>
              </code>
            </dd>
          </div>
        ))}
        {keysEnd && (
          <>
            <dt>{t("identities.keys")}</dt>
            <dd>{t("identities.keysUntil", { time: timeText(keysEnd, language) })}</dd>
          </>
        )}
        <dt>{t("identities.lastSeen")}</dt>
        <dd>
          <Seen identity={identity} />
        </dd>
        <dt>{t("identities.created")}</dt>
        <dd>{createTime && <Ago time={timestampDate(createTime)} />}</dd>
        <dt>uid</dt>
        <dd>
          <Copyable value={uid} shown={shortUid(uid)} what="uid" />
        </dd>
        <dt>{t("identities.roles")}</dt>
        <dd>
          <HeldRoles uid={uid} />
          <Link to="/o/$org/access" params={{ org }} search={{ tab: "identity", identity: uid, group: parentOf(uid) }}>
            {t("identities.seeAccess")}
          </Link>
        </dd>
        <dt>{t("nav.audit")}</dt>
        <dd className="lines">
          <Link to="/o/$org/audit" params={{ org }} search={{ q: `actor:${uid}` }}>
            {t("identities.itsActions")}
          </Link>
          <Link to="/o/$org/audit" params={{ org }} search={{ q: `resource:${uid}` }}>
            {t("identities.itsChanges")}
          </Link>
        </dd>
      </dl>
      {search.dialog === "try" && mayTry && <TryToken identity={identity} onClose={() => void close()} />}
      {search.dialog === "edit" && mayEdit && <EditIdentity identity={identity} onClose={() => void close()} />}
      {search.dialog === "delete" && mayDelete && <DeleteIdentity identity={identity} />}
    </section>
  );
}

/** How many role bindings are shown. */
const shownBindings = 20;

/** The roles of an identity in the organization, with the groups where it has them. Nothing if the caller may not list them. */
function HeldRoles({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useIdentitiesAddress();
  const request = { identity: uid, uidp: { descendantsOf: org }, pageSize: shownBindings };
  const { data } = useQuery(listRoleBindings, request, { enabled: may(me, listRoleBindings, org) });
  if (!data) return null;
  const left = Number(data.totalCount ?? 0) - data.roleBindings.length;
  return (
    <ul className="list dense">
      {data.roleBindings.map(({ uid: binding, role, group }) => (
        <li key={binding}>
          <Link to="/o/$org/access" params={{ org }} search={{ group: group?.uid ?? org, identity: uid }}>
            <bdi>
              {t("identities.heldRole", { role: role?.name ?? "…", group: group?.name || shortUid(group?.uid ?? "") })}
            </bdi>
          </Link>
        </li>
      ))}
      {data.roleBindings.length === 0 && <li className="muted">{t("identities.noRoles")}</li>}
      {left > 0 && <li className="muted">{t("identities.moreRoles", { count: left })}</li>}
    </ul>
  );
}

const fields = ["name", "description"] as const;

function EditIdentity({ identity: read, onClose }: { readonly identity: Identity; readonly onClose: () => void }) {
  const { t } = useTexts();
  const { uid } = read;
  const transport = useTransport();
  const latest = () => callUnaryMethod(transport, getIdentity, { uid });
  const { before, mine, setMine, changed, conflict } = useEdit(read, latest, valuesOf);
  const { name, description } = mine;
  const request = { identity: create(IdentitySchema, { uid, name, description }), updateMask: { paths: changed } };
  const save = useSave(updateIdentity);
  const submit = () => save(request, { report: t("identities.done.updated", { name }), onSaved: onClose });
  return (
    <Dialog title={t("identities.editTitle", { name: before.name })} onClose={onClose}>
      <Form
        fields={fields}
        submit={submit}
        button={t("identities.save")}
        isDisabled={changed.length === 0}
        onClose={onClose}
        footer={<CopyAs method={updateIdentity} request={request} />}
        {...conflict}
      >
        {(errors) => (
          <>
            <TextInput
              name="name"
              label={t("identities.name")}
              value={name}
              error={errors.name}
              data-autofocus
              autoComplete="off"
              onChange={({ currentTarget }) => setMine({ ...mine, name: currentTarget.value })}
            />
            <Textarea
              name="description"
              label={t("identities.description")}
              value={description}
              error={errors.description}
              rows={2}
              onChange={({ currentTarget }) => setMine({ ...mine, description: currentTarget.value })}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function valuesOf({ name, description }: Identity) {
  return { name, description };
}

function DeleteIdentity({ identity: { uid, name } }: { readonly identity: Identity }) {
  const { t } = useTexts();
  const { open, close } = useIdentitiesAddress();
  const { mutateAsync } = useMutation(deleteIdentity);
  const request = { uid };
  const remove = async () => {
    await mutateAsync(request);
    notify(t("identities.done.deleted", { name }));
    await open("");
    await queryClient.invalidateQueries();
  };
  return (
    <DeleteDialog
      title={t("identities.deleteTitle", { name })}
      text={t("identities.deleteText")}
      button={t("identities.deleteButton")}
      remove={remove}
      onClose={() => void close()}
      footer={<CopyAs method={deleteIdentity} request={request} />}
    >
      <h3>{t("identities.roles")}</h3>
      <HeldRoles uid={uid} />
    </DeleteDialog>
  );
}
