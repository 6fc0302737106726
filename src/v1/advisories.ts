import { create, type Message } from "@bufbuild/protobuf";
import {
  Advisories,
  type AdvisoriesListSchema,
  AdvisoryEventFilterSchema,
  type AdvisoryFilter,
  AdvisoryFilterSchema,
  CreateAdvisoryEventRequestSchema,
  CreateAdvisoryRequestSchema,
  DeleteAdvisoryRequestSchema,
  OrderBy,
} from "../../gen/chainguard/platform/vulnerabilities/v1/advisories_pb.ts";
import {
  AdvisoriesService,
  ListAdvisoriesRequestSchema,
} from "../../gen/chainguard/platform/vulnerabilities/v2beta1/advisories_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import { ruleBook, uidRule } from "../pipeline/text-rules.ts";
import { compileValidator, type Validator } from "../pipeline/validate.ts";
import type { ServiceContext } from "../resource/service-context.ts";
import { advisoryLister } from "../services/vulnerabilities/advisories/advisories.ts";
import { advisoryAuthoring } from "../services/vulnerabilities/advisories/authoring.ts";
import { handwritten, serve, type V1Implementation } from "./adapter.ts";
import { toAdvisory, toContent, toEvent, toFields, toNewAdvisory } from "./advisory-messages.ts";
import { type CurrentApi, callOf } from "./current-api.ts";
import { fieldsOf } from "./fields.ts";
import { pageSizeOf } from "./lists.ts";
import { renamer, renaming } from "./violations.ts";

const rename = renamer([
  ["uid", "id"],
  ["review_state", "status"],
  ["create_time", "timestamp"],
]);

const rules = [
  { schema: CreateAdvisoryRequestSchema, fields: { parent_id: uidRule } },
  { schema: CreateAdvisoryEventRequestSchema, fields: { parent_id: uidRule } },
  { schema: AdvisoryEventFilterSchema, fields: { parent_id: uidRule } },
  { schema: AdvisoryFilterSchema, fields: { id: uidRule } },
  { schema: DeleteAdvisoryRequestSchema, fields: { id: uidRule } },
];

/** Serves advisories in version 1. Its writing methods have no counterparts in later versions. */
export function advisories(api: CurrentApi, context: ServiceContext): V1Implementation {
  const authoring = advisoryAuthoring(context);
  const inV1 = <T>(run: () => Promise<T>) => renaming(rename, run);
  const served = serve(
    Advisories,
    {
      create: ({ parentId, advisory }, call) =>
        inV1(async () => toAdvisory(await authoring.create(parentId, toNewAdvisory(advisory!), call))),
      update: (advisory, call) =>
        inV1(async () => toAdvisory(await authoring.update(advisory.id, toFields(advisory), call))),
      async delete({ id }, call) {
        await authoring.delete(id, call);
        return {};
      },
      createAdvisoryEvent: ({ parentId, advisoryEvent }, call) =>
        inV1(async () => toEvent(await authoring.createEvent(parentId, toContent(advisoryEvent!), call))),
      updateAdvisoryEvent: (event, call) =>
        inV1(async () => toEvent(await authoring.updateEvent(event.id, toContent(event), call))),
      async listAdvisoryEvents({ parentId }) {
        return { parentId, items: (await authoring.listEvents(parentId)).map(toEvent) };
      },
      list: list(api, context),
    },
    rules,
  );
  const replacing = { update: checkOwnId("update"), updateAdvisoryEvent: checkOwnId("updateAdvisoryEvent") };
  return { ...served, validators: { ...served.validators, ...replacing } };
}

/** Makes the validator of a PUT. The request is the resource itself, and its output-only id names it. */
function checkOwnId(name: "update" | "updateAdvisoryEvent"): Validator {
  const method = Advisories.method[name];
  const check = compileValidator(method, ruleBook([{ rules }]));
  return (message, context) => {
    const isUid = uidRule.test((message as Message & { id: string }).id);
    return [...(isUid ? [] : [{ field: "id", description: uidRule.description }]), ...check(message, context)];
  };
}

const renameFilter = renamer([
  ["artifact_names", "artifact_name"],
  ["artifact_types", "artifact_type"],
  ["artifact_architectures", "artifact_architecture"],
  ["component_names", "component_name"],
  ["component_types", "component_type"],
  ["component_locations", "component_location"],
  ["event_review_states", "event_statuses"],
  ["event_authors", "event_author"],
  ["event_reviewers", "event_reviewer"],
  ["exclude_event_authors", "exclude_event_author"],
]);

const current = AdvisoriesService.method.listAdvisories;

/** Lists advisories by page. Other lists of version 1 have no pages. */
function list(api: CurrentApi, context: ServiceContext) {
  const { list: listBy } = advisoryLister(context);
  return handwritten<typeof AdvisoryFilterSchema, typeof AdvisoriesListSchema>(current, renameInFilter, {
    // It sorts all advisories of a place.
    isExpensive: ({ orderBy }) => orderBy === OrderBy.ALIASES_ASC || orderBy === OrderBy.ALIASES_DESC,
    check: (filter) => api.check(current, requestOf(filter)),
    async respond(filter, call) {
      const { id, uidp } = filter;
      if (id !== "" && uidp && uidp.ids.length > 0 && !uidp.ids.includes(id)) return { items: [], totalCount: 0n };
      const request = create(ListAdvisoriesRequestSchema, requestOf(filter));
      const { items, nextPageToken, totalCount } = await listBy(request, callOf(call, current));
      return { items: items.map(toAdvisory), nextPageToken, totalCount };
    },
  });
}

function renameInFilter(violation: FieldViolation, { id }: AdvisoryFilter): FieldViolation {
  return renameFilter(violation.field === "uidp.ids[0]" && id !== "" ? { ...violation, field: "id" } : violation);
}

const orders: Readonly<Record<OrderBy, string>> = {
  [OrderBy.ORDER_BY_UNSPECIFIED]: "",
  [OrderBy.ID_ASC]: "uid",
  [OrderBy.ID_DESC]: "uid desc",
  [OrderBy.CREATED_AT_ASC]: "create_time",
  [OrderBy.CREATED_AT_DESC]: "create_time desc",
  [OrderBy.ALIASES_ASC]: "aliases",
  [OrderBy.ALIASES_DESC]: "aliases desc",
  [OrderBy.UPDATED_AT_ASC]: "update_time",
  [OrderBy.UPDATED_AT_DESC]: "update_time desc",
  // Lists contain no deleted advisories, so all are equal.
  [OrderBy.DELETED_AT_ASC]: "uid",
  [OrderBy.DELETED_AT_DESC]: "uid desc",
};

/** Builds the current request. The numbers of states and types are equal; the type that only version 1 has is stored too. */
function requestOf(filter: AdvisoryFilter) {
  const { id, uidp, pageToken, pageSize, orderBy, origin, latestEventType } = filter;
  const place = id === "" ? uidp : { ...(uidp && fieldsOf(uidp)), ids: [id] };
  return {
    ...(place ? { uidp: place } : {}),
    advisoryIds: filter.advisoryIds,
    legacyAdvisoryIds: filter.legacyAdvisoryIds,
    artifactNames: filter.artifactName,
    artifactTypes: filter.artifactType,
    artifactArchitectures: filter.artifactArchitecture,
    componentNames: filter.componentName,
    componentTypes: filter.componentType,
    componentLocations: filter.componentLocation,
    aliases: filter.aliases,
    ...(origin === undefined ? {} : { origin }),
    eventReviewStates: filter.eventStatuses as number[] as never[],
    eventAuthors: filter.eventAuthor,
    excludeEventAuthors: filter.excludeEventAuthor,
    eventReviewers: filter.eventReviewer,
    eventTypes: filter.eventTypes as number[] as never[],
    ...(latestEventType === undefined ? {} : { latestEventType: latestEventType as number as never }),
    pageToken,
    pageSize: pageSizeOf(pageSize),
    orderBy: orders[orderBy] ?? "",
  };
}
