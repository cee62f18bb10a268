from tests.bench.__main__ import merged


def test_new_figures_replace_all_older_ones_about_the_same() -> None:
    before = {"scan.1000.p50_ms": 1.0, "scan.1000.peer.old.ms": 2.0, "scan.10000.p50_ms": 3.0, "cold.python_ms": 4.0}

    after = merged(before, {"scan.1000.p50_ms": 0.5})

    assert after == {"cold.python_ms": 4.0, "scan.1000.p50_ms": 0.5, "scan.10000.p50_ms": 3.0}


def test_figures_are_kept_in_order_and_short() -> None:
    after = merged({"b.x": 2.0}, {"c.x": 1 / 3, "a.x": 1.0})

    assert list(after.items()) == [("a.x", 1.0), ("b.x", 2.0), ("c.x", 0.3333)]
