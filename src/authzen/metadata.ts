/** The path of the metadata document below the base URL (Authorization API 1.0 §9.2). */
export const authzenMetadataPath = "/.well-known/authzen-configuration";

/** The paths of the endpoints below the base URL (Authorization API 1.0 §10.1). */
export const authzenPaths = {
  evaluation: "/access/v1/evaluation",
  evaluations: "/access/v1/evaluations",
  subjects: "/access/v1/search/subject",
  resources: "/access/v1/search/resource",
  actions: "/access/v1/search/action",
} as const;

/** Returns the metadata of this server as a policy decision point. It repeats the base URL byte for byte. */
export function authzenMetadata(baseUrl: string) {
  const base = baseUrl.replace(/\/$/, "");
  return {
    policy_decision_point: baseUrl,
    access_evaluation_endpoint: base + authzenPaths.evaluation,
    access_evaluations_endpoint: base + authzenPaths.evaluations,
    search_subject_endpoint: base + authzenPaths.subjects,
    search_resource_endpoint: base + authzenPaths.resources,
    search_action_endpoint: base + authzenPaths.actions,
  };
}
