import io

from harness.progress import SELDOM, Progress


class Time:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_the_time_left_follows_from_the_time_passed():
    out, time = io.StringIO(), Time()
    step = Progress(10, out, time).of(5)
    time.now = SELDOM
    step(0.5, "puts")
    assert out.getvalue() == " 25%  0:30 left  puts\n"


def test_a_log_is_not_flooded():
    out, time = io.StringIO(), Time()
    step = Progress(1, out, time).of(1)
    for _ in range(100):
        step(0.01, "puts")
    assert out.getvalue() == ""
