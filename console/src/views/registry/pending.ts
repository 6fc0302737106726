import { CheckState } from "../../../../gen/gatehouse/registry/v1/image_contents_pb.ts";

/** How often contents of images are read again while they are pending, in milliseconds. */
const pendingMs = 5_000;

/** Returns when contents of an image are read again, in milliseconds: soon while they are pending. */
export function refetchMs(state: CheckState | undefined, settledMs = 30_000): number {
  return state === CheckState.PENDING ? pendingMs : settledMs;
}
