// The columns of lists of access requests, and what other views say of one. Load the texts `requests` with them.
import { durationMs, timestampDate } from "@bufbuild/protobuf/wkt";
import { Link } from "@tanstack/react-router";
import type { AccessRequest } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import { groupText, useNamed } from "../../api/naming.ts";
import { lengthText, type Texts, useTexts } from "../../texts/texts.ts";
import { type Column, timeCell } from "../columns.ts";
import { Ago } from "../parts.tsx";
import { ProfileLink } from "../profile-link.tsx";
import { organizationOf } from "./my-requests.ts";
import { RequestStatus, stateText } from "./state-pill.tsx";

/** Says what is requested: "editor at engineering". */
export function requestText(t: Texts, { roleName, groupName }: AccessRequest): string {
  return t("requests.what", { role: roleName || t("names.deleted"), group: groupText(t, groupName) });
}

/** Returns the columns by their names; views choose from them. */
export function useRequestColumns(rows: readonly AccessRequest[]) {
  const { t, locale } = useTexts();
  const named = useNamed(rows.filter(({ identityName }) => identityName === "").map(({ identityUid }) => identityUid));
  const who = ({ identityName, identityUid }: AccessRequest) => identityName || named(identityUid);
  const lengthOf = ({ duration }: AccessRequest) => (duration ? lengthText(durationMs(duration), locale) : "");
  const columns = {
    what: {
      title: t("requests.role"),
      text: (row) => requestText(t, row),
      cell: (row) => (
        <Link to="/o/$org/requests/$" params={{ org: organizationOf(row), _splat: row.uid }}>
          <bdi>{requestText(t, row)}</bdi>
        </Link>
      ),
    },
    who: {
      title: t("requests.who"),
      text: who,
      cell: (row) => (
        <ProfileLink identity={{ uid: row.identityUid }}>
          <bdi>{who(row)}</bdi>
        </ProfileLink>
      ),
    },
    length: { id: "length", title: t("requests.length"), text: lengthOf, cell: lengthOf },
    reason: {
      id: "reason",
      title: t("requests.reason"),
      text: ({ reason }) => reason,
      cell: ({ reason }) => <bdi>{reason}</bdi>,
    },
    status: {
      title: t("requests.status"),
      text: ({ state }) => t(stateText(state)),
      cell: (row) => <RequestStatus request={row} />,
    },
    expires: {
      id: "expires",
      title: t("requests.expiresTitle"),
      text: ({ decideBeforeTime }) => timeCell(decideBeforeTime),
      cell: ({ decideBeforeTime }) => decideBeforeTime && <Ago time={timestampDate(decideBeforeTime)} />,
    },
    created: {
      id: "created",
      title: t("requests.created"),
      isWide: true,
      text: ({ createTime }) => timeCell(createTime),
      cell: ({ createTime }) => createTime && <Ago time={timestampDate(createTime)} />,
    },
  } satisfies Record<string, Column<AccessRequest>>;
  return columns;
}
