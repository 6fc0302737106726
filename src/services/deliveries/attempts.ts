// Shows an attempt with its request and response.
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Capability } from "../../../gen/chainguard/capabilities/capabilities_pb.ts";
import {
  type AttemptDetailsSchema,
  type GetAttemptRequest,
  PayloadState,
} from "../../../gen/gatehouse/events/v1/delivery_pb.ts";
import { notFound } from "../../aip/errors.ts";
import { namesOfNumbers } from "../../model/capabilities.ts";
import { accessOf } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { type AttemptPayload, parsePayload } from "../../storage/events/attempt-payload.ts";
import { type AttemptWithPayload, findAttempt, payloadColumn } from "../../storage/events/delivery-attempts.ts";
import { DecryptionError, type Encryption } from "../../storage/installation/encryption.ts";
import { listCapabilities } from "../resources.ts";
import { shownAttempt } from "./delivery-states.ts";
import { newEventKinds } from "./event-kinds.ts";
import { testEventType } from "./test-events.ts";

type Details = MessageInitShape<typeof AttemptDetailsSchema>;

/** Returns the method that shows an attempt. */
export function getAttempt(context: ServiceContext & { readonly encryption: Encryption }) {
  const kinds = newEventKinds(context);

  /** Returns the capability that lists what an event is about, as in the audit log. */
  function capabilityFor(type: string): Capability {
    if (type === testEventType) return Capability.CAP_EVENTS_SUBSCRIPTION_LIST;
    return listCapabilities.get(kinds.ofType(type) ?? "") ?? Capability.CAP_EVENTS_SUBSCRIPTION_CREATE;
  }

  return async ({ uid }: GetAttemptRequest, call: Call): Promise<Details> => {
    const found = await findAttempt(context.database.session, uid);
    if (!found) throw notFound("gatehouse.events.v1/DeliveryAttempt", uid);
    const attempt = shownAttempt(found);
    const payload = readPayload(context.encryption, found);
    if (!payload) return { attempt, payloadState: PayloadState.NOT_STORED };
    const group = payload.requestHeaders["ce-group"] ?? "";
    const capability = capabilityFor(found.eventType);
    if (!accessOf(call).has(capability, group))
      return { attempt, payloadState: PayloadState.HIDDEN, missingCapability: namesOfNumbers([capability])[0] ?? "" };
    const showsClaims = accessOf(call).has(Capability.CAP_IAM_IDENTITY_LIST, group);
    return { attempt, payloadState: PayloadState.SHOWN, ...shownPayload(payload, showsClaims) };
  };
}

/** Returns the payload of an attempt; undefined if it is not stored, or the key that it was encrypted with is lost. */
export function readPayload(encryption: Encryption, { uid, payload }: AttemptWithPayload): AttemptPayload | undefined {
  if (uid === null || payload === null) return undefined;
  try {
    return parsePayload(encryption.decrypt(payloadColumn(uid), payload));
  } catch (error) {
    if (error instanceof DecryptionError) return undefined;
    throw error;
  }
}

function shownPayload({ requestHeaders, request, responseHeaders, response }: AttemptPayload, showsClaims: boolean) {
  return {
    requestHeaders: Object.entries(requestHeaders).map(([name, value]) => ({ name, value })),
    requestBody: showsClaims ? request.text : withoutClaims(request.text),
    requestBodyTruncated: request.isCut,
    responseHeaders: [...responseHeaders],
    responseBody: response.text,
    responseBodyTruncated: response.isCut,
  };
}

/** Leaves out the claims of the actor's token, which are those of an identity. A body that is cut off is left out as a whole. */
function withoutClaims(body: string): string {
  try {
    const { actor, ...rest } = JSON.parse(body);
    return JSON.stringify({ actor: { ...actor, act: {} }, ...rest });
  } catch {
    return "";
  }
}
