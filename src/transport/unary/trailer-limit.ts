// The size limit of gRPC trailers: grpc-java and the C core accept 8 KiB of metadata, and reset the stream for more.
import { toBinary } from "@bufbuild/protobuf";
import { ApiError, type ErrorDetail } from "../../aip/errors.ts";
import { clip } from "../../base/clip.ts";

/** The most characters of `grpc-message`, escaped. */
const maxMessage = 1500;
/** The most bytes of `grpc-status-details-bin`: 6 KiB in base64. */
const maxDetails = 4608;
/** Bytes that a detail takes beyond its own encoding. */
const detailOverhead = 64;

/** Shortens the message of an error, and drops its details that do not fit. */
export function fitTrailers(error: ApiError): ApiError {
  const { code, reason, metadata } = error;
  const message = shortened(error.message);
  const details = fittingDetails(error.details, maxDetails - Buffer.byteLength(message));
  if (message === error.message && details.length === error.details.length) return error;
  return new ApiError(code, message, { details, reason, metadata });
}

function shortened(message: string): string {
  let short = message.toWellFormed();
  // An upper bound: a URI has more characters escaped than gRPC requires.
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
