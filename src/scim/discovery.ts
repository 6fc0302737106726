// The discovery endpoints: the features of the service, its resource types and schemas (RFC 7644 §4).

import { scimLimits } from "./limits.ts";
import { enterpriseSchema, groupSchema, type Schema, schemas, userSchema } from "./schemas.ts";
import { resourceNotFound } from "./scim-error.ts";

/** RFC 7643 §5. */
export function serviceProviderConfig(endpoint: string): object {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: scimLimits.maxCount },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "The SCIM token of the identity provider, in the header Authorization.",
        specUri: "https://www.rfc-editor.org/rfc/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${endpoint}/ServiceProviderConfig` },
  };
}

/** RFC 7643 §6: the resource types, or the one with this id. */
export function resourceTypes(endpoint: string): Readonly<Record<string, object>> {
  const type = (schema: Schema, path: string, extensions: readonly Schema[]) => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: schema.name,
    name: schema.name,
    description: schema.description,
    endpoint: path,
    schema: schema.id,
    schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })),
    meta: { resourceType: "ResourceType", location: `${endpoint}/ResourceTypes/${schema.name}` },
  });
  return { User: type(userSchema, "/Users", [enterpriseSchema]), Group: type(groupSchema, "/Groups", []) };
}

/** RFC 7643 §7: the schemas by id. */
export function schemaDocuments(endpoint: string): Readonly<Record<string, object>> {
  return Object.fromEntries(
    schemas.map((schema) => [
      schema.id,
      {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
        ...schema,
        meta: { resourceType: "Schema", location: `${endpoint}/Schemas/${schema.id}` },
      },
    ]),
  );
}

/** Returns all of these documents as a list, or the one with the id. */
export function listOrOne(documents: Readonly<Record<string, object>>, id: string | undefined): object {
  if (id === undefined) return listResponse(Object.values(documents), Object.keys(documents).length, 1);
  if (!Object.hasOwn(documents, id)) throw resourceNotFound(id);
  return documents[id]!;
}

/** RFC 7644 §3.4.2. */
export function listResponse(resources: readonly object[], totalResults: number, startIndex: number): object {
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}
