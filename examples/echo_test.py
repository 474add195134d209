#!/usr/bin/env python3
"""Tests examples/echo.cpp with a client of its own: echo_test.py COMMAND [ARGUMENTS...], which starts the server.

As many connections at once as the limit on descriptors allows, up to 10,000; each sends its own text in two pieces, stops
sending, and gets everything back before the end. Then clients that come and go, and one that sends much. Then an interrupt: new
clients are refused, one that is there finishes, and the server exits with status 0. When EMULATED is set in the environment there are fewer clients and there is no interrupt.
"""
import contextlib
import os
import selectors
import signal
import socket
import subprocess
import sys

TIME_OUT = 240  # seconds; a failure, never a measurement
LAST_WORDS = 30  # seconds that a server which is dying may take to say why
EMULATED = bool(os.environ.get("EMULATED"))


def raise_limit():
    if EMULATED:
        return 200
    import resource
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    wanted = min(10_000, hard - 200)
    assert wanted >= 2000, f"a limit of {hard} descriptors is too low for this test"
    return wanted


def text_of(number):
    return f"client {number} says ".encode() * (1 + number % 40)


def connect(address):
    client = socket.create_connection(address, timeout=TIME_OUT)
    client.settimeout(TIME_OUT)
    return client


def receive(client, size):
    received = b""
    while len(received) < size:
        data = client.recv(size - len(received))
        assert data, "the server stopped sending too early"
        received += data
    return received


def receive_all_to_the_end(clients):
    """Of every client, whatever comes until the server stops sending, in any order."""
    received = {client: b"" for client in clients}
    selector = selectors.DefaultSelector()
    for client in clients:
        client.setblocking(False)
        selector.register(client, selectors.EVENT_READ)
    while selector.get_map():
        ready = selector.select(TIME_OUT)
        assert ready, f"{len(selector.get_map())} clients were left without an answer"
        for key, _ in ready:
            data = key.fileobj.recv(65536)
            received[key.fileobj] += data
            if not data:
                selector.unregister(key.fileobj)
    return received


def test_echo(address, number):
    clients = [connect(address) for _ in range(number)]
    print(f"{number} clients are connected", flush=True)
    for index, client in enumerate(clients):
        client.sendall(text_of(index))
    for index, client in enumerate(clients):  # while all are open, and can still send
        assert receive(client, len(text_of(index))) == text_of(index)
    for index, client in enumerate(clients):
        client.sendall(text_of(index + 1))
        client.shutdown(socket.SHUT_WR)
    for index, (client, received) in enumerate(receive_all_to_the_end(clients).items()):
        assert received == text_of(index + 1), f"client {index} got {received!r}"
        client.close()


def test_short(address):
    """Clients that stop sending at once: some have gone when the call that first received from them has not returned yet."""
    for _ in range(5 if EMULATED else 500):
        clients = [connect(address) for _ in range(20)]
        for client in clients:
            client.sendall(b"x")
            client.shutdown(socket.SHUT_WR)
        for client, received in receive_all_to_the_end(clients).items():
            assert received == b"x", received
            client.close()


def test_large(address):
    """More than the connection holds, so that both sides have to wait for each other."""
    client = connect(address)
    text = bytes(range(256)) * 8192
    received = bytearray()
    sent = 0
    client.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(client, selectors.EVENT_READ | selectors.EVENT_WRITE)
    while len(received) < len(text):
        ready = selector.select(TIME_OUT)
        assert ready, f"nothing more came after {len(received)} bytes"
        if ready[0][1] & selectors.EVENT_READ:
            data = client.recv(65536)
            assert data, "the server stopped sending too early"
            received += data
        if ready[0][1] & selectors.EVENT_WRITE and sent < len(text):
            sent += client.send(text[sent:sent + 65536])
            if sent == len(text):
                selector.modify(client, selectors.EVENT_READ)
    assert received == text
    client.close()


def test_interrupt(server, address):
    first, second = connect(address), connect(address)
    for client in (first, second):
        client.sendall(b"here")
        assert receive(client, 4) == b"here"
    server.send_signal(signal.SIGINT)
    expect_line(server, b"no new clients\n")
    try:
        connect(address).close()
        raise AssertionError("the server still accepts clients")
    except ConnectionRefusedError:
        pass
    for client in (first, second):
        client.sendall(b"still here")
        assert receive(client, 10) == b"still here"
        client.shutdown(socket.SHUT_WR)
        assert client.recv(1) == b""
    assert server.wait(TIME_OUT) == 0
    expect_line(server, b"finished after ")


def test_second_interrupt(server, address):
    client = connect(address)
    client.sendall(b"here")
    assert receive(client, 4) == b"here"
    server.send_signal(signal.SIGINT)
    expect_line(server, b"no new clients\n")
    server.send_signal(signal.SIGINT)
    assert server.wait(TIME_OUT) == 0
    expect_line(server, b"cut off after 1 clients")
    assert client.recv(1) == b""


def test_bad_arguments(command):
    done = subprocess.run([*command, "localhost:http"], stderr=subprocess.PIPE)
    assert done.returncode == 1 and b"localhost:http" in done.stderr, done


def expect_line(server, beginning):
    line = server.stdout.readline()
    assert line.startswith(beginning), line


@contextlib.contextmanager
def running(command):
    """The server and its address. When a test of it fails, its exit status is printed; what it says about itself goes where
    our own messages go."""
    server = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        line = server.stdout.readline().decode().strip()
        assert line.startswith("listening on "), line
        host, port = line.removeprefix("listening on ").rsplit(":", 1)
        yield server, (host, int(port))
    except BaseException:
        try:
            print(f"the server has ended with status {server.wait(LAST_WORDS)}", file=sys.stderr, flush=True)
        except subprocess.TimeoutExpired:
            print("the server is still running", file=sys.stderr, flush=True)
        raise
    finally:
        server.kill()
        server.wait()


def main(command):
    number = raise_limit()
    with running(command) as (server, address):
        test_echo(address, number)
        test_short(address)
        test_large(address)
        if not EMULATED:
            test_interrupt(server, address)
    test_bad_arguments(command)
    if not EMULATED:
        with running(command) as (server, address):
            test_second_interrupt(server, address)
    print("everything came back")
    return 0


sys.exit(main(sys.argv[1:]))
