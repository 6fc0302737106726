// What is known of a person besides their roles.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { may, useMe } from "../../api/access.ts";
import { Ago, Copyable } from "../../shell/parts.tsx";
import { useTexts } from "../../texts/texts.ts";
import { usePeopleAddress } from "./address.ts";
import type { ShownPerson } from "./person.ts";

const { listPeople } = AccessService.method;

/** The tab. */
export function PersonDetails({ person: { uid, email } }: { readonly person: ShownPerson }) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org } = usePeopleAddress();
  const request = { group: org, query: uid, pageSize: 1 };
  const { data } = useQuery(listPeople, request, { enabled: may(me, listPeople, org) });
  const joinTime = data?.people[0]?.joinTime;
  return (
    <section className="card stack" aria-label={t("profile.details")}>
      <dl className="facts">
        {email !== "" && (
          <>
            <dt>{t("profile.email")}</dt>
            <dd>
              <bdi>{email}</bdi>
            </dd>
          </>
        )}
        {joinTime && (
          <>
            <dt>{t("people.since")}</dt>
            <dd>
              <Ago time={timestampDate(joinTime)} />
            </dd>
          </>
        )}
        <dt>uid</dt>
        <dd>
          <Copyable value={uid} what="uid" />
        </dd>
      </dl>
    </section>
  );
}
