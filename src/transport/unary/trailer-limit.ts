// What the trailers of gRPC may hold: grpc-java and the C core accept 8 KiB of metadata, and what is larger kills the stream.
import { toBinary } from "@bufbuild/protobuf";
import { clip } from "../../aip/clip.ts";
import { ApiError, type ErrorDetail } from "../../aip/errors.ts";

/** Of `grpc-message`, escaped. */
const maxMessage = 1500;
/** Of `grpc-status-details-bin`, before it is base64: 6 KiB of that. */
const maxDetails = 4608;
/** What the status, its fields and the type of a detail add to the bytes of a detail. */
const detailOverhead = 64;

/** The error as trailers can tell it: with a shorter message, and without the details that there is no room for. */
export function fitTrailers(error: ApiError): ApiError {
  const { code, reason, metadata } = error;
  const message = shortened(error.message);
  const details = fittingDetails(error.details, maxDetails - Buffer.byteLength(message));
  if (message === error.message && details.length === error.details.length) return error;
  return new ApiError(code, message, { details, reason, metadata });
}

function shortened(message: string): string {
  let short = message.toWellFormed();
  // connect-node escapes all that a URI does not take as it is, which is more than gRPC asks for.
  while (encodeURIComponent(short).length > maxMessage) short = clip(message, short.length >> 1).toWellFormed();
  return short;
}

function fittingDetails(details: readonly ErrorDetail[], room: number): ErrorDetail[] {
  let left = room;
  return details.filter(({ schema, value }) => {
    const size = toBinary(schema, value).length + schema.typeName.length + detailOverhead;
    if (size > left) return false;
    left -= size;
    return true;
  });
}
