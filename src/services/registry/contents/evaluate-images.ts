// Lets packages of images be compared with advisories again.
import { notFound } from "../../../aip/errors.ts";
import { rangeBelow, rootOf } from "../../../model/uid.ts";
import type { Call } from "../../../pipeline/call.ts";
import { type ServiceContext, writeContext } from "../../../resource/service-context.ts";
import { findRow } from "../../../storage/collection/rows.ts";
import { groupCollection } from "../../../storage/iam/collections.ts";
import { clearEvaluatorsOf, findPackagesBelow } from "../../../storage/images/findings.ts";
import { groupParents } from "../../iam/groups/groups.ts";
import { contentLimits } from "./limits.ts";

/**
 * Marks the packages of the images of a group and below it as not compared, in portions: one transaction with all of them would stop all
 * other writes. Returns how many were not marked yet.
 */
export async function queueEvaluation(
  { database, clock }: Pick<ServiceContext, "database" | "clock">,
  group: string,
  call: Call,
): Promise<number> {
  if (!(await findRow(database.session, groupCollection, group))) throw notFound(groupParents.type, group);
  const [organization, range] = [rootOf(group), rangeBelow(group)];
  let [after, count] = ["", 0];
  for (;;) {
    const packages = await database.read((session) =>
      findPackagesBelow(session, organization, range, after, contentLimits.portion),
    );
    const numbers = packages.map(({ no }) => no);
    if (numbers.length > 0)
      count += await database.write(writeContext(call, clock), (tx) => clearEvaluatorsOf(tx, numbers));
    if (packages.length < contentLimits.portion) return count;
    after = packages.at(-1)!.purl;
  }
}
