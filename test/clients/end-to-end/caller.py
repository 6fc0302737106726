"""Calls a server over gRPC by nothing but its reflection, with the runtimes of gRPC (C core) and of protobuf.

Reads one JSON object from standard input: the address, a file with a FileDescriptorSet for what no server reflects
(reflection itself and google.rpc.Status), and the calls. Writes one with what the server reflects and what came of them.
"""

import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory


class Types:
    """Descriptors and their classes."""

    def __init__(self, pool):
        self.pool = pool
        self.factory = message_factory.MessageFactory(pool)

    def of(self, name):
        return self.factory.GetPrototype(self.pool.FindMessageTypeByName(name))


def read_set(path):
    files = descriptor_pb2.FileDescriptorSet()
    with open(path, "rb") as source:
        files.ParseFromString(source.read())
    pool = descriptor_pool.DescriptorPool()
    add_all(pool, {file.name: file for file in files.file})
    return Types(pool)


def add_all(pool, files):
    """Adds files after what they import. The pool checks each of them, more strictly than most runtimes."""
    added = set()

    def add(file):
        if file.name in added:
            return
        added.add(file.name)
        for name in file.dependency:
            add(files[name])
        pool.Add(file)
        pool.FindFileByName(file.name)

    for file in files.values():
        add(file)


def reflect(channel, known, version):
    """The services of a server, and the types that it reflects for them."""
    package = f"grpc.reflection.{version}"
    request = known.of(f"{package}.ServerReflectionRequest")
    ask = channel.stream_stream(
        f"/{package}.ServerReflection/ServerReflectionInfo",
        request_serializer=request.SerializeToString,
        response_deserializer=known.of(f"{package}.ServerReflectionResponse").FromString,
    )
    listed = next(ask(iter([request(list_services="")])))
    services = [service.name for service in listed.list_services_response.service]
    # Nothing imports the types of details.
    symbols = services + ["google.rpc.ErrorInfo"]
    files = {}
    for reply in ask(iter([request(file_containing_symbol=symbol) for symbol in symbols])):
        for content in reply.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(content)
            files[file.name] = file
    pool = descriptor_pool.DescriptorPool()
    add_all(pool, files)
    return services, Types(pool)


def call(channel, known, types, question):
    service, name = question["method"].split("/")
    method = types.pool.FindServiceByName(service).methods_by_name[name]
    request = json_format.Parse(json.dumps(question["request"]), types.of(method.input_type.full_name)())
    stub = channel.unary_unary(
        f"/{question['method']}",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=types.of(method.output_type.full_name).FromString,
    )
    compression = grpc.Compression.Gzip if question.get("gzip") else None
    try:
        reply, ended = stub.with_call(
            request,
            timeout=30,
            metadata=[tuple(pair) for pair in question["metadata"]],
            compression=compression,
        )
    except grpc.RpcError as error:
        return {"code": error.code().name, "message": error.details(), "details": details_of(error, known, types)}
    return {
        "code": "OK",
        "response": json_format.MessageToDict(reply),
        "headers": sorted(key for key, _ in ended.initial_metadata()),
    }


def details_of(error, known, types):
    """Each detail by its type, as JSON."""
    content = dict(error.trailing_metadata()).get("grpc-status-details-bin")
    if content is None:
        return {}
    status = known.of("google.rpc.Status").FromString(content)
    names = [detail.type_url.rpartition("/")[2] for detail in status.details]
    messages = [types.of(name).FromString(detail.value) for name, detail in zip(names, status.details)]
    return {name: json_format.MessageToDict(message) for name, message in zip(names, messages)}


def main():
    asked = json.load(sys.stdin)
    known = read_set(asked["descriptors"])
    with grpc.insecure_channel(asked["address"]) as channel:
        services, types = reflect(channel, known, asked["reflection"])
        replies = [call(channel, known, types, question) for question in asked["calls"]]
    json.dump({"services": services, "replies": replies}, sys.stdout)


main()
