// The page of an access request: who asks for what and why, what others decided, and what the caller can do.
import { type Duration, durationMs, type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import {
  type AccessRequest,
  type AccessRequestDecision,
  AccessRequestState,
  AccessRequestsService,
} from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { holdsAt, useMe } from "../../api/access.ts";
import { useNamed } from "../../api/naming.ts";
import { useResolved } from "../../api/resources.ts";
import { shortUid } from "../../api/uids.ts";
import { GroupPath } from "../../shell/group-path.tsx";
import { PageHead, Verdict } from "../../shell/look.tsx";
import { ActionButton, Ago, CopyAs, Copyable } from "../../shell/parts.tsx";
import { ProfileLink } from "../../shell/profile-link.tsx";
import { requestText } from "../../shell/requests/columns.tsx";
import { useMyRequests, waitingIn } from "../../shell/requests/my-requests.ts";
import { ownAction } from "../../shell/requests/own-requests.tsx";
import { RequestStatus } from "../../shell/requests/state-pill.tsx";
import { RolePill } from "../../shell/role-pill.tsx";
import { UnreadPage } from "../../shell/states.tsx";
import { lengthText, useTexts } from "../../texts/texts.ts";
import { useRequestsAddress } from "./address.ts";
import { Decisions } from "./inbox.tsx";

const { getAccessRequest } = AccessRequestsService.method;

/** The page. */
export function RequestPage({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { org } = useRequestsAddress();
  const { data: request, error, refetch } = useQuery(getAccessRequest, { uid });
  if (!request) return <UnreadPage method={getAccessRequest} uid={uid} error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <PageHead
        path={
          <Link to="/o/$org/requests/$" params={{ org, _splat: "" }}>
            {t("nav.requests")}
          </Link>
        }
        title={<bdi>{requestText(t, request)}</bdi>}
      >
        <CopyAs method={getAccessRequest} request={{ uid }} />
        <Actions request={request} />
      </PageHead>
      <div className="stack">
        <Facts request={request} />
        {request.breakGlass ? <Acknowledgement request={request} /> : <DecisionList request={request} />}
      </div>
    </>
  );
}

/** The buttons of those who may decide, of the requester, and of those who may take the role away. */
function Actions({ request }: { readonly request: AccessRequest }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { change } = useRequestsAddress();
  const { data } = useMyRequests();
  const { uid, identityUid, groupUid, state } = request;
  if (waitingIn(data)?.some((one) => one.uid === uid)) return <Decisions request={request} isPage />;
  const isOwn = me?.subject === identityUid;
  const own = isOwn ? ownAction(request) : undefined;
  const mayEnd = state === AccessRequestState.ACTIVE && holdsAt(me, "role_bindings.delete", groupUid);
  const action = own ?? (mayEnd ? "end" : undefined);
  if (action === undefined) return null;
  const text = action === "cancel" ? "requests.cancel" : isOwn ? "requests.giveBack" : "requests.end";
  return (
    <ActionButton missing={[]} onClick={() => void change({ dialog: action, request: uid })}>
      {t(text)}
    </ActionButton>
  );
}

function Facts({ request }: { readonly request: AccessRequest }) {
  const { t, locale } = useTexts();
  const { identityUid, identityName, groupUid, roleUid, duration } = request;
  const named = useNamed([identityUid]);
  const names = useResolved([groupUid]);
  const lengthOf = (length: Duration) => {
    const text = lengthText(durationMs(length), locale);
    return request.breakGlass ? text : t("requests.fromApproval", { length: text });
  };
  return (
    <section className="card stack" aria-labelledby="request">
      <h2 id="request">{t("requests.request")}</h2>
      <dl className="facts">
        <dt>{t("requests.status")}</dt>
        <dd>
          <RequestStatus request={request} />
        </dd>
        <dt>{t("requests.who")}</dt>
        <dd>
          <ProfileLink identity={{ uid: identityUid }}>
            <bdi>{identityName || named(identityUid)}</bdi>
          </ProfileLink>
        </dd>
        <dt>{t("requests.role")}</dt>
        <dd>
          <RolePill binding={{ roleUid, roleName: request.roleName }} />
        </dd>
        <dt>{t("requests.group")}</dt>
        <dd>
          <GroupPath uid={groupUid} names={names} />
        </dd>
        <dt>{t("requests.length")}</dt>
        <dd>{duration && lengthOf(duration)}</dd>
        <dt>{t("requests.reason")}</dt>
        <dd>
          <bdi>{request.reason}</bdi>
        </dd>
        <Time label={t("requests.created")} time={request.createTime} />
        <Time label={t("requests.given")} time={request.startTime} />
        <dt>uid</dt>
        <dd>
          <Copyable value={request.uid} shown={shortUid(request.uid)} what="uid" />
        </dd>
      </dl>
    </section>
  );
}

function Time({ label, time }: { readonly label: string; readonly time: Timestamp | undefined }) {
  if (!time) return null;
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <Ago time={timestampDate(time)} />
      </dd>
    </>
  );
}

/** The decisions, and how many approvals are needed. */
function DecisionList({ request }: { readonly request: AccessRequest }) {
  const { t } = useTexts();
  const { decisions, requiredApprovals, state } = request;
  const named = useNamed(decisions.map(({ approverUid }) => approverUid));
  const counted = decisions.filter(({ approved, counts }) => approved && counts).length;
  return (
    <section className="card stack" aria-labelledby="decisions">
      <h2 id="decisions">{t("requests.decisions")}</h2>
      {state === AccessRequestState.PENDING && requiredApprovals !== undefined && (
        <p>{t("requests.approvals", { counted, needed: requiredApprovals })}</p>
      )}
      {decisions.length === 0 && <p className="muted">{t("requests.noDecision")}</p>}
      {decisions.length > 0 && (
        <ul className="list">
          {decisions.map((decision) => (
            <Decision key={decision.approverUid} decision={decision} who={named(decision.approverUid)} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Who acknowledged break-glass, which has no approvals. */
function Acknowledgement({ request: { acknowledgement } }: { readonly request: AccessRequest }) {
  const { t } = useTexts();
  const { identityUid = "", comment = "", acknowledgeTime } = acknowledgement ?? {};
  const named = useNamed(acknowledgement ? [identityUid] : []);
  return (
    <section className="card stack" aria-labelledby="decisions">
      <h2 id="decisions">{t("requests.breakGlass.title")}</h2>
      {!acknowledgement && <p className="warning">{t("requests.breakGlass.lead")}</p>}
      {acknowledgement && (
        <ul className="list">
          <li>
            <Verdict isGood>{t("requests.breakGlass.by")}</Verdict>
            <ProfileLink identity={{ uid: identityUid }}>
              <bdi>{named(identityUid)}</bdi>
            </ProfileLink>
            {acknowledgeTime && (
              <span className="muted">
                <Ago time={timestampDate(acknowledgeTime)} />
              </span>
            )}
            {comment !== "" && <bdi>{comment}</bdi>}
          </li>
        </ul>
      )}
    </section>
  );
}

function Decision({ decision, who }: { readonly decision: AccessRequestDecision; readonly who: string }) {
  const { t } = useTexts();
  const { approverUid, approved, comment, counts, decideTime } = decision;
  return (
    <li>
      <Verdict isGood={approved}>{t(approved ? "requests.approved" : "requests.deniedBy")}</Verdict>
      <ProfileLink identity={{ uid: approverUid }}>
        <bdi>{who}</bdi>
      </ProfileLink>
      {decideTime && (
        <span className="muted">
          <Ago time={timestampDate(decideTime)} />
        </span>
      )}
      {approved && !counts && <span className="warning">{t("requests.notCounted")}</span>}
      {comment !== "" && <bdi>{comment}</bdi>}
    </li>
  );
}
