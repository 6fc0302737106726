// The changes that the caller of a stream may see, while its access changes.

import { Capability } from "../../../../gen/chainguard/capabilities/capabilities_pb.ts";
import type { Change } from "../../../../gen/gatehouse/changes/v1/changes_pb.ts";
import type { Access } from "../../../authz/access.ts";
import { accessOf, subtreesWithin } from "../../../pipeline/authorize.ts";
import type { Call } from "../../../pipeline/call.ts";
import { listCapabilities } from "../../resources.ts";
import { type VisibleChanges, visibleChanges } from "../visible-changes.ts";
import type { WatchedChange } from "./watched-change.ts";

const compared = [...new Set([...listCapabilities.values(), Capability.CAP_IAM_IDENTITY_LIST])];

/** The changes of a group that a caller may see. Throws PERMISSION_DENIED if that is nothing. */
export class LiveVisibility {
  readonly #call: Call;
  readonly #parent: string;
  #access: Access;
  #visible: VisibleChanges;
  /** Equal texts mean that the caller sees the same. */
  #extent: string;

  constructor(call: Call, parent: string) {
    this.#call = call;
    this.#parent = parent;
    this.#access = accessOf(call);
    this.#visible = visibleChanges(call, parent);
    this.#extent = this.#extentNow();
  }

  /** Follows the access of the call. Returns whether the caller may see other changes than before. */
  update(): boolean {
    const access = accessOf(this.#call);
    const isSame = access.hasGrantsOf(this.#access);
    this.#access = access;
    if (isSame) return false;
    this.#visible = visibleChanges(this.#call, this.#parent);
    const before = this.#extent;
    this.#extent = this.#extentNow();
    return this.#extent !== before;
  }

  /** Returns a change as the caller may see it; undefined if it may not. */
  messageOf(change: WatchedChange): Change | undefined {
    const { head } = change;
    return this.#visible.shows(head) ? change.message(this.#visible.showsClaims(head)) : undefined;
  }

  #extentNow(): string {
    const capabilities = [Capability.CAP_EVENTS_SUBSCRIPTION_CREATE, ...(this.#visible.isWhole ? [] : compared)];
    return JSON.stringify(capabilities.map((each) => subtreesWithin(this.#call, each, this.#parent)));
  }
}
