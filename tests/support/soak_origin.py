"""An origin that misbehaves on demand, on 127.1.0.1 to 127.1.0.20: says where it was reached.

    soak_origin.py PORT    /ok  /reset  /half  /stall  /bulk  /slow
"""
import asyncio
import socket
import struct
import sys


def abort(writer):
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def serve(reader, writer):
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        path = head.split(b" ")[1].decode()
        here = writer.get_extra_info("sockname")[0]
        body = b"you are at %s\n" % here.encode()
        if path.endswith("/reset"):
            abort(writer)
            return
        if path.endswith("/stall"):
            await asyncio.sleep(3)
            abort(writer)
            return
        if path.endswith("/bulk"):
            body += b"x" * 2000000
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
        if path.endswith("/half"):
            writer.write(body[:5])
            await writer.drain()
            abort(writer)
            return
        if path.endswith("/slow"):
            await asyncio.sleep(1)
        writer.write(body)
        await writer.drain()
        writer.close()
    except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, asyncio.LimitOverrunError):
        writer.transport.abort()


async def main():
    for i in range(1, 21):
        await asyncio.start_server(serve, "127.1.0.%d" % i, int(sys.argv[1]), backlog=256)
    await asyncio.Event().wait()


asyncio.run(main())
