#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Message channels through real daemons: publishers, subscribers, and what they do wrong."""

import json
import os
import signal

import lib
from messages import expect_all, finish, publish, publisher, say, subscribe, texts

MIB = 1 << 20


@lib.timed
def test_skeleton():
    with lib.Grid("abc") as grid:
        here = subscribe(grid["a"], "news")
        there = [subscribe(grid[name], "a/news") for name in "bc"]
        lines = ["line %d" % i for i in range(2000)] + ["", "x" * (MIB // 2), "last \u00e4"]
        status, errors = publish(grid["a"], "".join(line + "\n" for line in lines), "news",
                                 "--to", "b,c")
        lib.check(status == 0, errors)
        for running in [here, *there]:
            expect_all(running, lines)


@lib.timed
def test_files_and_limit():
    with lib.Grid("ab") as grid:
        files = [grid.write("a", "small", b"content"), grid.write("a", "most", b"m" * MIB)]
        long = grid.write("a", "long", b"l" * (MIB + 1))
        running = subscribe(grid["b"], "files")
        gone = long + "er"
        last = grid.write("a", "last", b"the last one")
        status, errors = publish(grid["a"], "", "files", "--to", "b", files[0], long, gone, files[1], last)
        # Each that is not published is named; the others arrive, and the channel ends in order.
        lib.check(status == 2 and "long: a message is longer than 1 MiB" in errors and
                  gone + ": No such file" in errors and errors.count("gmcast: ") == 2, errors)
        expect_all(running, ["content", "m" * MIB, "the last one"])
        status, errors = publish(grid["a"], "", "files", "--to", "b", gone, long)
        lib.check(status == 1 and errors.count("gmcast: ") == 2, errors)
        # So it is with lines.
        running = subscribe(grid["b"], "lines")
        status, errors = publish(grid["a"], "one\n" + "l" * (MIB + 1) + "\nthree\n", "lines", "--to", "b")
        lib.check(status == 2 and "line 2: a message is longer than 1 MiB" in errors, errors)
        expect_all(running, ["one", "three"])


@lib.timed
def test_files_arrive_as_files():
    with lib.Grid("ab") as grid:
        contents = [b"", b"two\nlines\n", bytes(range(256)) * 100, b"m" * MIB]
        files = [grid.write("a", "f%d" % i, content) for i, content in enumerate(contents)]
        inbox = os.path.join(grid.path, "inbox")
        os.mkdir(inbox)
        running = subscribe(grid["b"], "files", "--files", inbox)
        status, errors = publish(grid["a"], "", "files", "--to", "b", *files)
        lib.check(status == 0, errors)
        result = running.wait()
        paths = [line["file"] for line in result.lines if "file" in line]
        lib.check(len(paths) == len(contents) and result.last.get("end") == "closed", result.lines)
        for path, content in zip(paths, contents):
            with open(path, "rb") as file:
                lib.check(file.read() == content, "%s is not what was published" % path)
        lib.check(sorted(os.path.join(inbox, name) for name in os.listdir(inbox)) == paths,
                  "there are others, or they do not sort: %s" % os.listdir(inbox))


def test_no_room_for_files():
    with lib.Grid("a") as grid:
        running = subscribe(grid["a"], "files", "--files", os.path.join(grid.path, "missing"))
        publish(grid["a"], "line\n", "files")
        result = running.wait()
        lib.check(result.status == 1 and "missing/a.test.files." in result.errors and
                  "No such file" in result.errors, str(result))


@lib.timed
def test_subscriber_that_never_reads():
    with lib.Grid("ab") as grid:
        stopped = subscribe(grid["b"], "flood")
        stopped.process.send_signal(signal.SIGSTOP)
        reads = subscribe(grid["b"], "flood")
        # More than its queue holds; the other one is never far behind.
        lines = ["%06d" % i + "." * 60000 for i in range(1400)]
        floods = publisher(grid["a"], "flood", "--to", "b")
        for i in range(0, len(lines), 100):
            floods.stdin.write("".join(line + "\n" for line in lines[i:i + 100]))
            floods.stdin.flush()
            lib.wait(lambda: len(reads.lines) >= i + 100, "the other one reads")  # noqa: B023
        floods.communicate("", timeout=lib.LIMIT)
        lib.check(floods.returncode == 0, "pub ended with %s" % floods.returncode)
        expect_all(reads, lines)
        lib.check(grid["b"].counters()["local_batches_lost"] > 0, "its queue has no bound")
        status = json.loads(grid["b"].gmcast("status", "--json")[1])
        lib.check(status["messages_dropped"] > 0 and status["messages_missed"] == 0 and
                  status["messages_handed"] + status["messages_dropped"] == 2 * len(lines), str(status))
        stopped.process.send_signal(signal.SIGCONT)
        lib.wait(lambda: len(stopped.lines) > 100, "it reads what waited")
        stopped.interrupt()
        got = texts(stopped.wait())
        lib.check(got == lines[:len(got)], "it got others, or in another order")


@lib.timed
def test_the_end_comes_to_who_did_not_read():
    """However full its queue is, it hears of the end, and so of all that it missed."""
    with lib.Grid("ab") as grid:
        stopped = subscribe(grid["b"], "flood")
        stopped.process.send_signal(signal.SIGSTOP)
        reads = subscribe(grid["b"], "flood")
        floods = publisher(grid["a"], "flood", "--to", "b")
        # Ever smaller ones, until the queue has no room for the end.
        pieces = [["." * 1000000] * 10] * 7 + [["." * 60000] * 5] * 4
        pieces += [[""] * count for count in (2048 >> i // 2 for i in range(24))]
        for piece in pieces:
            say(floods, reads, *piece)
        finish(floods)
        expect_all(reads, sum(pieces, []))
        stopped.process.send_signal(signal.SIGCONT)
        result = stopped.wait()
        lib.check(result.last.get("end") == "closed", str(result.last))
        missed = sum(line["missed"] for line in result.lines)
        lib.check(missed > 0 and missed + len(texts(result)) == sum(len(piece) for piece in pieces),
                  "%d came, %d are said to be missing" % (len(texts(result)), missed))


@lib.timed
def test_publisher_that_dies():
    with lib.Grid("ab") as grid:
        running = subscribe(grid["b"], "short")
        dies = publisher(grid["a"], "short", "--to", "b")
        dies.stdin.write("one\ntwo\nthr")
        dies.stdin.flush()
        lib.wait(lambda: len(running.lines) == 2, "two lines came")
        dies.kill()
        expect_all(running, ["one", "two"], "its publisher is gone")
        # The name is free again.
        again = subscribe(grid["b"], "short")
        status, errors = publish(grid["a"], "three\n", "short", "--to", "b")
        lib.check(status == 0, errors)
        expect_all(again, ["three"])


@lib.timed
def test_two_publishers():
    with lib.Grid("abc") as grid:
        running = subscribe(grid["b"], "two")
        first = publisher(grid["a"], "two", "--to", "b")
        say(first, running, "from the first")
        status, errors = publish(grid["a"], "from the second\n", "two", "--to", "b")
        lib.check(status == 0, errors)
        status, errors = publish(grid["a"], "other\n", "two", "--to", "c")
        lib.check(status == 1 and "is open already" in errors, errors)
        lib.check(grid["a"].counters()["local_clients_refused"] == 1, "it is not counted")
        finish(first, "the end\n")
        expect_all(running, ["from the first", "from the second", "the end"])


@lib.timed
def test_two_publishers_who_write_it_otherwise():
    """The same domains in another order share the channel; other nodes of one are others."""
    with lib.Grid("abc") as grid:
        running = subscribe(grid["c"], "two")
        first = publisher(grid["a"], "two", "--to", "b,c")
        say(first, running, "from the first")
        status, errors = publish(grid["a"], "from the second\n", "two", "--to",
                                 "%s,%s" % (grid.dns("c"), grid.dns("b")))
        lib.check(status == 0, errors)
        status, errors = publish(grid["a"], "other\n", "two", "--to", "b/gateway,c")
        lib.check(status == 1 and "for other domains or nodes" in errors, errors)
        finish(first, "the end\n")
        expect_all(running, ["from the first", "from the second", "the end"])


@lib.timed
def test_status():
    with lib.Grid("ab") as grid:
        running = subscribe(grid["b"], "news")
        talks = publisher(grid["a"], "news", "--to", "b")
        say(talks, running, "one", "two")
        for domain in grid.domains.values():
            _, out, _ = domain.gmcast("status", "--json")
            status = json.loads(out)
            lib.check(status["name"] == "news" and status["messages"] == 2, out)
            _, out, _ = domain.gmcast("status")
            lib.check(" 2 msg " in out and out.rstrip().endswith("  news"), out)
            _, out, _ = grid["a"].gmcast("status", status["channel"])
            lib.check("messages  2, name news" in out, out)
        _, out, _ = grid["b"].gmcast("status", "--local", status["channel"])
        lib.check("2 handed to subscribers here, 0 did not come, 0 lost to slow" in out, out)

        def rates():
            return [json.loads(domain.gmcast("status", "--json")[1])
                    for domain in grid.domains.values()]
        lib.wait(lambda: all(one["messages_in_per_second"] == 0 for one in rates()), "it is quiet")
        say(talks, running, *["more"] * 50)

        def is_seen(one, handed):
            return one["messages_in_per_second"] > 0 and \
                (one["messages_out_per_second"] > 0) == handed
        seen = [False, False]

        def both_seen():
            for i, one in enumerate(rates()):
                seen[i] = seen[i] or is_seen(one, i == 1)
            return all(seen)
        lib.wait(both_seen, "rates of a second, out only where somebody subscribes")
        finish(talks)
        expect_all(running, ["one", "two"] + ["more"] * 50)
        lib.wait(lambda: all(one["state"] == "complete" for one in rates()), "it is over")
        lib.check([one["messages"] for one in rates()] == [52, 52], "the end is none: %s" % rates())


@lib.timed
def test_scheduling():
    with lib.Grid("ab") as grid:
        def policies():
            return [os.sched_getscheduler(domain.process.pid) for domain in grid.domains.values()]
        own = os.sched_getscheduler(0)
        chosen = own != os.SCHED_OTHER  # by whoever runs this; then it stays
        batch = 2 * [own if chosen else os.SCHED_BATCH]
        lib.check(policies() == batch, "bulk is not batched: %s" % policies())
        running = subscribe(grid["b"], "news")
        talks = publisher(grid["a"], "news", "--to", "b")
        say(talks, running, "one")
        lib.check(policies() == 2 * [own], "messages wait: %s" % policies())
        lib.wait(lambda: policies() == batch, "bulk is batched again")
        finish(talks, "two\n")
        expect_all(running, ["one", "two"])


@lib.timed
def test_refusals():
    with lib.Grid("ab") as grid:
        status, errors = publish(grid["a"], "x\n", "news", "--to", "nowhere")
        lib.check(status == 1 and '"nowhere" is not configured' in errors, errors)
        status, errors = publish(grid["a"], "x\n", "two words")
        lib.check(status == 1 and "a channel's name" in errors, errors)
        code, _, errors = grid["a"].gmcast("sub", "nowhere/news", check_status=False)
        lib.check(code == 1 and "not a domain that this gateway knows" in errors, errors)
        grid["b"].stop()
        code, _, errors = grid["b"].gmcast("sub", "news", check_status=False)
        lib.check(code == 1 and "is gatewayd running?" in errors, errors)


if __name__ == "__main__":
    lib.main(globals())
