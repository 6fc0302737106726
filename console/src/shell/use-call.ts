import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { callUnaryMethod, useTransport } from "@connectrpc/connect-query";
import { whenAdmitted } from "../api/transport.ts";

/** Returns a function that calls a method, and again when a rate limit admits it. The views do not read their data again. */
export function useCall<I extends DescMessage, O extends DescMessage>(method: DescMethodUnary<I, O>) {
  const transport = useTransport();
  return (request: MessageInitShape<I>): Promise<MessageShape<O>> =>
    whenAdmitted(() => callUnaryMethod(transport, method, request), new AbortController().signal);
}
