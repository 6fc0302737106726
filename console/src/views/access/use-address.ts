// The address of the view, with the group that it asks about. Not in address.ts: what it needs is not in the first view of others.
import { getRouteApi } from "@tanstack/react-router";
import { AccessService } from "../../../../gen/gatehouse/access/v1/access_pb.ts";
import { outermostWith, useMe } from "../../api/access.ts";
import { type Changes, useAddress } from "../../shell/address.ts";
import type { AccessSearch } from "./address.ts";

const route = getRouteApi("/o/$org/access");

/** Returns the address of the view; a change closes the dialog. */
export function useAccessAddress() {
  const address = useAddress(route, { keep: ({ dialog: _dialog, binding: _binding, ...kept }) => kept });
  const { org, search, change } = address;
  const { data: me } = useMe();
  // Members of some groups begin at one of them: at the organization they may not ask.
  const [start = org] = outermostWith(me, AccessService.method.whoCan, org);
  /** Asks something else: the page and the open cell belong to the question before. */
  const ask = (changes: Changes<AccessSearch>) =>
    change({ page: undefined, cell: undefined, area: undefined, ...changes });
  return { ...address, group: search.group ?? start, ask, close: () => change({ cell: undefined, area: undefined }) };
}
