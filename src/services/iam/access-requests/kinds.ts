import {
  AccessRequestRuleSchema,
  AccessRequestRulesService,
} from "../../../../gen/gatehouse/access/v1/access_request_rules_pb.ts";
import { AccessRequestSchema, AccessRequestsService } from "../../../../gen/gatehouse/access/v1/access_requests_pb.ts";
import type { EventDefinition } from "../../../resource/event-definition.ts";
import { resourceEvents, toEventDefinition } from "../../../resource/method-event.ts";
import { rowView } from "../../../resource/row-view.ts";
import { type SentenceForm, uidIn } from "../../../resource/sentence-form.ts";
import {
  accessRequestCollection,
  accessRequestRuleCollection,
  expiryCause,
} from "../../../storage/iam/requests/collections.ts";
import { absent, defineOtherKind, type Recorded } from "../../kinds/kind.ts";
import { requestMessage } from "./messages.ts";
import { accessRequests } from "./requests.ts";
import { accessRequestRules, ruleMessage } from "./rules.ts";

const { createAccessRequest, approveAccessRequest, denyAccessRequest, cancelAccessRequest, endAccessRequest } =
  AccessRequestsService.method;

const recordedRule = { collection: accessRequestRuleCollection, schema: AccessRequestRuleSchema, message: ruleMessage };

const recordedRequest = { collection: accessRequestCollection, schema: AccessRequestSchema, message: requestMessage };

/** The verb of the state that a change led to; an approval that leaves a request pending is a verb, too. */
const requestForm: SentenceForm = {
  verbs: ["requested", "obtained", "approved", "given", "denied", "cancelled", "expired", "ended", "deleted"],
  verbOf({ before, after }) {
    if (!after) return "deleted";
    const state = String(after.state).replace("ACCESS_REQUEST_STATE_", "");
    return (before ? changedVerbs : createdVerbs)[state] ?? "approved";
  },
  parts: { identity: uidIn("identityUid"), role: uidIn("roleUid") },
};

const createdVerbs: Readonly<Record<string, string>> = { PENDING: "requested", ACTIVE: "obtained" };

const changedVerbs: Readonly<Record<string, string>> = {
  ACTIVE: "given",
  DENIED: "denied",
  CANCELLED: "cancelled",
  EXPIRED: "expired",
  ENDED: "ended",
};

const recordedRequests: Recorded = {
  views: [rowView(recordedRequest, requestMessage, requestForm)],
  events: () =>
    resourceEvents(
      [createAccessRequest, approveAccessRequest, denyAccessRequest, cancelAccessRequest, endAccessRequest],
      recordedRequest,
    ),
};

/** Returns the event of a request whose approvals did not come in time, which no method causes. */
export function expiredRequestEvent(): EventDefinition {
  const denied = toEventDefinition(resourceEvents([denyAccessRequest], recordedRequest)[0]!);
  return { ...denied, cause: expiryCause, type: "dev.gatehouse.access.request.expired.v1" };
}

/** Rules of access requests. */
export const accessRequestRuleKind = defineOtherKind({
  name: "accessRequestRule",
  schema: AccessRequestRuleSchema,
  service: AccessRequestRulesService,
  collection: accessRequestRuleCollection,
  implement: accessRequestRules,
  file: absent("The maker of a rule vouches for it, and a file has no maker."),
  transfer: absent("rules of access requests, for which their makers vouch: create them again"),
  recorded: { views: [rowView(recordedRule, ruleMessage)], events: () => [] },
  deletedWithGroup: "rules of access requests",
});

/** Access requests. */
export const accessRequestKind = defineOtherKind({
  name: "accessRequest",
  schema: AccessRequestSchema,
  service: AccessRequestsService,
  collection: accessRequestCollection,
  implement: accessRequests,
  file: absent("People make requests, and decide them."),
  transfer: absent("access requests, which end with the installation that decided them"),
  recorded: recordedRequests,
});
