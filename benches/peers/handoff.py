"""Threads that wait for each other: a queue, a lock held across a sleep, a condition. handoff.py SECONDS"""
import queue
import sys
import threading
import time

end = time.monotonic() + float(sys.argv[1])
items = queue.Queue(16)
lock = threading.Lock()


def produce():
    while time.monotonic() < end:
        items.put(time.monotonic())
    items.put(None)


def consume():
    while items.get() is not None:
        pass


def hold():
    while time.monotonic() < end:
        with lock:
            time.sleep(0.0005)


threads = [threading.Thread(target=f) for f in (produce, consume, hold, hold, hold)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
