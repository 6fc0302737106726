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
  breakGlassCause,
  expiryCause,
} from "../../../storage/iam/requests/collections.ts";
import { absent, defineOtherKind, type Recorded } from "../../kinds/kind.ts";
import { requestMessage } from "./messages.ts";
import { accessRequests } from "./requests.ts";
import { accessRequestRules, ruleMessage } from "./rules.ts";

const {
  createAccessRequest,
  approveAccessRequest,
  denyAccessRequest,
  acknowledgeAccessRequest,
  cancelAccessRequest,
  endAccessRequest,
} = AccessRequestsService.method;

/** The methods that change requests. */
const changers = [
  createAccessRequest,
  approveAccessRequest,
  denyAccessRequest,
  acknowledgeAccessRequest,
  cancelAccessRequest,
  endAccessRequest,
];

const recordedRule = { collection: accessRequestRuleCollection, schema: AccessRequestRuleSchema, message: ruleMessage };

const recordedRequest = { collection: accessRequestCollection, schema: AccessRequestSchema, message: requestMessage };

/** The verb of the state that a change led to; an approval that leaves a request pending is a verb, too, and so is an acknowledgement. */
const requestForm: SentenceForm = {
  verbs: [
    "requested",
    "obtained",
    "taken",
    "approved",
    "given",
    "denied",
    "cancelled",
    "expired",
    "ended",
    "acknowledged",
    "deleted",
  ],
  verbOf({ before, after }) {
    if (!after) return "deleted";
    if (!before && after.breakGlass) return "taken";
    if (before && after.acknowledgement && !before.acknowledgement) return "acknowledged";
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
  events: () => resourceEvents(changers, recordedRequest),
};

/** Returns the events of requests that no method causes: of those whose approvals did not come in time, and of break-glass. */
export function otherRequestEvents(): EventDefinition[] {
  const [created, denied] = resourceEvents([createAccessRequest, denyAccessRequest], recordedRequest).map(
    toEventDefinition,
  );
  return [
    { ...denied!, cause: expiryCause, type: "dev.gatehouse.access.request.expired.v1" },
    { ...created!, cause: breakGlassCause, type: "dev.gatehouse.access.request.break_glass.v1" },
  ];
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
