#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Messages inside domains: programs at nodes subscribe and publish; what is for nodes alone stays
inside, what is for other domains goes through the gateways, and both at once."""

import signal

import lib
from messages import expect_all, finish, publish, publisher, say, subscribe, texts

MIB = 1 << 20
NODES = ["n1", "n2"]


def is_up(grid, gateway, node):
    return any(peer["domain"] == node + ".test" and peer["up"]
               for peer in grid[gateway].peers()["peers"])


def grid_of(**options):
    """Domain a with nodes m1 and m2, domain b with n1 and n2; all nodes are connected."""
    grid = lib.Grid("ab", nodes={"a": ["m1", "m2"], "b": NODES}, **options)
    for node, gateway in grid.node_of.items():
        lib.wait(lambda: is_up(grid, gateway, node), "%s is let in" % node)  # noqa: B023
    return grid


def crossed(grid):
    """Bytes of messages that left domain a for b, and not for its own nodes."""
    return grid["a"].bytes_sent()["b.test"]


@lib.timed
def test_gateway_to_nodes_elsewhere():
    with grid_of() as grid:
        there = {name: subscribe(grid[name], "a/news") for name in ["b", *NODES]}
        own = subscribe(grid["m1"], "news")
        lines = ["line %d" % i for i in range(1000)] + ["", "x" * (MIB // 2), "last"]
        status, errors = publish(grid["a"], "".join(line + "\n" for line in lines), "news",
                                 "--to", "b")
        lib.check(status == 0, errors)
        for running in there.values():
            expect_all(running, lines)
        # It was not for the nodes of a.
        own.interrupt()
        lib.check(texts(own.wait()) == [], "a node of the source got what was not for it")


@lib.timed
def test_some_nodes():
    with grid_of() as grid:
        there = {name: subscribe(grid[name], "news") for name in ["b", *NODES]}
        talks = publisher(grid["a"], "news", "--to", "b/n2")
        say(talks, there["n2"], "one", "two")
        finish(talks)
        for name in ("b", "n2"):
            expect_all(there[name], ["one", "two"])
        there["n1"].interrupt()
        lib.check(texts(there["n1"].wait()) == [], "n1 was not named")
        for target, words in (("b/shared", "messages do not go to"), ("a/m9", "has no node m9"),
                              ("b/", "messages do not go to"), ("a/nodes,a/m1", "is named twice")):
            status, errors = publish(grid["a"], "x\n", "bad", "--to", target)
            lib.check(status == 1 and words in errors, errors)


@lib.timed
def test_who_gets_nothing_is_named():
    with grid_of(patience="3s") as grid:
        # Of a gateway that knows of no such node, at a gateway and through it at a node.
        for name in ("a", "m1"):
            status, errors = publish(grid[name], "x\n", "typo-" + name, "--to", "b/n9")
            lib.check(status == 2 and "b.test has no node n9" in errors, (name, status, errors))
        # Of one that is away; whoever is there gets all.
        there = subscribe(grid["m2"], "away")
        grid["b"].stop()
        status, errors = publish(grid["a"], "x\n", "away", "--to", "a,b")
        lib.check(status == 2 and "b.test is not heard" in errors, (status, errors))
        expect_all(there, ["x"])


@lib.timed
def test_inside_stays_inside():
    with grid_of() as grid:
        heard = subscribe(grid["m2"], "local")
        outside = subscribe(grid["b"], "local")
        before = crossed(grid)
        lines = ["%04d" % i + "." * 10000 for i in range(300)]
        status, errors = publish(grid["m1"], "".join(line + "\n" for line in lines), "local",
                                 "--to", "a/nodes")
        lib.check(status == 0, errors)
        expect_all(heard, lines)
        lib.check(crossed(grid) - before < 300000, "what is for the inside crossed to b")
        outside.interrupt()
        lib.check(texts(outside.wait()) == [], "b got what was for nodes of a")


@lib.timed
def test_node_to_both():
    with grid_of() as grid:
        running = [subscribe(grid[name], "a/mixed") for name in ("a", "m1", "m2", "b", "n1", "n2")]
        lines = ["line %d" % i for i in range(2000)] + ["", "x" * MIB, "last"]
        status, errors = publish(grid["m1"], "".join(line + "\n" for line in lines), "mixed",
                                 "--to", "a,b")
        lib.check(status == 0, errors)
        for one in running:
            expect_all(one, lines)


@lib.timed
def test_two_publishers_at_two_nodes():
    with grid_of() as grid:
        running = subscribe(grid["n1"], "two")
        first = publisher(grid["m1"], "two", "--to", "b")
        say(first, running, "from m1")
        second = publisher(grid["m2"], "two", "--to", "b")
        say(second, running, "from m2")
        status, errors = publish(grid["m2"], "other\n", "two", "--to", "a")
        lib.check(status == 1 and "is open already" in errors, errors)
        status, errors = publish(grid["m2"], "x\n", "three", "--to", "nowhere")
        lib.check(status == 1 and '"nowhere" is not configured' in errors, errors)
        finish(second)
        finish(first, "the end\n")
        expect_all(running, ["from m1", "from m2", "the end"])


@lib.timed
def test_publisher_or_node_that_dies():
    with grid_of(patience="3s") as grid:
        running = subscribe(grid["b"], "short")
        dies = publisher(grid["m1"], "short", "--to", "b")
        say(dies, running, "one")
        dies.kill()
        expect_all(running, ["one"], "its publisher is gone")
        again = subscribe(grid["b"], "short")
        talks = publisher(grid["m1"], "short", "--to", "b")
        say(talks, again, "two")
        grid["m1"].kill()
        expect_all(again, ["two"], "its publisher is gone")
        talks.kill()
        talks.wait()
        grid["m1"].start()
        lib.wait(lambda: is_up(grid, "a", "m1"), "m1 is back")
        last = subscribe(grid["n1"], "short")
        status, errors = publish(grid["m1"], "three\n", "short", "--to", "b")
        lib.check(status == 0, errors)
        expect_all(last, ["three"])


@lib.timed
def test_gateway_that_is_away():
    with grid_of() as grid:
        grid["a"].stop()
        lib.wait(lambda: not is_up(grid, "m1", "a"), "m1 notices")
        status, errors = publish(grid["m1"], "x\n", "news", "--to", "b")
        lib.check(status == 1 and "a.test, the gateway of this node, is not connected" in errors,
                  errors)


@lib.timed
def test_a_node_that_comes_back():
    with grid_of(patience="2s") as grid:
        running = subscribe(grid["n1"], "long")
        talks = publisher(grid["a"], "long", "--to", "b")
        say(talks, running, "one")
        grid["n2"].stop()
        say(talks, running, "two")
        # Away for longer than transfers wait; a message channel is still there for it.
        lib.wait(lambda: not is_up(grid, "b", "n2"), "b notices")
        grid["n2"].start()
        back = subscribe(grid["n2"], "long")
        say(talks, running, "three")
        lib.wait(lambda: back.lines and back.lines[-1].get("text") == "three", "it hears again")
        finish(talks, "four\n")
        expect_all(running, ["one", "two", "three", "four"])
        lib.check(texts(back.wait())[-2:] == ["three", "four"], "it hears the end")


@lib.timed
def test_slow_node_holds_nobody():
    with grid_of(patience="20s") as grid:
        running = subscribe(grid["n1"], "flood")
        grid["n2"].signal(signal.SIGSTOP)
        # More than the gateway keeps; the other node is never far behind.
        lines = ["%06d" % i + "." * 60000 for i in range(200)]
        talks = publisher(grid["a"], "flood", "--to", "b")
        for i in range(0, len(lines), 10):
            say(talks, running, *lines[i:i + 10])
        finish(talks)
        expect_all(running, lines)
        grid["n2"].signal(signal.SIGCONT)


if __name__ == "__main__":
    lib.main(globals())
