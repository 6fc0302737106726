// The changes that a person or workload made in the organization, and its last sign-in or exchange.
import { useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { ChangesService } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import { holds, mayReadChanges, useMe } from "../../api/access.ts";
import { useTexts } from "../../texts/texts.ts";
import { ChangeFeed } from "../change-feed.tsx";
import { ChangeList } from "../change-list.tsx";
import { Empty } from "../look.tsx";
import { CopyAs, Loading } from "../parts.tsx";
import { Denied, Failure } from "../states.tsx";
import { useProfileAddress } from "./address.ts";

const { listChanges } = ChangesService.method;

/** The kinds of changes by which somebody gets in, and which have a list of their own. */
const entries = ["sign_ins", "token_exchanges"];

/** The capability that shows such changes: no other does. */
const capability = "subscriptions.create";

/** How many lines of sign-ins and exchanges are shown, and how many changes are read for them: many fold into one line. */
const [shownEntries, readEntries] = [5, 50];

/** The tab. */
export function ActivityTab({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useProfileAddress();
  if (!me) return <Loading />;
  if (!mayReadChanges(me, org)) return <Denied capabilities={[capability]} uid={org} />;
  const request = { parent: org, actorUids: [uid], excludedKinds: [...entries, "session_ends"] };
  return (
    <div className="stack">
      <LastEntries uid={uid} />
      <section className="stack" aria-labelledby="actions">
        <div className="row">
          <h2 id="actions">{t("profile.activity.changes")}</h2>
          <div className="grow" />
          <Link to="/o/$org/audit" params={{ org }} search={{ q: `actor:${uid}` }}>
            {t("profile.activity.all")}
          </Link>
          <CopyAs method={listChanges} request={request} />
        </div>
        <ChangeFeed
          org={org}
          label={t("profile.activity.changes")}
          request={request}
          level="h3"
          empty={<Empty>{t("profile.activity.none")}</Empty>}
        />
      </section>
    </div>
  );
}

/** The last sign-ins and token exchanges here, or what the caller lacks to see them. */
function LastEntries({ uid }: { readonly uid: string }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = useProfileAddress();
  const isWorkload = uid.includes("/");
  const mayRead = holds(me, capability, org);
  const request = { parent: org, actorUids: [uid], kinds: entries, pageSize: readEntries };
  const { data, error, refetch } = useQuery(listChanges, request, { enabled: mayRead });
  return (
    <section className="card stack" aria-labelledby="entries">
      <h2 id="entries">{t(isWorkload ? "profile.entries.workload" : "profile.entries.person")}</h2>
      {!mayRead && <p className="muted">{t("state.missing", { capabilities: capability })}</p>}
      {error && <Failure error={error} onRetry={() => void refetch()} />}
      {mayRead && !data && !error && <Loading lines={2} />}
      {data?.changes.length === 0 && <p className="muted">{t("profile.entries.none")}</p>}
      {data && data.changes.length > 0 && (
        <ChangeList
          org={org}
          label={t("profile.entries.person")}
          changes={data.changes}
          level="h3"
          maxLines={shownEntries}
        />
      )}
    </section>
  );
}
