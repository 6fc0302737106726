// The limit for gRPC: node:http2 with a constant answer and trailers. The port is the only argument.
import { createServer, type ServerHttp2Stream } from "node:http2";
import { helloFrame } from "./hello.ts";

const headers = { ":status": 200, "content-type": "application/grpc+proto" };
const trailers = { "grpc-status": "0" };
const server = createServer();
server.on("stream", (stream: ServerHttp2Stream) => {
  stream.on("error", () => {});
  stream.resume();
  stream.respond(headers, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(helloFrame);
});
server.listen(Number(process.argv[2]), "127.0.0.1");
