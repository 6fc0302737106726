// The lists that an export reads, in an order in which parents and referenced resources come first.
import { OrganizationResourceSchema } from "../../../gen/gatehouse/organizations/v1/organizations_pb.ts";
import { listMethod, type StandardMethod } from "../resources/methods.ts";
import type { Resource } from "../resources/resource.ts";
import { resourceOf } from "../resources/resources.ts";
import type { Kind } from "./format.ts";

/** The list method of one kind, and the conversion of its resources for an export. */
export interface ResourceList extends StandardMethod, NonNullable<Resource["exported"]> {
  readonly kind: Kind;
}

/** Returns the lists in the order of an export, which is that of the members of OrganizationResource. Those without commands have no list. */
export async function resourceLists(): Promise<readonly ResourceList[]> {
  const lists = OrganizationResourceSchema.fields.map(async ({ localName, message }) => {
    const resource = resourceOf(message?.name ?? "");
    if (!resource) return [];
    return [{ kind: localName as Kind, ...(await listMethod(resource)), ...resource.exported }];
  });
  return (await Promise.all(lists)).flat();
}
