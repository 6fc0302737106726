import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { IdentitiesService, type Identity } from "../../../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, missingFor, requiredBy, useMe } from "../../api/access.ts";
import { parentOf, shortUid } from "../../api/uids.ts";
import { lazyPart } from "../../shell/lazy-part.tsx";
import { ActionButton, Ago, CopyAs, Copyable, Loading } from "../../shell/parts.tsx";
import { Denied, Failure } from "../../shell/states.tsx";
import { timeText, useTexts } from "../../texts/texts.ts";
import { useWorkloadsAddress } from "./address.ts";
import { isEditable } from "./claims-draft.ts";
import { HeldRoles } from "./held-roles.tsx";
import { demandsOf, keysEndOf, typeOf } from "./identity-facts.ts";
import { Seen } from "./seen.tsx";

const EditClaims = lazyPart(async () => (await import("./claims-form.tsx")).EditClaims);
const TryToken = lazyPart(async () => (await import("./try-token.tsx")).TryToken);
const EditIdentity = lazyPart(async () => (await import("./workload-dialogs.tsx")).EditIdentity);
const DeleteIdentity = lazyPart(async () => (await import("./workload-dialogs.tsx")).DeleteIdentity);

const { getIdentity, updateIdentity, deleteIdentity } = IdentitiesService.method;

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
  const { t, locale } = useTexts();
  const { data: me } = useMe();
  const { org, search, change, close } = useWorkloadsAddress();
  const { uid, name, description, createTime } = identity;
  // A service of the platform takes no token from outside.
  const mayTry = may(me, AccessService.method.explainExchange, uid) && typeOf(identity) !== "servicePrincipal";
  const keysEnd = keysEndOf(identity);
  const mayChangeClaims = isEditable(identity);
  const [mayEdit, mayDelete] = [may(me, updateIdentity, uid), may(me, deleteIdentity, uid)];
  return (
    <section className="card stack" aria-labelledby="identity-name">
      <h2 id="identity-name">
        <bdi>{name}</bdi>
      </h2>
      <div className="row">
        <ActionButton
          shortcut="e"
          missing={missingFor(me, updateIdentity, uid)}
          onClick={() => void change({ dialog: "edit" })}
        >
          {t("identities.edit")}
        </ActionButton>
        {mayChangeClaims && (
          <ActionButton missing={missingFor(me, updateIdentity, uid)} onClick={() => void change({ dialog: "claims" })}>
            {t("claims.open")}
          </ActionButton>
        )}
        <ActionButton
          shortcut="Delete"
          missing={missingFor(me, deleteIdentity, uid)}
          onClick={() => void change({ dialog: "delete" })}
        >
          {t("identities.delete")}
        </ActionButton>
        {mayTry && (
          <Button variant="default" size="sm" onClick={() => void change({ dialog: "try" })}>
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
            <dd>{t("identities.keysUntil", { time: timeText(keysEnd, locale) })}</dd>
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
      {search.dialog === "claims" && mayEdit && mayChangeClaims && (
        <EditClaims identity={identity} onClose={() => void close()} />
      )}
      {search.dialog === "delete" && mayDelete && <DeleteIdentity identity={identity} />}
    </section>
  );
}
