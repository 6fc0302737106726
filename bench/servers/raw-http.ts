// The limit for HTTP/1.1: node:http with a constant answer. The port is the only argument.
import { createServer } from "node:http";
import { helloJson } from "./hello.ts";

const headers = { "content-type": "application/json", "content-length": helloJson.length };
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, headers);
  response.end(helloJson);
});
server.listen(Number(process.argv[2]), "127.0.0.1");
